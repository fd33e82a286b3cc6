// timers, reading `first`: from any configuration.
#include "conclave/prove/theories/theories.hpp"

namespace conclave::prove {

const char* const timers_theory = R"(
(parameter t_max (>= t_max 1))
(define leading (x) (ite x.leader 1 0))
(define time (x) x.timer)
(define late (x) (< (+ x.timer x.timer) t_max))
(define lateness (x) (ite (late x) 1 0))
(domain (x) (and (>= x.timer 0) (<= x.timer t_max)))

(lemma "timers" "two agents that have interacted have equal timers"
  (step (= u+.timer v+.timer)))

(lemma "leaders" "of two agents one of which led, one leads, and the timers are full"
  (step (given (or u.leader v.leader))
        (and (not (= u+.leader v+.leader)) (= u+.timer t_max) (= v+.timer t_max))))

(lemma "convergence" "S is reached from every configuration with probability 1"
  (hence (or (some (y) y.leader) (all (x) (not x.leader))))
  (progress (goal (some (y) (all (x) (and y.leader (not x.leader) (not (late y)) (not (late x))))))
    (global)
    (case "no leader" (all (x) (not x.leader))
      (meet any any) (rank (multiset time)))
    (case "two leaders" (some (a b) (and a.leader b.leader)) (meet a b) (rank (sum leading)))
    (case "one leader, and one agent is late" (some (a b) (and a.leader (or (late a) (late b))))
      (meet a b) (rank (sum lateness)))))
)";

}  // namespace conclave::prove
