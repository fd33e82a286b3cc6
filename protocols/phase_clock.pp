# A clock with q digits. The initiator advances by one digit if the responder is ahead of it by less
# than half a cycle, or if both show the same digit and the responder is marked.
title "one-way phase clock with marked agents"
paper "after D. Angluin, J. Aspnes, D. Eisenstat: Fast computation by population protocols with a leader. Distributed Computing 21(3), 2008"

param q = 100 in 3..100000            "number of digits"

fields digit: 0..q-1, marked: bool

let ahead = (v.digit - u.digit) mod q    # of the initiator, around the cycle

start clean: floor(sqrt(n)) + 1 of {marked = true}, rest of {marked = false}

u + v when 0 < ahead < q/2 or ahead == 0 and v.marked
   -> u.digit = (u.digit + 1) mod q

observe at_zero = count(digit == 0)
observe half_way = count(digit >= q/2)

stop when all(digit >= q/2)              # half a cycle done by everybody
