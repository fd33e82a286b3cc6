# Four states: strong opinions A and B, weak ones a and b. Strong opposites weaken each other, a
# strong opinion converts weak ones. The majority always wins; after a tie, only weak ones are left.
title "exact majority with four states"
paper "M. Draief, M. Vojnovic: Convergence speed of binary interval consensus. SIAM Journal on Control and Optimization 50(3), 2012"

states A, B, a, b

start one_ahead: n/2 + 1 of A, rest of B       "A is ahead by one or two agents"
start biased:    60% of A, rest of B           "A has 60 %"

unordered A + B -> a + b
unordered A + b -> A + a
unordered B + a -> B + b

output A = A | a
output B = B | b
computes if A > B then A else B when A != B

observe strong = count(A | B)
observe lead_of_a = count(A) - count(B)

stop when all(output == A) or all(output == B)
fail when none(A | B)
