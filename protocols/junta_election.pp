# In every round of a clock that a junta drives, the leaders append a bit to their numbers, taken from
# a synthetic coin; the largest number spreads, and who hears of a larger one resigns. A leader always
# has the largest number there has ever been, so the last one stays. Levels, junta, clock and rounds of
# coins are the architecture of Gasieniec and Stachowiak; the numbers are our own completion of it.
title "election with a phase clock driven by a junta"
paper "after L. Gasieniec, G. Stachowiak: Enhanced phase clocks, population protocols, and fast space optimal leader election. Journal of the ACM 68(1), 2021"
import "synthetic_coin.pp"
import "junta_clock.pp" as clock

param bits = 8 in 1..20 "rounds of the tournament"
fields round: 0..bits, number: 0..2^bits-1, lead: bool
leader = lead
start clean: all of {clock_climbs = true, lead = true}

fun key(rounds, bits_so_far) = rounds * 2^bits + bits_so_far

u + v do {
   flip
   clock
   if u.clock_wrapped and u.lead and u.round < bits {
      u.number = (2 * u.number + (if v.coin then 1 else 0)) mod 2^bits, u.round = u.round + 1
   }
   let gap = key(u.round, u.number) - key(v.round, v.number)
   if gap < 0 { u.round = v.round, u.number = v.number, u.lead = false }
   else if gap > 0 { v.round = u.round, v.number = u.number, v.lead = false }
   else if u.lead and v.lead { v.lead = false }
}

observe largest_round = max(round)
