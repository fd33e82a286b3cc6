// Several processes that mpirun has started, on one machine or many, and a sweep they share. Rank 0
// owns the file of results and hands out work; every rank, the owner included, runs one trial at a
// time, or with engine gpu many on a device of its own. A row never depends on who ran it.
#pragma once

#include <atomic>

#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/sweep.hpp"

namespace conclave::mpi {

class Ranks {
 public:
  Ranks();   // throws Error if it cannot
  ~Ranks();  // an owner that has not served sends the others home
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  bool is_owner() const { return rank_ == 0; }
  // All of them, the owner included.
  unsigned count() const { return static_cast<unsigned>(count_); }

  // For the owner: works, and lets the others work, until the sweep is over or `stop` becomes true;
  // commits what is finished. Rethrows what went wrong anywhere.
  void serve(const sweep::Plan& plan, sweep::Sweep& sweep, const std::atomic<bool>& stop);

  // For the others: runs what the owner hands out, until it says that there is no more.
  void work(const std::atomic<bool>& stop) const;

 private:
  void answer(sweep::Sweep& sweep, const std::atomic<bool>& stop);

  int rank_ = 0;
  int count_ = 1;
  int rank_on_node_ = 0;  // which of its devices is this rank's, modulo how many there are
  bool has_served_ = false;
  int at_work_ = 0;  // of the others: not yet sent home
};

}  // namespace conclave::mpi
