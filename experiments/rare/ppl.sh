#!/bin/sh
# How long ppl holds: prints the rows of experiments/rare/ppl.jsonl, in their order.
#   experiments/rare/ppl.sh build/release/conclave > ppl.jsonl
# Some minutes on two cores, most of them for n >= 512.
set -eu
conclave=${1:?the binary}
rare() { "$conclave" rare ppl --quiet --format jsonl "$@"; }

# The paper's constants: suicides, which dominate, by spine sampling.
for n in 8 16 20 32 54 64 128 256 512 1024; do
  rare --n "$n" --way suicide --importance spine --particles 200
done
for c in 2 3 4; do
  for n in 8 16 32 64; do
    rare --n "$n" --param c="$c" --way suicide --importance spine --particles 200
  done
done
for c in 2 3 4; do
  for n in 128 256 512 1024; do
    rare --n "$n" --param c="$c" --way suicide --importance spine --particles 10 --repetitions 5
  done
done

# Timers that are shorter by a factor of 60 (t_virus = ceil(ln N)): both ways, two functions each.
rare --n 8 --param t_virus=3 --particles 3000
rare --n 16 --param t_virus=3 --particles 3000

# Timeouts over t_max; the virus is out of the way.
for n in 8 16 32; do
  for t_max in 10 20 40; do
    rare --n "$n" --param t_max="$t_max" --param t_virus=2 --param t_emit=40 --way timeout
  done
done
