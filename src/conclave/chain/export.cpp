#include "conclave/chain/export.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/check.hpp"
#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/base/output.hpp"

namespace conclave::chain {
namespace {

constexpr std::size_t most_drawn_states = 200;

// A text file under construction: what is formatted goes to the disk in large pieces.
class TextFile {
 public:
  // Throws Error if the file cannot be created.
  explicit TextFile(const std::string& path) : output_(path) {}

  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    buffer_ += fmt::format(format, std::forward<Arguments>(arguments)...);
    if (buffer_.size() > large) flush();
  }

  // Must be the last call. Throws std::system_error if not everything could be written.
  void close();

 private:
  static constexpr std::size_t large = 1 << 20;

  void flush();

  Output output_;
  std::string buffer_;
};

void TextFile::flush() {
  output_.write(buffer_);
  buffer_.clear();
}

void TextFile::close() {
  flush();
  output_.finish();
}

// "leader*(leader-1)" or "leader*follower": ordered pairs of different agents in these states.
std::string pairs_text(const TableProtocol& protocol, const TableProtocol::Rule& rule) {
  const std::string& u = protocol.states[rule.initiator];
  const std::string& v = protocol.states[rule.responder];
  const std::string pairs = rule.initiator == rule.responder ? fmt::format("{}*({}-1)", u, u)
                                                             : fmt::format("{}*{}", u, v);
  return rule.weight == 1 ? pairs : fmt::format("{}*{}", rule.weight, pairs);
}

// "(leader'=max(leader-1,0)) & (follower'=min(follower+1,n))". The bounds never apply where the
// rule has a probability; they keep tools content that evaluate updates of probability 0.
std::string update_text(const TableProtocol& protocol, const TableProtocol::Rule& rule) {
  std::vector<int> change(protocol.states.size());
  --change[rule.initiator];
  --change[rule.responder];
  ++change[rule.initiator_after];
  ++change[rule.responder_after];
  std::string text;
  for (std::size_t s = 0; s < change.size(); ++s) {
    if (change[s] == 0) continue;
    const std::string& name = protocol.states[s];
    if (!text.empty()) text += " & ";
    text += change[s] < 0 ? fmt::format("({}'=max({}-{},0))", name, name, -change[s])
                          : fmt::format("({}'=min({}+{},n))", name, name, change[s]);
  }
  return text;
}

void check_table(const TableProtocol& protocol) {
  CONCLAVE_CHECK(protocol.initial_counts.size() == protocol.states.size());
  for (const TableProtocol::Rule& rule : protocol.rules) {
    for (const std::size_t state :
         {rule.initiator, rule.responder, rule.initiator_after, rule.responder_after}) {
      CONCLAVE_CHECK(state < protocol.states.size());
    }
  }
}

// The one command: every rule with its probability, and what is left for nothing to happen.
void print_command(TextFile& file, const TableProtocol& protocol) {
  std::string effective;
  file.print("  [] true ->\n");
  for (const TableProtocol::Rule& rule : protocol.rules) {
    const std::string update = update_text(protocol, rule);
    if (update.empty()) continue;
    const std::string pairs = pairs_text(protocol, rule);
    file.print("    ({})/all : {} +\n", pairs, update);
    effective += (effective.empty() ? "" : " - ") + pairs;
  }
  if (effective.empty()) {
    file.print("    1 : true;\n");
  } else {
    file.print("    (all - {})/all : true;\n", effective);
  }
}

}  // namespace

void write_transitions(const MarkovChain& chain, const std::string& path) {
  TextFile file(path);
  file.print("{} {}\n", chain.size(), chain.transitions());
  for (StateIndex state = 0; state < chain.size(); ++state) {
    const auto successors = chain.successors(state);
    const auto probabilities = chain.probabilities(state);
    for (std::size_t k = 0; k < successors.size(); ++k) {
      file.print("{} {} {}\n", state, successors[k], probabilities[k]);
    }
  }
  file.close();
}

void write_transitions(const RationalChain& chain, const std::string& path) {
  std::uint64_t transitions = 0;
  for (StateIndex state = 0; state < chain.size(); ++state) transitions += chain.row(state).size();
  TextFile file(path);
  file.print("{} {}\n", chain.size(), transitions);
  for (StateIndex state = 0; state < chain.size(); ++state) {
    for (const auto& [to, probability] : chain.row(state)) {
      file.print("{} {} {}\n", state, to, probability.get_str());
    }
  }
  file.close();
}

void write_labels(const Labels& labels, std::size_t states, const std::string& path) {
  TextFile file(path);
  std::vector<std::vector<std::size_t>> of_state(states);
  for (std::size_t k = 0; k < labels.names.size(); ++k) {
    file.print("{}{}=\"{}\"", k == 0 ? "" : " ", k, labels.names[k]);
    for (const StateIndex state : labels.states[k]) of_state[state].push_back(k);
  }
  file.print("\n");
  for (std::size_t state = 0; state < states; ++state) {
    if (!of_state[state].empty()) file.print("{}: {}\n", state, join_parts(of_state[state], " "));
  }
  file.close();
}

void write_state_rewards(std::span<const double> rewards, const std::string& path) {
  TextFile file(path);
  file.print("{} {}\n", rewards.size(),
             rewards.size() - static_cast<std::size_t>(std::ranges::count(rewards, 0.0)));
  for (std::size_t state = 0; state < rewards.size(); ++state) {
    if (rewards[state] != 0) file.print("{} {}\n", state, rewards[state]);
  }
  file.close();
}

void write_states(const std::string& variables, const StateText& values, std::size_t states,
                  const std::string& path) {
  TextFile file(path);
  file.print("({})\n", variables);
  for (std::size_t state = 0; state < states; ++state) {
    file.print("{}:({})\n", state, values(static_cast<StateIndex>(state)));
  }
  file.close();
}

void write_dot(const MarkovChain& chain, const StateSet& target, const StateText& name,
               const std::string& path) {
  if (chain.size() > most_drawn_states) {
    throw Error(fmt::format("a drawing takes at most {} states, this chain has {}",
                            most_drawn_states, chain.size()));
  }
  TextFile file(path);
  file.print("digraph chain {{\n  node [shape=circle];\n");
  for (StateIndex state = 0; state < chain.size(); ++state) {
    file.print("  {} [label=\"{}\"{}];\n", state, name(state),
               target.contains(state) ? ", shape=doublecircle" : "");
  }
  for (StateIndex state = 0; state < chain.size(); ++state) {
    for (std::size_t k = 0; k < chain.successors(state).size(); ++k) {
      file.print("  {} -> {} [label=\"{:.4g}\"];\n", state, chain.successors(state)[k],
                 chain.probabilities(state)[k]);
    }
  }
  file.print("}}\n");
  file.close();
}

void write_prism_module(const TableProtocol& protocol, const std::string& path) {
  check_table(protocol);
  const auto n = std::accumulate(protocol.initial_counts.begin(), protocol.initial_counts.end(),
                                 std::uint64_t{0});
  TextFile file(path);
  file.print(
      "// The census of a population protocol: agents per state; one step is one interaction.\n");
  file.print("dtmc\n\nconst int n = {};\n", n);
  file.print("const int all = n*(n-1){};\n\nmodule census\n",
             protocol.total_weight == 1 ? "" : fmt::format("*{}", protocol.total_weight));
  for (std::size_t s = 0; s < protocol.states.size(); ++s) {
    file.print("  {} : [0..n] init {};\n", protocol.states[s], protocol.initial_counts[s]);
  }
  print_command(file, protocol);
  file.print("endmodule\n\nlabel \"target\" = {};\n\n", protocol.target);
  file.print("rewards \"steps\"\n  true : 1;\nendrewards\n");
  file.close();
}

}  // namespace conclave::chain
