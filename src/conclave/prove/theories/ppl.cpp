// P_PL: what Section 3 says of single interactions, Lemma 3, and that S is reached from every
// configuration. With t_virus = 1 it is not (`verify ppl --param t_virus=1`).
#include "conclave/prove/theories/theories.hpp"

namespace conclave::prove {

const char* const ppl_theory = R"(
(parameter t_max (>= t_max 2))
(parameter t_virus (>= t_virus 2))
(parameter t_emit (>= t_emit 1))
(domain (x) (and (<= 0 x.virus) (<= x.virus t_virus) (<= 0 x.timer_L) (<= x.timer_L t_max)
                 (<= 0 x.timer_I) (<= x.timer_I t_emit)))

(lemma "Lemma 3" "virus and timer_L propagate: both agents keep the larger value, less one"
  (step (and (>= (+ u+.virus 1) u.virus) (>= (+ u+.virus 1) v.virus)
             (>= (+ v+.virus 1) u.virus) (>= (+ v+.virus 1) v.virus)
             (>= (+ u+.timer_L 1) u.timer_L) (>= (+ u+.timer_L 1) v.timer_L)
             (>= (+ v+.timer_L 1) u.timer_L) (>= (+ v+.timer_L 1) v.timer_L))))

(lemma "lines 1-3" "a leader that has interacted has timer_L = t_max"
  (step (given (or u+.leader v+.leader))
        (and (=> u+.leader (= u+.timer_L t_max)) (=> v+.leader (= v+.timer_L t_max)))))

(lemma "line 1" "two agents that have interacted have equal timer_L"
  (step (= u+.timer_L v+.timer_L)))

(lemma "line 7" "only a shielded leader emits a virus, and only as initiator"
  (step (given (not (= u+.virus v+.virus))) (and (> u+.virus v+.virus) u+.leader u+.shield)))

(lemma "shield" "a shielded leader that initiates stays a shielded leader"
  (step (given (and u.leader u.shield)) (and u+.leader u+.shield)))

(define leading (x) (ite x.leader 1 0))
(define shielded (x) (and x.leader x.shield))
(define firm (x) (and x.leader x.shield (= x.timer_L t_max)))
(define late (x) (< (+ x.timer_L x.timer_L) t_max))
(define lateness (x) (ite (late x) 1 0))
(define virus (x) x.virus)
(define timer_L (x) x.timer_L)
(define full (x) (>= (+ x.timer_I x.timer_I) t_emit))
(lemma "convergence" "S, and with it the sets of Lemmas 14, 17, 18, is reached from everywhere"
  (hence (or (some (y) y.leader) (all (x) (not x.leader))))
  (hence (or (some (y) (shielded y)) (all (x) (not (shielded x)))))
  (hence (or (some (y) (firm y)) (all (x) (not (firm x)))))
  (hence (or (some (y) (> y.virus 0)) (all (x) (= x.virus 0))))
  (progress
    (goal (some (y) (all (x) (and y.leader (not x.leader) (not (late y)) (not (late x))
      (or (and y.shield (full y)) (and (= y.virus 0) (= x.virus 0)))))))
    (global)
    (case "a virus, and no leader has a shield"
      (some (a) (all (x) (and (> a.virus 0) (not (shielded a)) (not (shielded x)))))
      (meet a any) (rank (multiset virus)))
    (case "no virus and no leader" (all (x) (and (= x.virus 0) (not x.leader)))
      (meet any any) (rank (multiset timer_L)))
    (case "no virus, and a leader, none with a shield"
      (some (a) (all (x) (and a.leader (not a.shield) (not (shielded x))
                              (= a.virus 0) (= x.virus 0))))
      (meet a any) (rank (least a.timer_I)))
    (case "a leader with a shield that has not interacted"
      (some (a) (all (x) (and (shielded a) (not (firm a)) (not (firm x)))))
      (meet a any) (rank))
    (case "another leader"
      (some (a b) (and (firm a) b.leader))
      (meet a b) (rank (sum leading) (least (ite b.shield 1 0)) (least (ite b.shield b.timer_I 0))
                       (least (ite (or (>= a.virus 2) (>= b.virus 2)) 0 1)) (least a.timer_I)))
    (case "somebody is late" (some (a b) (and (firm a) (late b))) (meet a b) (rank (sum lateness)))
    (case "the leader may be unsafe" (some (a) (and (firm a) (not (full a))))
      (meet a any) (rank (least a.timer_I)))))
)";

}  // namespace conclave::prove
