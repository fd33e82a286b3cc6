fields a: -50..49, b: 0..99, c: {red, green}, d: 0..99, on: bool
leader = on and a > 0
output red = c == red
output rest = true
start s: n/2 of {a = 3, on = true}, rest of {d = 7}
start r: randomly
u + v when u.a - 2 * v.b < min(u.d, 5) or u.c == v.c and not v.on -> u.a = abs(u.a) mod 7, v.d = floor(v.d / 3)
unordered *{leader} + * -> v + u
u + v do {
   let gap = max(u.b, v.b) - 1
   if 0 <= gap < 10/3 and u.output == red { u.b = gap, v.b = u.b } else { each { d = if on then d else 99 - d } }
   choose k in 0..1
   u.a = k
}
observe low = min(a + b)
stop when count(leader) == 1 and mean(d) > 1/2
