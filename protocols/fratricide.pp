# Two leaders meet, the responder resigns. From n leaders, (n-1)^2 interactions in expectation.
title "two leaders meet, one resigns"
paper "D. Angluin, J. Aspnes, Z. Diamadi, M. J. Fischer, R. Peralta: Computation in networks of passively mobile finite-state sensors. Distributed Computing 18(4), 2006"

states L, F                  # leader, follower
leader = L

start clean: all of L              "every agent is a leader"

L + L -> L + F

stop when count(leader) == 1
