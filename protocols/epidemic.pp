# A rumour spreads one way: whoever initiates and meets somebody who knows it, learns it.
title "one-way epidemic"
paper "D. Angluin, J. Aspnes, D. Eisenstat: Fast computation by population protocols with a leader. Distributed Computing 21(3), 2008"

states S, I                  # susceptible, informed

start one:  1 of I, rest of S      "one agent knows it"
start half: n/2 of I, rest of S    "half of them know it"

S + I -> I + I

observe informed = count(I)
stop when all(I)
