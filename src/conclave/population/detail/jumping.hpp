// The common part of engines that jump: the time, and the next interaction that changes something.
// The number of null interactions before it has a geometric law, so that they are counted without
// being simulated; where the budget ends in between, the rest of the wait is still to come.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "conclave/base/geometric.hpp"
#include "conclave/base/interactions.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/population.hpp"
#include "conclave/population/agent_table.hpp"

namespace conclave::population::detail {

// Host has the tally and the watched event: a TallyHost or SpeciesHost. Engine offers `is_silent`
// (nothing can change any more), `react` (the interaction that is due), `draw_next_event`, which
// ends in `next_event_after` unless all is silent, `next_agents`, who meet in it, if that is known,
// and `work_per_event`, 1 for a few hundred nanoseconds.
template <class Engine, class Host>
class Jumping : public Host {
 public:
  // Simulates up to `budget` interactions, fewer only if the watched event happens, or after about
  // this much work.
  Interactions advance(Interactions budget, std::uint64_t most_work = UINT64_MAX) {
    const Interactions before = now_;
    const Interactions end = later(budget);
    for (std::uint64_t work = 0; !has_stopped() && now_ < end && work < most_work;
         work += engine().work_per_event()) {
      if (next_event_ > end) {
        now_ = end;
        break;
      }
      now_ = next_event_;
      ++effective_;
      engine().react();
      engine().draw_next_event();
    }
    return now_ - before;
  }

  Interactions now() const { return now_; }
  // Also where nothing can change any more. Whoever watches nothing goes on in silence.
  bool hopeless() const {
    return this->tally().hopeless() || (engine().is_silent() && !this->tally().converged());
  }
  bool has_stopped() const {
    return this->is_over() || (engine().is_silent() && this->watch_ == Watch::convergence);
  }
  // How many interactions were carried out, not jumped over.
  std::uint64_t effective_interactions() const { return effective_; }
  NextMeeting next_meeting() const { return {next_event_, engine().next_agents()}; }

 protected:
  template <class Subject>
  Jumping(Subject&& subject, AgentCount n, const StreamName& name)
      : Host(std::forward<Subject>(subject), n, name), schedule_(name.with(Purpose::schedule)) {}

  void next_event_after(const Geometric& wait) { next_event_ = later(wait(schedule_)); }
  void no_next_event() { next_event_ = Interactions::max(); }
  // Whether this comes before the next event; then it is the next event.
  bool comes_first(Interactions time) {
    const bool is_first = time < next_event_;
    if (is_first) next_event_ = time;
    return is_first;
  }

  Stream schedule_;

 private:
  Engine& engine() { return static_cast<Engine&>(*this); }
  const Engine& engine() const { return static_cast<const Engine&>(*this); }

  // The time this many interactions from now, or the largest count.
  Interactions later(Interactions interactions) const {
    return interactions < Interactions::max() - now_ ? now_ + interactions : Interactions::max();
  }

  Interactions now_;
  Interactions next_event_;
  std::uint64_t effective_ = 0;
};

}  // namespace conclave::population::detail
