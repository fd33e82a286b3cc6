# Agents climb levels; few reach the top one and form a junta. The junta pushes a clock of m digits:
# an initiator moves up to the digit of a responder that is ahead by less than half a cycle, and a
# member of the junta one digit further.
title "phase clock driven by a junta"
paper "after L. Gasieniec, G. Stachowiak: Enhanced phase clocks, population protocols, and fast space optimal leader election. Journal of the ACM 68(1), 2021"

param m = 16 in 4..1000 "digits of the clock"
param top = max(1, floor(lg(lg(n)))) in 1..20 "level of the junta"

fields level: 0..top, climbs: bool, digit: 0..m-1, wrapped: bool
start clean: all of {climbs = true}

step join_junta {
   if u.climbs and u.level == 0 and v.level == 0 { u.level = 1, v.climbs = false }
   else if u.climbs and v.level >= u.level { u.level = min(u.level + 1, top) }
   else { u.climbs = false }
}
step tick {
   let ahead = (v.digit + (if u.level == top then 1 else 0) - u.digit) mod m
   u.wrapped = 0 < ahead < m/2 and u.digit + ahead >= m       # a round is over
   if 0 < ahead < m/2 { u.digit = (u.digit + ahead) mod m }
}
u + v do { join_junta  tick }

observe junta = count(level == top)
stop when all(digit >= m/2)
fail when none(level == top) and none(climbs)
