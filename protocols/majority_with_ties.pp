# Strong opinions A and B cancel into a strong tie T, which gives way to any strong opinion left.
# Strong agents convert weak ones, so that all come to know who has the majority, or that nobody has.
title "exact majority with ties, six states"
paper "after M. Draief, M. Vojnovic: Convergence speed of binary interval consensus. SIAM Journal on Control and Optimization 50(3), 2012; the tie is an addition"

states A, B, T, a, b, t

start tied:  floor(n/2) of A, floor(n/2) of B, rest of t      "equally many, one more undecided if n is odd"
start ahead: floor(n/2) + 1 of A, rest of B
start few:   2 of A, 1 of B, rest of t

unordered A + B -> T + t
unordered A + T -> A + a
unordered B + T -> B + b
T + T -> T + t
unordered A + b|t -> A + a
unordered B + a|t -> B + b
unordered T + a|b -> T + t

output A = A | a
output B = B | b
output tie = T | t
computes if A > B then A else if B > A then B else tie

observe strong = count(A | B | T)
observe lead_of_a = sum(if A then 1 else if B then -1 else 0)
stop when silent
