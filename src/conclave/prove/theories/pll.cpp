// P_LL: Lemmas 4, 5, 11 and 15, S_PLL, and stabilization with probability 1.
#include "conclave/prove/theories/theories.hpp"

namespace conclave::prove {

const char* const pll_theory = R"(
(parameter c_max (>= c_max 1))
(parameter nonce (>= nonce 1))                     ; 2^k
(define new (x) (= x.status 0))
(define candidate (x) (= x.status 1))
(define timer (x) (= x.status 2))
(define leads (x) x.leader)
(define leading (x) (ite x.leader 1 0))

(start (x) (and (new x) x.leader (= x.epoch 1) (= x.color 0) (not x.done) (= x.variable 0)))

(range status 0 2)
(range epoch 1 3)
(range color 0 2)
; A new agent leads and has its first values, a timer never leads, a candidate that follows is done,
; and so are all candidates from epoch 2 on.
(domain (x) (and
  (>= x.variable 0)
  (=> (new x) (and x.leader (= x.epoch 1) (= x.color 0) (not x.done) (= x.variable 0)))
  (=> (timer x) (and (not x.leader) (not x.done) (< x.variable c_max)))
  (=> (candidate x) (and
    (=> (not x.leader) x.done) (=> (>= x.epoch 2) x.done)
    (=> (= x.epoch 1) (<= x.variable c_max))
    (=> (= x.epoch 2) (and (>= x.variable 1) (< x.variable (+ nonce nonce))))
    (=> (= x.epoch 3) (<= x.variable c_max))))))

(lemma "final" "statuses are final, epochs never fall, and no follower becomes a leader"
  (step (and (=> (not (new u)) (= u.status u+.status)) (=> (not (new v)) (= v.status v+.status))))
  (step (and (<= u.epoch u+.epoch) (<= v.epoch v+.epoch)))
  (step (and (=> u+.leader u.leader) (=> v+.leader v.leader))))

(lemma "Lemma 4" "after the first statuses, V_B is never empty"
  (invariant (or (all (x) (new x)) (some (y) (timer y))))
  (hence (or (all (x) (new x)) (some (y) (timer y)))))

(define leading_candidate (x) (and (candidate x) x.leader))
(define following_candidate (x) (and (candidate x) (not x.leader)))
(lemma "Lemma 5" "once all agents have their status, |V_A| >= n/2 and |V_F| >= n/2"
  (balance (classes new leading_candidate following_candidate timer)
    (falls 0 (- 1) (- 1) 1)                        ; B - A
    (falls 0 1 0 (- 1))                            ; leading A - B
    (then (=> (= N_new 0)
      (and (>= (+ N_leading_candidate N_following_candidate N_leading_candidate
                  N_following_candidate) n)
           (>= (+ N_following_candidate N_timer N_following_candidate N_timer) n))))))

; The paper's argument, that the largest value always belongs to a leader, for agents of different
; epochs: one in a later epoch is harmless while it has that epoch's first value, since whoever
; meets it begins there too.
(define exposes (x) (and (candidate x)
  (or (and (= x.epoch 1) x.done)
      (and (= x.epoch 2) (or (not x.leader) (>= x.variable nonce)))
      (= x.epoch 3))))
(define threat (x y) (and (exposes x)
  (or (and (= x.epoch y.epoch) (> x.variable y.variable))
      (and (> x.epoch y.epoch) (> x.variable (ite (= x.epoch 2) 1 0))))))
(lemma "Lemma 11" "there is always a leader"
  (invariant (or (all (x) (new x))
                 (some (y) (all (x) (and (candidate y) y.leader (not (threat x y)))))))
  (hence (some (y) y.leader)))

(lemma "S_PLL" "with one leader left, outputs never change again"
  (closed (some (y) (all (x) (and y.leader (not x.leader)))))
  (step (given (and u.leader (not v.leader) u+.leader)) (not v+.leader)))

(define epochs_left (x) (- 3 x.epoch))
(lemma "stabilization" "one leader is reached with probability 1"
  (progress (goal (some (y) (all (x) (and y.leader (not x.leader)))))
    (global (sum leading) (sum epochs_left))
    (case "two leaders in epoch 3"
      (some (a b) (and a.leader b.leader (= a.epoch 3) (= b.epoch 3))) (meet a b) (rank))
    (case "epoch 3 spreads" (some (a b) (and (= a.epoch 3) (< b.epoch 3))) (meet a b) (rank))
    (case "a timer counts on" (some (a b) (and (timer a) (< a.epoch 3) (< b.epoch 3))) (meet a b)
      (rank (least (- c_max a.variable))))
    (case "nobody has a status" (some (a b) (and (new a) (new b))) (meet a b) (rank))))

(lemma "Lemma 15" "from epoch 3 on, two leaders that interact become one"
  (step (given (and u.leader v.leader (= u.epoch 3) (= v.epoch 3)))
        (not (and u+.leader v+.leader))))
)";

}  // namespace conclave::prove
