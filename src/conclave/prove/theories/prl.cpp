// P_RL on every ring: Lemmas 1 to 8 from what two neighbours l = u and r = v do.
//
// "The bullet at i is peaceful" speaks of all agents from i to the nearest leader on its left. For
// a leader it is a condition `base`, for a follower the same of its left neighbour and a condition
// `follow`. An interaction changes u and v alone. Unknown beside their states, with any value, are:
// whether the predicate holds of u's left neighbour (`left_peaceful`, `left_modest`, 0 or 1), and
// how far the leaders are (`steps`: from u's leader on its left to u; `right`: from v to the next
// leader on its right). If the predicate is kept at v, it is kept everywhere: every path that
// is longer than u alone goes through v or avoids both, and u is left without a bullet
// (docs/explanation/proofs.md).
#include "conclave/prove/theories/theories.hpp"

namespace conclave::prove {

const char* const prl_theory = R"(
(parameter N (>= N 2))
(ghost left_peaceful (and (<= 0 left_peaceful) (<= left_peaceful 1)))
(ghost left_modest (and (<= 0 left_modest) (<= left_modest 1)))
(ghost steps (and (<= 0 steps) (< steps N)))
(ghost right (and (<= 0 right) (< right N)))
(range bullet 0 2)
(domain (x) (and (<= 0 x.distL) (<= x.distL N)))

(define height (x) (ite x.leader 0 x.distL))
(define carries (x) (not (= x.bullet 0)))
(define live (x) (= x.bullet 2))
(define created (x y) (and (not x.leader) y.leader))
(define killed (x y) (and x.leader (not y.leader)))
(define fires (x) (and x.leader x.signal))

(define arrives (x y) (and (not x.leader) (not y.leader) (not (carries x)) (carries y)))
(lemma "Lemma 1" "every bullet disappears before it moves N times"
  (step (given (arrives v v+)) (< v+.distL N))
  (step (given (and (arrives v v+) (carries u) (not (fires u))))
        (>= v+.distL (+ (height u) 1)))
  (step (given (and (carries v) (not (created v v+)) (not (fires v))))
        (>= (height v+) (height v))))

(define peaceful_base (x) (and x.shield (not x.signal)))
(define u_peaceful (x) (ite x.leader (peaceful_base x) (and (= left_peaceful 1) (not x.signal))))
(define v_peaceful (x y) (ite y.leader (peaceful_base y) (and (u_peaceful x) (not y.signal))))
(lemma "Lemma 2" "C_PB is closed"
  (step (= u.leader u+.leader))
  (step (given (v_peaceful u v)) (v_peaceful u+ v+))
  (step (not (live u+)))
  (step (given (and (live v+) (=> (live u) (u_peaceful u)) (=> (live v) (v_peaceful u v))))
        (v_peaceful u+ v+))
  ; whoever is killed is not the leader of its killer, which stays
  (step (given (and (killed v v+) (=> (live u) (u_peaceful u))))
        (or u.leader (and (u_peaceful u) (not (peaceful_base v))))))

(define modest_base (x) (and (peaceful_base x) (<= x.distL 0)))
(define u_modest (x) (ite x.leader (modest_base x)
  (and (= left_modest 1) (not x.signal) (>= steps 1) (<= x.distL steps))))
(define steps_to_u (x) (ite x.leader 0 steps))
(define v_modest (x y) (ite y.leader (modest_base y)
  (and (u_modest x) (not y.signal) (<= y.distL (+ (steps_to_u x) 1)))))
; A ring of n <= N agents: a follower is at most n - 1 steps behind its leader.
(define on_ring (x y) (or y.leader (< (+ (steps_to_u x) 1) N)))
(lemma "Lemma 3" "a modest bullet never becomes non-modest"
  (step (given (and (v_modest u v) (on_ring u v))) (and (v_modest u+ v+) (= v.leader v+.leader)))
  (step (given (and (live u) (u_modest u) (live v+) (not (carries v)) (on_ring u v)))
        (v_modest u+ v+)))

(lemma "Lemma 4" "a newly-fired live bullet is modest"
  (step (given (created v v+)) (v_modest u+ v+))
  (step (given (and (fires u) (arrives v v+) (live v+))) (v_modest u+ v+)))

; d_R of v if it follows is `right`, of u one more, or 1 if v leads.
(define far (y) (ite y.leader 0 right))
(define u_secure (x y) (ite x.leader (= x.distL 0) (<= x.distL (- N (+ (far y) 1)))))
(define v_secure (y) (ite y.leader (= y.distL 0) (<= y.distL (- N right))))
(lemma "Lemma 5" "an agent becomes insecure only by an insecure left neighbour"
  (step (given (and (u_secure u v) (not (killed v v+)))) (u_secure u+ v+))
  (step (given (and (u_secure u v) (v_secure v) (=> (not v.leader) (>= right 1)))) (v_secure v+))
  ; v is killed by a modest bullet: whoever is on its path stays secure, for steps + d_R <= n <= N,
  ; where d_R is 1 more than the distance from v to the next leader
  (step (given (and (killed v v+) (=> (live u) (u_modest u)) (<= (+ (steps_to_u u) right 1) N)))
        (u_secure u+ v+)))

(lemma "Lemma 6" "C_NI is closed"
  (step (given (and (u_secure u v) (v_secure v) (>= (far v) (ite v.leader 0 1))))
        (not (created v v+)))
  (step (given (and (live v+) (=> (live u) (u_modest u)) (=> (live v) (v_modest u v))
                    (on_ring u v)))
        (v_modest u+ v+)))

(lemma "Lemma 7" "no leader is created in C_NI"
  (step (given (and (u_secure u v) (v_secure v) (=> (not v.leader) (>= right 1))))
        (not (created v v+))))

; With one leader, it is the leader of every bullet.
(lemma "Lemma 8" "S_RL is closed and safe: its one leader is not killed"
  (step (given (and v.leader (not u.leader) (=> (live u) (and (u_peaceful u) (peaceful_base v)))))
        v+.leader)
  (step (given (and (u_secure u v) (v_secure v) (=> (not v.leader) (>= right 1))))
        (not (created v v+))))
)";

}  // namespace conclave::prove
