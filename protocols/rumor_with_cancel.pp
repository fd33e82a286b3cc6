# Ignorant agents learn a rumour from spreaders. Two spreaders that meet cancel each other, and a
# spreader that meets a stifler loses interest: about 20.3 % of a large population never hear of it.
title "rumour with cancellation"
paper "D. J. Daley, D. G. Kendall: Stochastic rumours. IMA Journal of Applied Mathematics 1(1), 1965"

states ignorant, spreader, stifler

start one: 1 of spreader, rest of ignorant

unordered spreader + ignorant -> spreader + spreader
spreader + spreader -> stifler + stifler
unordered spreader + stifler -> stifler + stifler

observe never_heard = count(ignorant)
stop when none(spreader)
