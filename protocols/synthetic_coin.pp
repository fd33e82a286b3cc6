# Everybody turns a coin over at every meeting. Soon about half of the coins show heads, and the coin
# of whom one meets is as good as a toss: import this text, call its step `flip`, look at v.coin.
title "synthetic coin"
paper "D. Alistarh, J. Aspnes, D. Eisenstat, R. Gelashvili, R. L. Rivest: Time-space trade-offs in population protocols. SODA 2017"

fields coin: bool

start tails: all of {coin = false}

step flip {
   each { coin = not coin }
}
u + v do { flip }

observe heads = count(coin)
stop when abs(2 * count(coin) - n) <= 2      # the number of heads stays even
