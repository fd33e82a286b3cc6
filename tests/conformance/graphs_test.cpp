// Graphs a user can name, and the law of walking leaders on them.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conclave/base/error.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/graph/make_graph.hpp"

namespace conclave::experiment {
namespace {

using graph::make_graph;

std::map<AgentCount, int> degrees(const Digraph& graph) {
  std::map<AgentCount, int> count;
  for (Arc arc = 0; arc < graph.arcs(); ++arc) ++count[graph.initiator(arc)];
  return count;
}

bool is_symmetric(const Digraph& graph) {
  std::vector<std::pair<AgentCount, AgentCount>> forwards;
  std::vector<std::pair<AgentCount, AgentCount>> backwards;
  for (Arc arc = 0; arc < graph.arcs(); ++arc) {
    forwards.emplace_back(graph.initiator(arc), graph.responder(arc));
    backwards.emplace_back(graph.responder(arc), graph.initiator(arc));
  }
  std::ranges::sort(forwards);
  std::ranges::sort(backwards);
  return forwards == backwards;
}

TEST(Graphs, CompleteIsNoArcList) { EXPECT_EQ(make_graph("complete", 10, 1), nullptr); }

TEST(Graphs, RingHasOneArcPerAgentAndUndirectedRingTwo) {
  EXPECT_EQ(make_graph("ring", 7, 1)->arcs(), 7u);
  EXPECT_EQ(make_graph("undirected-ring", 7, 1)->arcs(), 14u);
  EXPECT_EQ(make_graph("undirected-ring", 2, 1)->arcs(), 2u);
  EXPECT_TRUE(is_symmetric(*make_graph("undirected-ring", 7, 1)));
}

TEST(Graphs, StarTreeTorusAndHypercubeHaveTheirDegrees) {
  using Degrees = std::map<int, int>;  // how many agents have which
  const auto counted = [](const char* text, AgentCount n) {
    const auto graph = make_graph(text, n, 1);
    EXPECT_TRUE(is_symmetric(*graph)) << text;
    Degrees result;
    for (const auto& [agent, degree] : degrees(*graph)) ++result[degree];
    return result;
  };
  EXPECT_EQ(counted("star", 9), (Degrees{{1, 8}, {8, 1}}));
  EXPECT_EQ(counted("tree", 7), (Degrees{{1, 4}, {2, 1}, {3, 2}}));
  EXPECT_EQ(counted("tree:1", 5), (Degrees{{1, 2}, {2, 3}}));
  EXPECT_EQ(counted("tree:3", 13), (Degrees{{1, 9}, {3, 1}, {4, 3}}));
  EXPECT_EQ(counted("torus:3x5", 15), (Degrees{{4, 15}}));
  EXPECT_EQ(counted("hypercube", 32), (Degrees{{5, 32}}));
  EXPECT_EQ(make_graph("torus:3x5", 15, 1)->arcs(), 60u);
  for (const char* text : {"hypercube", "tree:0", "tree:12", "torus:2x6", "torus:4x4", "star:3"}) {
    EXPECT_THROW(make_graph(text, 12, 1), Error) << text;
  }
}

// Where two halves of a grid begin apart, and where every agent has a random place.
TEST(Graphs, AgentsArePlacedInTheirOrderOrRandomly) {
  const char* const text = "states A, B\nstart both: 50 of A, 50 of B\nA + A -> A + A\n"
                           "stop when silent\n";
  const auto first_half = [&](bool randomly, std::uint64_t trial) {
    catalog::RunRequest request{.n = 100u, .settings = {}, .start = {}, .engine = "agents"};
    request.graph = "grid:10x10";
    request.digraph = make_graph(request.graph, 100, 1);
    request.places_randomly = randomly;
    request.plan.keeps_final = true;
    const auto run = catalog::kept_text_entry("two.pp", text).prepare(request);
    const auto workspace = run->workspace();
    const TrialResult result = run->run(trial, *workspace, [](const auto&) { return true; });
    AgentCount before = 0;
    double in_a = 0;
    for (const NamedCount& each : result.final_agents) {
      for (AgentCount i = 0; i < each.count; ++i, ++before) {
        if (before < 50 && each.name == "A") ++in_a;
      }
    }
    return in_a;
  };
  EXPECT_EQ(first_half(false, 0), 50);
  constexpr int trials = 2000;
  std::vector<double> found(51, 0.0), expected(51, 0.0);
  for (int trial = 0; trial < trials; ++trial) {
    ++found[static_cast<std::size_t>(first_half(true, static_cast<std::uint64_t>(trial)))];
  }
  for (int k = 0; k <= 50; ++k) {  // hypergeometric
    const auto ways = [](int n, int m) {
      return std::lgamma(n + 1.0) - std::lgamma(m + 1.0) - std::lgamma(n - m + 1.0);
    };
    expected[static_cast<std::size_t>(k)] = trials * std::exp(2 * ways(50, k) - ways(100, 50));
  }
  const Buckets buckets = pool_buckets(found, expected);
  EXPECT_GE(chi_square(buckets.observed, buckets.expected).p_value, 1e-6);
}

TEST(Graphs, GridJoinsNeighboursOnly) {
  const auto graph = make_graph("grid:3x4", 12, 1);
  EXPECT_EQ(graph->arcs(), 2u * (3 * 3 + 2 * 4));
  EXPECT_TRUE(is_symmetric(*graph));
  for (Arc arc = 0; arc < graph->arcs(); ++arc) {
    const auto u = graph->initiator(arc);
    const auto v = graph->responder(arc);
    const auto distance = std::max(u, v) - std::min(u, v);
    EXPECT_TRUE(distance == 4 || (distance == 1 && u / 4 == v / 4)) << u << ' ' << v;
  }
}

TEST(Graphs, RegularGivesEveryAgentTheSameDegreeWithoutDoubleEdges) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const auto graph = make_graph("regular:3", 50, seed);
    EXPECT_TRUE(is_symmetric(*graph));
    for (const auto& [agent, degree] : degrees(*graph)) EXPECT_EQ(degree, 3) << agent;
    std::map<std::pair<AgentCount, AgentCount>, int> seen;
    for (Arc arc = 0; arc < graph->arcs(); ++arc) {
      const std::pair pair{graph->initiator(arc), graph->responder(arc)};
      EXPECT_EQ(++seen[pair], 1);
    }
  }
}

TEST(Graphs, RegularMayLeaveOutFewEdges) {
  for (const int degree : {45, 47, 48, 49}) {  // which free ends alone do not find
    const auto graph = make_graph("regular:" + std::to_string(degree), 50, 1);
    EXPECT_TRUE(is_symmetric(*graph));
    std::set<std::pair<AgentCount, AgentCount>> seen;
    for (Arc arc = 0; arc < graph->arcs(); ++arc) {
      seen.emplace(graph->initiator(arc), graph->responder(arc));
    }
    EXPECT_EQ(seen.size(), graph->arcs());
    for (const auto& [agent, found] : degrees(*graph)) EXPECT_EQ(found, degree) << agent;
  }
}

TEST(Graphs, GnpHasEveryEdgeWithTheSameProbability) {
  constexpr AgentCount n = 12;
  constexpr int graphs = 4000;
  std::map<std::pair<AgentCount, AgentCount>, double> seen;
  for (std::uint64_t seed = 0; seed < graphs; ++seed) {
    const auto graph = make_graph("gnp:0.75", n, seed);  // hardly ever disconnected
    for (Arc arc = 0; arc < graph->arcs(); ++arc) {
      if (graph->initiator(arc) < graph->responder(arc)) {
        seen[{graph->initiator(arc), graph->responder(arc)}] += 1;
      }
    }
  }
  EXPECT_EQ(seen.size(), n * (n - 1) / 2);
  double statistic = 0;
  for (const auto& [edge, count] : seen) {
    const double deviation = count - 0.75 * graphs;
    statistic += deviation * deviation / (graphs * 0.75 * 0.25);
  }
  EXPECT_LT(statistic, 150);  // chi-square with 66 degrees of freedom: p below 1e-7
  EXPECT_GT(statistic, 20);
}

TEST(Graphs, FollowFromTheSeed) {
  const auto text = [](std::uint64_t seed) {
    std::string arcs;
    const auto graph = make_graph("gnp:0.5", 20, seed);
    for (Arc arc = 0; arc < graph->arcs(); ++arc) {
      arcs += std::to_string(graph->initiator(arc)) + ' ' + std::to_string(graph->responder(arc)) +
              '\n';
    }
    return arcs;
  };
  EXPECT_EQ(text(5), text(5));
  EXPECT_NE(text(5), text(6));
}

class GraphFile : public testing::Test {
 protected:
  std::string write(const std::string& text) {
    const std::string path = testing::TempDir() + "conclave_graph_test.txt";
    std::ofstream(path) << text;
    return "file:" + path;
  }
};

TEST_F(GraphFile, IsReadWithCommentsAndBlankLines) {
  const auto graph = make_graph(write("# a triangle\n0 1\n\n1 2  # one way\n2 0\n"), 3, 1);
  EXPECT_EQ(graph->arcs(), 3u);
  EXPECT_EQ(graph->initiator(1), 1u);
  EXPECT_EQ(graph->responder(1), 2u);
}

TEST_F(GraphFile, WithAMistakeIsRefusedWithItsLine) {
  for (const std::string bad :
       {"0 1\n1 x\n", "0 1\n1 7\n", "0 1\n1 1\n", "0 1\n1 2 3\n", "0 1\n1\n"}) {
    try {
      make_graph(write(bad), 3, 1);
      ADD_FAILURE() << bad;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("line 2"), std::string::npos) << error.what();
    }
  }
}

TEST_F(GraphFile, ThatIsNotStronglyConnectedIsRefused) {
  EXPECT_THROW(make_graph(write("0 1\n1 2\n"), 3, 1), Error);
  EXPECT_THROW(make_graph("file:/nowhere", 3, 1), Error);
}

TEST(Graphs, RefuseWhatDoesNotFit) {
  for (const std::string bad : {"grid:3x3", "grid:12", "grid", "regular:0", "regular:12",
                                "regular:x", "gnp:0", "gnp:1.5", "gnp:x", "gnp:0.01", "rings",
                                "ring:12", "complete:12", "undirected-ring:", "grid:1e30x1e30"}) {
    EXPECT_THROW(make_graph(bad, 12, 1), Error) << bad;
  }
  EXPECT_THROW(make_graph("regular:3", 13, 1), Error);
}

TEST(Protocols, RefuseGraphsTheyAreNotMadeFor) {
  for (const std::string_view name : {"pll", "pll-sym", "ppl", "fratricide", "prl"}) {
    catalog::RunRequest request;
    request.n = 12u;
    request.graph = "grid:3x4";
    request.digraph = make_graph(request.graph, 12, 1);
    EXPECT_THROW(catalog::find(name).prepare(request), Error) << name;
  }
}

// The number of interactions until walking leaders have merged into one.
std::vector<double> merging_times(const std::string& graph, const std::string& engine,
                                  std::uint64_t n, std::uint64_t trials) {
  catalog::RunRequest request;
  request.n = n;
  request.graph = graph;
  request.digraph = make_graph(graph, n, 1);
  request.engine = engine;
  const auto run = catalog::find("coalescence").prepare(request);
  const auto workspace = run->workspace();
  std::vector<double> times;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    times.push_back(
        run->run(trial, *workspace, [](Interactions) { return true; }).interactions.as_double());
  }
  std::ranges::sort(times);
  return times;
}

TEST(CoalescenceLaws, TakeNPlus1Choose3OnRingsInExpectation) {
  for (const std::string graph : {"ring", "undirected-ring"}) {
    for (const std::string engine : {"agents", "events"}) {
      constexpr double n = 12;
      const Summary summary = summarize(merging_times(graph, engine, 12, 20'000));
      const Interval interval = mean_interval(summary, 1 - 1e-6);
      EXPECT_LT(interval.low, (n + 1) * n * (n - 1) / 6) << graph << ' ' << engine;
      EXPECT_GT(interval.high, (n + 1) * n * (n - 1) / 6) << graph << ' ' << engine;
    }
  }
}

TEST(CoalescenceLaws, AreTheSameOnBothEngines) {
  for (const std::string graph : {"ring", "grid:4x5", "regular:3", "gnp:0.3"}) {
    const auto stepping = merging_times(graph, "agents", 20, 10'000);
    const auto jumping = merging_times(graph, "events", 20, 10'000);
    EXPECT_GT(kolmogorov_smirnov(stepping, jumping).p_value, 1e-6) << graph;
  }
  EXPECT_LT(kolmogorov_smirnov(merging_times("ring", "events", 20, 10'000),
                               merging_times("grid:4x5", "events", 20, 10'000))
                .p_value,
            1e-6);
}

}  // namespace
}  // namespace conclave::experiment
