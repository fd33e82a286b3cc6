# How many agents started with a one, modulo m? Active agents add up their values two by two; in the
# end one is left, and the others know its value from meeting it.
title "counting modulo m"
paper "D. Angluin, J. Aspnes, Z. Diamadi, M. J. Fischer, R. Peralta: Computation in networks of passively mobile finite-state sensors. Distributed Computing 18(4), 2006"

param m = 3 in 2..1000 "modulus"
param ones = floor(n/2) in 0..n "agents that start with a one"

fields active: bool, value: 0..m-1
leader = active
start ones: ones of {active = true, value = 1}, rest of {active = true}

u + v do {
   if u.active and v.active {
      u.value = (u.value + v.value) mod m
      v.active = false
   }
   if u.active { v.value = u.value } else if v.active { u.value = v.value }
}

observe total = sum(if active then value else 0)
always any(active)
always sum(if active then value else 0) mod m == ones mod m
stop when count(active) == 1 and all(value == ones mod m)
