# Three states: opinions A and B, and undecided. An opinion that meets the other one makes the
# responder undecided; an undecided responder takes over the initiator's opinion.
title "approximate majority with three states"
paper "D. Angluin, J. Aspnes, D. Eisenstat: A simple population protocol for fast robust approximate majority. Distributed Computing 21(2), 2008"

states A, B, U

start biased: n/2 + n/1000 of A, rest of B             "A is a thousandth of n ahead of half"
start close:  n/2 + floor(sqrt(n * ln(n))) of A, rest of B
start tied:   n/2 of A, rest of B

A + B -> A + U
B + A -> B + U
A + U -> A + A
B + U -> B + B

output A = A
output B = B

observe opinion_a = count(A)
observe opinion_b = count(B)
observe undecided = count(U)
observe a_wins    = all(output == A)

stop when all(output == A) or all(output == B)
fail when none(A | B)
always any(A | B)                                      # so it never fails
