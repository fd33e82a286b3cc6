import "coin.pp"
import "sub/clock.pp" as slow with q as hours
start s: all of {coin = true}
u + v do { flip  slow  unordered * + *{coin} -> u.slow_digit = slow_after(v.slow_digit), v.coin = false }
stop when silent
#:module "coin.pp" 57
fields coin: bool
step flip { each { coin = not coin } }
#:module "sub/clock.pp" 133
import "base.pp"
fields digit: 0..q-1
fun after(digit) = (digit + 1) mod q
u + v when u.digit == v.digit -> u.digit = after(u.digit)
#:module "sub/base.pp" 12
param q = 7
