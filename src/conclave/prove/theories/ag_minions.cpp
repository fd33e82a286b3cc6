// ag-minions, with either rule for ties.
#include "conclave/prove/theories/theories.hpp"

namespace conclave::prove {

const char* const ag_minions_theory = R"(
(parameter m (>= m 1))
(define leading (x) (ite x.leader 1 0))
(start (x) (and x.leader (= x.value 1)))
(domain (x) (and (>= x.value 1) (<= x.value (ite x.leader (+ m 1) m))))

(lemma "leaders" "no minion becomes a leader again"
  (step (and (=> u+.leader u.leader) (=> v+.leader v.leader))))

(lemma "invariant" "some leader has a larger value than every minion"
  (invariant (some (y) (all (x) (and y.leader (=> (not x.leader) (< x.value y.value))))))
  (hence (some (y) y.leader)))

(lemma "safety" "with one leader left, outputs never change again"
  (closed (some (y) (all (x) (and y.leader (not x.leader))))))

(lemma "stabilization" "one leader is reached with probability 1"
  (progress (goal (some (y) (all (x) (and y.leader (not x.leader)))))
    (global (sum leading))
    (case "two leaders" (some (a b) (and a.leader b.leader)) (meet a b) (rank))))
)";

}  // namespace conclave::prove
