#include "conclave/chain/explicit_files.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/chain/detail/counting_sort.hpp"
#include "conclave/chain/detail/text_input.hpp"

namespace conclave::chain {
namespace {

using detail::MappedFile;
using detail::Scanner;

constexpr double largest_defect = 1e-6;

constexpr std::size_t least_line = 6;  // characters of a transition: "0 0 1" and a line end

struct Header {
  std::uint32_t states = 0;
  std::uint32_t entries = 0;
};

Header read_header(Scanner& scanner) {
  if (!scanner.next_line()) scanner.object("the file is empty");
  Header header;
  header.states = scanner.integer();
  header.entries = scanner.integer();
  if (scanner.has_more()) {
    scanner.object("three counts belong to a Markov decision process, not to a Markov chain");
  }
  return header;
}

// Memory is taken for as many states and transitions as the header announces; here it is made sure
// that the text can hold them.
Header read_header_of_transitions(Scanner& scanner) {
  const Header header = read_header(scanner);
  const std::size_t room = scanner.size() / least_line + 1;
  if (header.entries > room) {
    scanner.object(fmt::format("{} states and {} transitions were announced, but the file has room "
                               "for {} transitions at most",
                               header.states, header.entries, room));
  }
  if (header.states > header.entries) {
    scanner.object(fmt::format("{} states need more than {} transitions, at least one each",
                               header.states, header.entries));
  }
  return header;
}

StateIndex read_state(Scanner& scanner, std::size_t states) {
  const StateIndex state = scanner.integer();
  if (state >= states) {
    scanner.object(fmt::format("state {} does not exist, there are {}", state, states));
  }
  return state;
}

struct Transition {
  StateIndex from;
  StateIndex to;
  double probability;
};

Transition read_transition(Scanner& scanner, std::size_t states) {
  Transition transition{};
  transition.from = read_state(scanner, states);
  transition.to = read_state(scanner, states);
  transition.probability = scanner.real();
  if (!(transition.probability >= 0 && transition.probability <= 1 + largest_defect)) {
    scanner.object(fmt::format("{} is not a probability", transition.probability));
  }
  scanner.skip_line();  // what follows is the name of an action
  return transition;
}

// The transitions sorted by row, those of a row as they came.
std::vector<Transition> by_row(const std::vector<Transition>& transitions, std::size_t states) {
  std::vector<Transition> sorted(transitions.size());
  const auto for_each_transition = [&](const auto& visit) {
    for (const Transition& transition : transitions) visit(transition.from, transition);
  };
  detail::counting_sort(
      states, for_each_transition,
      [&](std::uint64_t place, const Transition& transition) { sorted[place] = transition; });
  return sorted;
}

// Collects transitions; those that come row by row, as almost always, need no sorting.
class Rows {
 public:
  explicit Rows(const Header& header) : states_(header.states) {
    builder_.reserve(header.states, header.entries);
  }

  void add(const Transition& transition) {
    if (transition.from < builder_.rows()) {
      late_.push_back(transition);
      return;
    }
    while (builder_.rows() < transition.from) builder_.end_row();
    builder_.add(transition.to, transition.probability);
  }

  MarkovChain build() && {
    while (builder_.rows() < states_) builder_.end_row();
    MarkovChain chain = std::move(builder_).build();
    return late_.empty() ? std::move(chain) : merged(chain);
  }

 private:
  MarkovChain merged(const MarkovChain& early) {
    late_ = by_row(late_, early.size());
    ChainBuilder all;
    all.reserve(early.size(), early.transitions() + late_.size());
    auto late = late_.begin();
    for (StateIndex state = 0; state < early.size(); ++state) {
      for (std::size_t k = 0; k < early.successors(state).size(); ++k) {
        all.add(early.successors(state)[k], early.probabilities(state)[k]);
      }
      for (; late != late_.end() && late->from == state; ++late) {
        all.add(late->to, late->probability);
      }
      all.end_row();
    }
    return std::move(all).build();
  }

  std::size_t states_;
  ChainBuilder builder_;
  std::vector<Transition> late_;  // that belong to rows already ended
};

void check_rows(const MarkovChain& chain, const std::string& path) {
  if (chain.size() == 0) throw Error(fmt::format("{} has no states", path));
  const auto [defect, state] = chain.largest_defect();
  if (defect <= largest_defect) return;
  throw Error(
      fmt::format("{}: the probabilities of state {} miss 1 by {:.3g}", path, state, defect));
}

double read_reward(Scanner& scanner) {
  const double reward = scanner.real();
  if (!(reward >= 0) || std::isinf(reward)) {
    scanner.object(fmt::format("{} is not a cost; it must be finite and not negative", reward));
  }
  return reward;
}

void add_reward(const Scanner& scanner, double& sum, double reward) {
  sum += reward;
  if (std::isinf(sum)) scanner.object("the rewards of a state sum to more than a double holds");
}

std::vector<std::string_view> views(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

// The line 0="init" 1="deadlock" ...; names are repeated in messages, so they must be printable.
std::vector<std::string> read_names(Scanner& scanner) {
  std::vector<std::string> names;
  if (!scanner.next_line()) scanner.object("the file is empty");
  while (scanner.has_more()) {
    if (scanner.integer() != names.size()) scanner.object("labels count 0, 1, 2, ...");
    scanner.expect('=');
    scanner.expect('"');
    names.emplace_back(scanner.until('"'));
    if (!detail::is_printable(names.back())) scanner.object("a label is not printable");
  }
  return names;
}

}  // namespace

MarkovChain parse_transitions(std::string_view text, const std::string& name) {
  Scanner scanner(text, name);
  const Header header = read_header_of_transitions(scanner);
  Rows rows(header);
  std::uint64_t read = 0;
  for (; scanner.next_line(); ++read) rows.add(read_transition(scanner, header.states));
  if (read != header.entries) {
    scanner.object(fmt::format("{} transitions were announced, {} found", header.entries, read));
  }
  MarkovChain chain = std::move(rows).build();
  check_rows(chain, name);
  return chain;
}

RationalChain parse_rational_transitions(std::string_view text, const std::string& name) {
  Scanner scanner(text, name);
  const Header header = read_header_of_transitions(scanner);
  std::vector<std::vector<RationalChain::Transition>> rows(header.states);
  for (; scanner.next_line(); scanner.skip_line()) {
    const StateIndex from = read_state(scanner, header.states);
    const StateIndex to = read_state(scanner, header.states);
    rows[from].push_back({to, parse_rational(scanner.word())});
  }
  RationalChain chain;
  for (auto& row : rows) {
    for (auto& [to, probability] : row) chain.add(to, std::move(probability));
    chain.end_row();
  }
  return chain;
}

bool Labels::has(std::string_view name) const {
  return std::ranges::find(names, name) != names.end();
}

const std::vector<StateIndex>& Labels::of(std::string_view name) const {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) throw Error(unknown_name("label", name, views(names)));
  return states[static_cast<std::size_t>(found - names.begin())];
}

Labels parse_labels(std::string_view text, const std::string& name, std::size_t states) {
  Scanner scanner(text, name);
  Labels labels;
  labels.names = read_names(scanner);
  labels.states.resize(labels.names.size());
  while (scanner.next_line()) {
    const StateIndex state = read_state(scanner, states);
    scanner.expect(':');
    while (scanner.has_more()) {
      const std::uint32_t label = scanner.integer();
      if (label >= labels.names.size()) scanner.object(fmt::format("label {} has no name", label));
      labels.states[label].push_back(state);
    }
  }
  for (auto& members : labels.states) std::ranges::sort(members);
  return labels;
}

std::vector<double> parse_state_rewards(std::string_view text, const std::string& name,
                                        std::size_t states) {
  Scanner scanner(text, name);
  read_header(scanner);
  std::vector<double> rewards(states, 0.0);
  while (scanner.next_line()) {
    const StateIndex state = read_state(scanner, states);
    add_reward(scanner, rewards[state], read_reward(scanner));
  }
  return rewards;
}

std::vector<double> parse_transition_rewards(std::string_view text, const std::string& name,
                                             const MarkovChain& chain) {
  Scanner scanner(text, name);
  read_header(scanner);
  std::vector<double> rewards(chain.size(), 0.0);
  while (scanner.next_line()) {
    const StateIndex from = read_state(scanner, chain.size());
    const StateIndex to = read_state(scanner, chain.size());
    const double reward = read_reward(scanner);
    const auto successors = chain.successors(from);
    const auto found = std::ranges::lower_bound(successors, to);
    if (found == successors.end() || *found != to) {
      scanner.object(fmt::format("there is no transition from {} to {}", from, to));
    }
    const auto place = static_cast<std::size_t>(found - successors.begin());
    add_reward(scanner, rewards[from], reward * chain.probabilities(from)[place]);
  }
  return rewards;
}

MarkovChain read_transitions(const std::string& path) {
  return parse_transitions(MappedFile(path).text(), path);
}

RationalChain read_rational_transitions(const std::string& path) {
  return parse_rational_transitions(MappedFile(path).text(), path);
}

Labels read_labels(const std::string& path, std::size_t states) {
  return parse_labels(MappedFile(path).text(), path, states);
}

std::vector<double> read_state_rewards(const std::string& path, std::size_t states) {
  return parse_state_rewards(MappedFile(path).text(), path, states);
}

std::vector<double> read_transition_rewards(const std::string& path, const MarkovChain& chain) {
  return parse_transition_rewards(MappedFile(path).text(), path, chain);
}

}  // namespace conclave::chain
