param p = 0.3 in 0..1
states L, F
fields x: 0..9, on: bool
start s: all of L{x = 2}
fun far(a, b) = (b - a) mod 10
step turn { x = if x == 9 then 0 else x + 1 }
u + v when far(u.x, v.x) < 7/2 do {
   let k = u.x
   choose d in 1..3
   each { turn; on = not on }
   with probability p { u.x = k, v.x = d } else if k == d { L + L -> L + F with 1/2 or F + L with 1/4 }
}
observe m = mean(x)
always all(x < 10) and sum(x) <= 9 * n or silent
invariant not any(F and on) or n > 2
eventually min(x) == max(x)
stop when max(x) == min(x) or sum(if L then x else 0) > 50 or time >= 10
