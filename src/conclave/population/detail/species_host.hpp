// The common part of engines that know their agents only by how many are in which state: the
// species with their tally, the watched event, and the streams of transitions and faults. It is to
// them what TallyHost is to engines that know the protocol's type.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "conclave/base/check.hpp"
#include "conclave/base/random.hpp"
#include "conclave/model/fault.hpp"
#include "conclave/model/population.hpp"
#include "conclave/population/detail/species.hpp"
#include "conclave/population/detail/tally_host.hpp"

namespace conclave::population::detail {

class SpeciesHost {
 public:
  static constexpr AgentCount most_agents = AgentCount{1} << 62;

  SpeciesHost& operator=(const SpeciesHost&) = delete;

  AgentCount size() const { return n_; }
  AgentCount leaders() const { return tally().leaders(); }
  bool converged() const { return tally().converged(); }

  // The event that ends `advance` from now on.
  void watch(Watch what) {
    watch_ = what;
    look_at_tally();
  }

  bool measures_holding() const { return species_->measures_holding(); }
  bool violated() const { return tally().violated(); }
  // Called at convergence: from now on, the trial ends at the first violation.
  void hold() {
    species_->tally().hold();
    SpeciesHost::watch(Watch::violation);
  }

 protected:
  // The n agents are those that the species were built with.
  SpeciesHost(std::unique_ptr<Species> species, AgentCount n, const StreamName& name)
      : n_(n),
        species_(std::move(species)),
        choice_(name.with(Purpose::transition)),
        fault_choice_(name.with(Purpose::fault)) {
    CONCLAVE_CHECK(n >= 2 && n <= most_agents);
    look_at_tally();
  }
  SpeciesHost(const SpeciesHost& other)
      : n_(other.n_),
        species_(other.species_->copy()),
        choice_(other.choice_),
        fault_choice_(other.fault_choice_),
        watch_(other.watch_),
        standing_(other.standing_) {}
  ~SpeciesHost() = default;

  const SpeciesTally& tally() const { return species_->tally(); }
  // Whether the watched event has happened, and the last milestone: looked at anew after each
  // change of the tally that may have brought them about.
  bool is_over() const { return standing_.is_over; }
  std::uint8_t milestone() const { return standing_.milestone; }
  void look_at_tally() { standing_ = tally().standing(watch_); }
  // Notifies the tally of two agents that have met.
  void notify_tally(SpeciesId u, SpeciesId v, SpeciesId new_u, SpeciesId new_v) {
    standing_ = species_->tally().replace(u, v, new_u, new_v, watch_);
  }

  AgentCount candidates(const Fault& fault) const {
    return detail::candidates(fault, n_, tally().leaders());
  }

  AgentCount n_;
  std::unique_ptr<Species> species_;
  Stream choice_;
  Stream fault_choice_;
  Watch watch_ = Watch::convergence;

 private:
  TallyStanding standing_;
};

}  // namespace conclave::population::detail
