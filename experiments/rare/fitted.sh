#!/bin/sh
# How long ppl holds with timers that fit n: prints the rows of experiments/rare/fitted.jsonl, in
# their order; between them timers with the same t_max, which is what a timeout of ppl is.
#   experiments/rare/fitted.sh build/release/conclave > fitted.jsonl
# Some minutes on one core, most of them for the last size.
set -eu
conclave=${1:?the binary}
rare() { "$conclave" rare "$@" --quiet --format jsonl; }

while read -r n lg particles; do
  t_virus=$((2 * lg))
  t_max=$((t_virus + 8))
  rare ppl --n "$n" --param t_virus=$t_virus --param t_emit=$((5 * t_virus)) --param t_max=$t_max \
    --particles "$particles"
  [ "$n" -gt 32 ] || rare timers --n "$n" --param t_max=$t_max --particles "$particles"
done <<END
16 4 1000
32 5 1000
64 6 3000
128 7 4000
END
