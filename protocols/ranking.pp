# Two agents of the same rank meet: the responder takes the next rank, around the circle. From every
# configuration all ranks become different, and the agent of rank 0 is the leader.
title "self-stabilizing ranking with n states"
paper "S. Cai, T. Izumi, K. Wada: How to prove impossibility under global fairness: on space complexity of self-stabilizing leader election on a population protocol model. Theory of Computing Systems 50(3), 2012"

fields rank: 0..n-1
leader = rank == 0

start random: randomly
start same: all of {rank = 0}

u + v when u.rank == v.rank -> v.rank = (v.rank + 1) mod n

observe largest = max(rank)
stop when silent
