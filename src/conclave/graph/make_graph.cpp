#include "conclave/graph/make_graph.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/geometric.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/base/random.hpp"
#include "conclave/base/read_text.hpp"

namespace conclave::graph {
namespace {

using Arcs = std::vector<Digraph::Pair>;

// Graphs in files: a line "INITIATOR RESPONDER" per arc, agents numbered from 0.

constexpr std::uint64_t most_arcs = std::uint64_t{1} << 32;
constexpr std::size_t longest_line = 1000;

[[noreturn]] void refuse(const std::string& path, std::string_view reason) {
  throw Error(fmt::format("cannot read the graph '{}': {}", path, reason));
}

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// Reads up to the end of the line; of a line that is too long only as much as shows that.
bool read_line(std::FILE* file, std::string& line) {
  line.clear();
  for (int c = std::getc(file); c != EOF; c = std::getc(file)) {
    if (c == '\n') return true;
    line += static_cast<char>(c);
    if (line.size() > longest_line) return true;
  }
  return !line.empty();
}

// The arcs among n agents. Throws Error with the line if the file cannot be understood.
Arcs arcs_in_file(const std::string& path, AgentCount n) {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) refuse(path, std::generic_category().message(errno));
  Arcs arcs;
  std::string line;
  for (std::uint64_t number = 1; read_line(file.get(), line); ++number) {
    if (number == 1 && line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
    if (line.size() > longest_line) {
      throw Error(fmt::format("'{}', line {}: no arc takes more than {} characters, unlike '{}'",
                              path, number, longest_line, excerpt(line)));
    }
    const std::uint64_t read = arcs.size();  // whose type has 32 bits on the page
    if (read == most_arcs) {
      throw Error(fmt::format("'{}' has more than {} arcs", path, most_arcs));
    }
    std::istringstream words(line.substr(0, line.find('#')));
    std::string u;
    std::string v;
    std::string more;
    if (!(words >> u)) continue;
    words >> v >> more;
    const auto initiator = parse_count(u);
    const auto responder = parse_count(v);
    if (!initiator || !responder || !more.empty()) {
      throw Error(fmt::format("'{}', line {}: expected an arc \"INITIATOR RESPONDER\", not '{}'",
                              path, number, excerpt(line)));
    }
    if (*initiator >= n || *responder >= n || *initiator == *responder) {
      throw Error(fmt::format("'{}', line {}: agents are numbered 0 to {} and an arc joins two of "
                              "them, unlike '{}'",
                              path, number, n - 1, excerpt(line)));
    }
    arcs.emplace_back(static_cast<std::uint32_t>(*initiator->as_uint64()),
                      static_cast<std::uint32_t>(*responder->as_uint64()));
  }
  if (std::ferror(file.get()) != 0) {
    refuse(path, errno == EISDIR ? "it is a folder" : std::generic_category().message(errno));
  }
  return arcs;
}

constexpr std::array<std::string_view, 11> kinds{
    "complete", "ring",  "undirected-ring", "star", "hypercube", "tree",
    "grid",     "torus", "regular",         "gnp",  "file"};
constexpr std::array<std::string_view, 5> plain_kinds{"complete", "ring", "undirected-ring", "star",
                                                      "hypercube"};
constexpr AgentCount most_agents = 100'000'000;
constexpr double most_drawn_arcs = 4294967295.0;  // that a Digraph can hold

// Before the first arc is drawn, so that a slip of the pen costs no memory.
void check_arcs(double expected, const std::string& text, AgentCount n) {
  if (expected <= most_drawn_arcs) return;
  throw Error(fmt::format("--graph {} with n = {} has about {:.2g} arcs, and at most {:.2g} are "
                          "allowed; leave --graph out where all pairs interact",
                          text, n, expected, most_drawn_arcs));
}

void add_edge(Arcs& arcs, AgentCount u, AgentCount v) {
  arcs.emplace_back(static_cast<std::uint32_t>(u), static_cast<std::uint32_t>(v));
  arcs.emplace_back(static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(u));
}

Arcs ring(AgentCount n) {
  Arcs arcs;
  for (AgentCount i = 0; i < n; ++i) {
    arcs.emplace_back(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>((i + 1) % n));
  }
  return arcs;
}

Arcs undirected_ring(AgentCount n) {
  Arcs arcs;
  for (AgentCount i = 0; i + 1 < n; ++i) add_edge(arcs, i, i + 1);
  if (n > 2) add_edge(arcs, n - 1, 0);
  return arcs;
}

// Agent 0 is joined to all others.
Arcs star(AgentCount n) {
  Arcs arcs;
  for (AgentCount i = 1; i < n; ++i) add_edge(arcs, 0, i);
  return arcs;
}

// Agents whose numbers differ in one bit are joined.
Arcs hypercube(AgentCount n) {
  if (!std::has_single_bit(n)) {
    throw Error(fmt::format("--graph hypercube needs a power of two agents, not n = {}", n));
  }
  Arcs arcs;
  for (AgentCount i = 0; i < n; ++i) {
    for (AgentCount bit = 1; bit < n; bit *= 2) {
      if ((i & bit) == 0) add_edge(arcs, i, i | bit);
    }
  }
  return arcs;
}

// Level by level from agent 0, every agent with this many children as far as there are agents.
Arcs tree(const std::string& text, AgentCount n) {
  const auto children =
      text.empty() ? Interactions(2u) : parse_count(text).value_or(Interactions(0u));
  if (children < 1u || children >= n) {
    throw Error(fmt::format("--graph tree:K needs a number of children from 1 to n - 1 = {}, not "
                            "'{}'",
                            n - 1, text));
  }
  const AgentCount each = *children.as_uint64();
  Arcs arcs;
  for (AgentCount i = 1; i < n; ++i) add_edge(arcs, (i - 1) / each, i);
  return arcs;
}

// With `wraps` the ends of each row and column are joined.
Arcs grid(const std::string& size, AgentCount n, bool wraps) {
  const std::string_view name = wraps ? "torus" : "grid";
  const std::size_t cross = size.find('x');
  const auto rows = parse_count(size.substr(0, cross));
  const auto columns =
      parse_count(cross == std::string::npos ? std::string() : size.substr(cross + 1));
  const bool are_counts = rows && columns && *rows <= n && *columns <= n;
  if (!are_counts || *rows * *columns != Interactions(n)) {
    throw Error(fmt::format("--graph {}:RxC needs R times C = n = {}, not '{}'", name, n, size));
  }
  const AgentCount width = *columns->as_uint64();
  if (wraps && (width < 3 || *rows < 3u)) {
    throw Error(fmt::format("--graph torus:RxC needs three rows and columns at least, unlike '{}'; "
                            "grid:RxC does not",
                            size));
  }
  Arcs arcs;
  for (AgentCount i = 0; i < n; ++i) {
    const bool is_last = (i + 1) % width == 0;
    if (!is_last) add_edge(arcs, i, i + 1);
    if (is_last && wraps) add_edge(arcs, i, i + 1 - width);
    if (i + width < n) add_edge(arcs, i, i + width);
    if (i + width >= n && wraps) add_edge(arcs, i, i + width - n);
  }
  return arcs;
}

// Pairs free ends at random, without loops and double edges, and starts again when it is stuck
// (Steger and Wormald 1999: close to uniform over all regular graphs).
std::optional<Arcs> try_regular(AgentCount n, AgentCount degree, Stream& stream) {
  std::vector<std::uint32_t> ends;
  for (AgentCount i = 0; i < n * degree; ++i)
    ends.push_back(static_cast<std::uint32_t>(i / degree));
  std::set<Digraph::Pair> taken;
  Arcs arcs;
  for (int failures = 0; !ends.empty() && failures < 200;) {
    const std::size_t i = stream.below64(ends.size());
    const std::size_t j = stream.below64(ends.size());
    const Digraph::Pair edge = std::minmax(ends[i], ends[j]);
    if (edge.first == edge.second || taken.contains(edge)) {
      ++failures;
      continue;
    }
    failures = 0;
    taken.insert(edge);
    add_edge(arcs, edge.first, edge.second);
    for (const std::size_t k : {std::max(i, j), std::min(i, j)}) {
      ends[k] = ends.back();
      ends.pop_back();
    }
  }
  if (!ends.empty()) return std::nullopt;
  return arcs;
}

// The edges that a graph does not have.
Arcs complement(const Arcs& arcs, AgentCount n) {
  const std::set<Digraph::Pair> taken(arcs.begin(), arcs.end());
  Arcs others;
  for (AgentCount u = 0; u < n; ++u) {
    for (AgentCount v = u + 1; v < n; ++v) {
      if (!taken.contains({static_cast<std::uint32_t>(u), static_cast<std::uint32_t>(v)})) {
        add_edge(others, u, v);
      }
    }
  }
  return others;
}

// Pairing free ends hardly ever comes to an end where almost all edges are taken. After some
// seconds of it the edges that are left out are drawn instead: they are a regular graph, too.
Arcs regular_of_degree(AgentCount degree, AgentCount n, Stream& stream) {
  constexpr std::uint64_t most_work = 4'000'000;
  const bool is_dense = 2 * degree >= n;
  const std::uint64_t tries = std::max<std::uint64_t>(20, most_work / (n * degree + 1));
  for (std::uint64_t i = 0; !is_dense || i < tries; ++i) {
    if (auto arcs = try_regular(n, degree, stream)) return std::move(*arcs);
  }
  return complement(regular_of_degree(n - 1 - degree, n, stream), n);
}

Arcs regular(const std::string& text, AgentCount n, Stream& stream) {
  const auto degree = parse_count(text);
  if (!degree || *degree < 1u || *degree >= n || (*degree * n) % 2u != 0u) {
    throw Error(fmt::format(
        "--graph regular:D needs a degree D from 1 to n - 1 with n D even, not '{}' for n = {}",
        text, n));
  }
  check_arcs((*degree * n).as_double(), "regular:" + text, n);
  return regular_of_degree(*degree->as_uint64(), n, stream);
}

// Every pair is an edge with probability p, a multiple of 2^-40; jumps over pairs that are not.
Arcs gnp(const std::string& text, AgentCount n, Stream& stream) {
  const auto p = parse_real(text);
  if (!p || *p <= 0 || *p > 1) {
    throw Error(
        fmt::format("--graph gnp:P needs a probability above 0 and at most 1, not '{}'", text));
  }
  check_arcs(*p * static_cast<double>(n) * static_cast<double>(n - 1), "gnp:" + text, n);
  const std::uint64_t unit = std::uint64_t{1} << 40;
  const auto successes = static_cast<std::uint64_t>(*p * static_cast<double>(unit) + 0.5);
  const Geometric wait(std::max<std::uint64_t>(1, successes), unit);
  Arcs arcs;
  AgentCount row = 0;
  Interactions column;  // the pair (row, row + column)
  for (;;) {
    column += wait(stream);
    while (row < n && column >= Interactions(n - row)) {
      column -= Interactions(n - row - 1);
      ++row;
    }
    if (row + 1 >= n) return arcs;
    add_edge(arcs, row, row + *column.as_uint64());
  }
}

Arcs arcs_of(std::string_view kind, const std::string& argument, AgentCount n, Stream& stream) {
  if (kind == "ring") return ring(n);
  if (kind == "undirected-ring") return undirected_ring(n);
  if (kind == "star") return star(n);
  if (kind == "hypercube") return hypercube(n);
  if (kind == "tree") return tree(argument, n);
  if (kind == "grid" || kind == "torus") return grid(argument, n, kind == "torus");
  if (kind == "regular") return regular(argument, n, stream);
  if (kind == "gnp") return gnp(argument, n, stream);
  return arcs_in_file(argument, n);
}

}  // namespace

std::shared_ptr<const Digraph> make_graph(const std::string& text, AgentCount n,
                                          std::uint64_t seed) {
  const std::size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  if (std::ranges::find(kinds, kind) == kinds.end())
    throw Error(unknown_name("graph", kind, kinds));
  const bool has_argument = colon != std::string::npos;
  if (has_argument && std::ranges::find(plain_kinds, kind) != plain_kinds.end()) {
    throw Error(fmt::format("--graph {} has nothing behind a colon, unlike '{}'", kind, text));
  }
  if (kind == "complete") return nullptr;
  if (n > most_agents) {
    throw Error(
        fmt::format("n = {} is too large for --graph {}: at most {} agents", n, text, most_agents));
  }
  Stream stream({.seed = seed, .trial = 0, .purpose = Purpose::graph});
  const std::string argument = has_argument ? text.substr(colon + 1) : std::string();
  auto graph = std::make_shared<const Digraph>(n, arcs_of(kind, argument, n, stream));
  if (graph->is_strongly_connected()) return graph;
  throw Error(fmt::format("--graph {}: not every agent can be reached from every other{}", text,
                          kind == "gnp" ? "; try a larger probability" : ""));
}

}  // namespace conclave::graph
