// Joins protocol files with multilevel splitting: the event is the end of a trial, when the stop
// condition or the fail condition of the file comes true.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/catalog/analyses.hpp"
#include "conclave/catalog/rare_request.hpp"
#include "conclave/catalog/resolve.hpp"
#include "conclave/catalog/text_entry.hpp"
#include "conclave/rare/make_prepared.hpp"
#include "conclave/text/text_protocol.hpp"

namespace conclave {

using RareText = text::TextProtocol<std::uint16_t>;

template <>
struct rare::FormulaFields<RareText> {
  static std::vector<text::FormulaField> fields(const RareText& protocol) {
    std::vector<text::FormulaField> all;
    for (const text::Field& field : protocol.compiled().space().fields()) {
      all.push_back({field.name, field.values});
    }
    return all;
  }
  static void read(const RareText& protocol, const RareText::State& state,
                   std::vector<double>& values) {
    const text::StateSpace& space = protocol.compiled().space();
    values.resize(space.fields().size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<double>(space.value(i, state.index));
    }
  }
};

namespace catalog {
namespace {

// Follows the file's own conditions.
class TextFailures {
 public:
  using State = RareText::State;
  explicit TextFailures(const RareText& protocol) : protocol_(protocol), tally_(protocol_) {}

  void load(std::span<const State> agents) {
    tally_ = RareText::Tally(protocol_);
    for (const State& each : agents) tally_.add(each);
  }
  std::optional<std::size_t> way(const State& u, const State& v, const State& new_u,
                                 const State& new_v) {
    tally_.replace(u, v, new_u, new_v);
    if (tally_.converged() || tally_.hopeless()) return 0;
    return std::nullopt;
  }
  bool is_over() const { return tally_.converged() || tally_.hopeless(); }
  // Which counts of the conditions a state adds to; every state has its own where they look at
  // more.
  std::uint64_t label(const State& state) const {
    return tally_.is_patient() ? tally_.ConditionTally::words()[state.index] : state.index;
  }

 private:
  RareText protocol_;
  RareText::Tally tally_;
};

class TextRarity {
 public:
  explicit TextRarity(const RareText& protocol)
      : protocol_(protocol), ways_{{{"stop", meaning_of(protocol.compiled().text().document())}}} {}
  std::span<const RareWay> ways() const { return ways_; }
  std::span<const RareFunction> functions() const { return {}; }
  TextFailures failures() const { return TextFailures(protocol_); }
  template <class Visit>
  std::unique_ptr<rare::Runner> with_function(std::size_t, Visit&&) const {
    return nullptr;  // there are none
  }

 private:
  static std::string_view meaning_of(const text::Document& document) {
    return document.fail ? "the stop or the fail condition of the file comes true"
                         : std::string_view(document.stop_text);
  }

  RareText protocol_;
  std::array<RareWay, 1> ways_;  // its views look into the compiled file
};

void check_start(const RareText& protocol, std::size_t start, AgentCount n) {
  TextFailures failures(protocol);
  Stream stream(StreamName{.purpose = Purpose::start});
  std::vector<RareText::State> agents;
  for (AgentCount i = 0; i < n; ++i) agents.push_back(protocol.initial(start, i, stream));
  failures.load(agents);
  if (!failures.is_over()) return;
  throw Error(fmt::format(
      "{} stops in its initial configuration {} already, so that there is nothing to wait for",
      protocol.compiled().text().name(), protocol.compiled().text().starts()[start].name));
}

}  // namespace

std::unique_ptr<rare::Prepared> rare_text(const RareRequest& request,
                                          const std::shared_ptr<const text::Compiled>& compiled) {
  if (!compiled->transitions().has_table()) {
    throw Error(fmt::format("{} has {} states; at most {} are allowed for rare events",
                            compiled->text().name(), compiled->space().size(),
                            text::Transitions::most_tabled));
  }
  ProtocolInfo info{};
  info.name = compiled->text().name();
  const auto& starts = compiled->text().starts();
  const std::size_t start = start_index(info, starts, request.run.start);
  const RareText protocol(*compiled);
  const AgentCount n = rare::checked_population(compiled->agents());
  check_start(protocol, start, n);
  check_rare_request(info.name, request, false);
  rare::Subject subject =
      rare_subject(request, n, info.name, starts[start].name, text_parameters(*compiled));
  subject.source_hash = compiled->text().hash();
  const rare::FailingProtocol<RareText, TextRarity> failing{protocol, start, TextRarity(protocol)};
  return rare::make_prepared(failing, request.choice, subject, compiled);
}

}  // namespace catalog
}  // namespace conclave
