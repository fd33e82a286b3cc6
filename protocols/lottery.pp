# Every agent tosses a coin until it shows tails and remembers how many heads it had. The largest
# number spreads; whoever hears of a larger one resigns, and of two with the same one resigns.
title "lottery election"
paper "after D. Alistarh, R. Gelashvili: Polylogarithmic-time leader election in population protocols. ICALP 2015"

param top = ceil(2 * lg(n)) in 1..100 "largest number of heads that is told apart"

fields tosses: bool, heads: 0..top, lead: bool
leader = lead
start clean: all of {tosses = true, lead = true}

step toss {
   if tosses {
      with probability 1/2 { heads = min(heads + 1, top) } else { tosses = false }
   }
}
step compare {
   if u.heads < v.heads { u.heads = v.heads, u.lead = false }
   else if v.heads < u.heads { v.heads = u.heads, v.lead = false }
   else if u.lead and v.lead { v.lead = false }
}
u + v do {
   each { toss }
   if not u.tosses and not v.tosses { compare }
}

always any(leader)                            # one with the most heads
observe tossing = count(tosses)
observe most_heads = max(heads)
