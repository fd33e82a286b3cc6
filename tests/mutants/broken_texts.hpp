// Protocol texts that are run wrongly, each in one place.
#pragma once

#include <cstdint>

#include "conclave/base/choice.hpp"
#include "conclave/text/text_protocol.hpp"

namespace conclave::tests {

using Text8 = text::TextProtocol<std::uint8_t>;

// Takes the two agents in the wrong order.
struct SwapsRoles : Text8 {
  using Text8::Text8;
  void interact(State& u, State& v, Choice auto& choice) const { Text8::interact(v, u, choice); }
};

// Draws again until something happens: the remaining probability is not null.
struct ForgetsTheRest : Text8 {
  using Text8::Text8;
  void interact(State& u, State& v, Choice auto& choice) const {
    const State old_u = u;
    const State old_v = v;
    for (int tries = 0; tries < 100 && u == old_u && v == old_v; ++tries) {
      Text8::interact(u, v, choice);
    }
  }
};

// Hears of every interaction one too late.
struct HearsLate : Text8 {
  using Text8::Text8;
  class Tally {
   public:
    explicit Tally(const HearsLate& protocol) : now_(protocol), heard_(now_) {}
    void add(const State& state) {
      now_.add(state);
      heard_ = now_;
    }
    void replace(const State& u, const State& v, const State& new_u, const State& new_v) {
      heard_ = now_;
      now_.replace(u, v, new_u, new_v);
    }
    AgentCount leaders() const { return heard_.leaders(); }
    bool converged() const { return heard_.converged(); }
    bool hopeless() const { return heard_.hopeless(); }
    std::vector<Observation> observations() const { return heard_.observations(); }

   private:
    Text8::Tally now_, heard_;
  };
};

}  // namespace conclave::tests
