#include "conclave/report/measures.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "conclave/base/statistics.hpp"

namespace conclave::report {
namespace {

const Law constant{.name = "1"};
const Law log_n{.name = "log2 n", .factors = {{"n", 0, 1}}};
const Law log_n_offset{.name = "log2 n", .factors = {{"n", 0, 1}}, .with_offset = true};
const Law log2_n{.name = "(log2 n)²", .factors = {{"n", 0, 2}}};
const Law log3_n{.name = "(log2 n)³", .factors = {{"n", 0, 3}}};
const Law linear{.name = "n", .factors = {{"n", 1, 0}}};
const Law n_log_n{.name = "n log2 n", .factors = {{"n", 1, 1}}};
const Law square{.name = "n²", .factors = {{"n", 2, 0}}};
const Law cube{.name = "n³", .factors = {{"n", 3, 0}}};
const Law upper_bound{.name = "N", .factors = {{"N", 1, 0}}};
const Law bound_log{.name = "N log2 n", .factors = {{"N", 1, 0}, {"n", 0, 1}}};
const Law n_times_bound{.name = "n N", .factors = {{"n", 1, 0}, {"N", 1, 0}}};
const Law n_times_bound_offset{
    .name = "n N", .factors = {{"n", 1, 0}, {"N", 1, 0}}, .with_offset = true};
const Law n_bound_log{.name = "n N log2 n", .factors = {{"n", 1, 1}, {"N", 1, 0}}};
const Law square_log{.name = "n² log2 n", .factors = {{"n", 2, 1}}};
const Law by_groups{.name = "(n/r) log2 n", .factors = {{"n", 1, 1}, {"r", -1, 0}}};
const Law by_groups_offset{
    .name = "(n/r) log2 n", .factors = {{"n", 1, 1}, {"r", -1, 0}}, .with_offset = true};
const Law groups{.name = "n/r", .factors = {{"n", 1, 0}, {"r", -1, 0}}};
const Law loose{.name = "c log2 n (log2 N)²", .factors = {{"c", 1, 0}, {"n", 0, 1}, {"N", 0, 2}}};
const Law loose_bound{.name = "c (log2 N)³", .factors = {{"c", 1, 0}, {"N", 0, 3}}};
const Law loose_square{.name = "c (log2 N)²", .factors = {{"c", 1, 0}, {"N", 0, 2}}};

double variable(const Variables& variables, std::string_view name) {
  const auto found = variables.find(name);
  return found == variables.end() ? NAN : found->second;
}

// The laws that are tried for every protocol, whatever its paper promises.
const std::vector<Law> general{log_n, log_n_offset, log2_n, linear, n_log_n};

// A mean that grows, of this field of the rows.
Measure mean_of(const char* field, std::string promise, std::vector<Law> laws) {
  static const std::map<std::string_view, const char*> titles{{"parallel_time", "parallel time"},
                                                              {"time", "time (longest delay = 1)"}};
  const auto title = titles.find(field);
  return {.field = field,
          .title = title == titles.end() ? field : title->second,
          .promise = std::move(promise),
          .laws = std::move(laws)};
}

std::vector<Measure> of_pll() {
  const Measure survivors{
      .field = "observables.leaders_after_quick_elimination",
      .title = "leaders after QuickElimination",
      .kind = Measure::Kind::chance,
      .promise = "exactly i leaders with probability below 2^(1-i) + o(1), i ≥ 2 (Lemma 9)",
      .bound =
          Bound{"2^(1-i)", [](const Variables& v) { return std::exp2(1 - variable(v, "i")); }}};
  return {mean_of("parallel_time", "O(log n) in expectation (Theorem 1)",
                  {log_n, log_n_offset, log2_n, linear}),
          survivors};
}

std::vector<Measure> of_fratricide() {
  Measure measure =
      mean_of("interactions", "(n - 1)² in expectation", {square, square_log, n_log_n});
  measure.bound =
      Bound{"(n - 1)²", [](const Variables& v) { return std::pow(variable(v, "n") - 1, 2); }};
  return {measure};
}

std::vector<Measure> of_ppl() {
  return {mean_of("parallel_time", "O(c log n log² N) in expectation (Theorem 23)",
                  {loose, loose_bound, loose_square, linear}),
          {.field = "observables.holding_interactions",
           .title = "interactions for which the leader is kept",
           .promise = "Ω(c n^(10c + 1)) in expectation, for the paper's constants (Theorem 23)",
           .may_be_exponential = true}};
}

std::vector<Measure> of_kmpp_sync() {
  Measure nine = mean_of("rounds", "9, always", {constant, log_n});
  nine.bound = Bound{"9 rounds", [](const Variables&) { return 9.0; }};
  return {mean_of("messages", "O(n) with high probability", {linear, n_log_n}), nine};
}

std::vector<Measure> of_flooding() {
  Measure all = mean_of("messages", "n (n - 1)", {square, n_log_n});
  all.bound = Bound{"n (n - 1)",
                    [](const Variables& v) { return variable(v, "n") * (variable(v, "n") - 1); }};
  return {all, mean_of("time", "O(1)", {constant, log_n})};
}

// P(Bin(M, 1/W) > M - m): M servers are alive, m votes win, W is the spread of their timeouts.
double split_probability(const Variables& variables) {
  const auto alive = static_cast<std::uint64_t>(variable(variables, "n"));
  const auto down = static_cast<std::uint64_t>(variable(variables, "down"));
  const std::uint64_t majority = (alive + down) / 2 + 1;
  return binomial_tail(alive - majority + 1, alive,
                       1 / std::max(variable(variables, "spread"), 1.0));
}

std::vector<Measure> of_raft() {
  const Measure split{.field = "observables.first_split",
                      .title = "probability that the first vote splits",
                      .promise = "P(Bin(M, 1/W) > M - m) if all delays are one unit",
                      .bound = Bound{"exact, unit delays", split_probability},
                      .is_fitted = false};
  const Measure time{.field = "observables.election_time",
                     .title = "election time (longest delay = 1)",
                     .is_fitted = false};
  return {split, time, mean_of("messages", "at least 3 n - 3", {linear, n_log_n, square})};
}

using Table = std::map<std::string_view, std::vector<Measure>>;

Table table() {
  return {
      {"pll", of_pll()},
      {"pll-sym", of_pll()},
      {"fratricide", of_fratricide()},
      {"ppl", of_ppl()},
      {"prl",
       {mean_of("interactions", "O(n N) in expectation (Theorem 1)",
                {n_times_bound, n_times_bound_offset, n_bound_log, square, square_log})}},
      {"electleader",
       {mean_of("parallel_time", "O((n/r) log n) with high probability (Theorem 1.1)",
                {by_groups, by_groups_offset, groups, log_n, linear})}},
      {"kmpp-async",
       {mean_of("messages", "O(n) with high probability (Theorem 1)", {linear, n_log_n}),
        mean_of("time", "O(log² n) with high probability (Theorem 1)",
                {log2_n, log_n, log_n_offset, linear})}},
      {"kmpp-sync", of_kmpp_sync()},
      {"afek-gafni-async",
       {mean_of("messages", "O(n log n)", {n_log_n, linear, square}),
        mean_of("time", "O(n)", {linear, log_n, n_log_n})}},
      {"afek-gafni-sync",
       {mean_of("messages", "O(n log n)", {n_log_n, linear, square}),
        mean_of("rounds", "O(log n)", {log_n, log_n_offset, linear})}},
      {"flooding", of_flooding()},
      {"raft-election", of_raft()},
      {"ag-minions",
       {mean_of("parallel_time", "O(log³ n) in expectation", {log3_n, log2_n, log_n, linear})}},
      {"timers",
       {mean_of("parallel_time", "O(N log n) in expectation", {upper_bound, bound_log, log_n})}},
      {"ciw",
       {mean_of("parallel_time", "Θ(n²) in expectation", {square, square_log, n_log_n, linear})}},
      {"optimal-silent",
       {mean_of("parallel_time", "O(n) in expectation", {linear, n_log_n, log_n, square})}},
      {"fischer-jiang",
       {mean_of("interactions", "Θ(n³) in expectation, if the oracle reports at once",
                {cube, square, square_log})}},
  };
}

}  // namespace

Variables assumed_of(std::string_view protocol) {
  if (protocol == "raft-election") return {{"down", 0}, {"spread", 10}};
  return protocol == "ppl" ? Variables{{"c", 1}} : Variables{};
}

std::string_view x_axis_of(std::string_view protocol) {
  return protocol == "raft-election" ? "spread" : "n";
}

std::vector<Measure> measures_of(std::string_view protocol, bool by_messages) {
  const Table known = table();
  if (const auto found = known.find(protocol); found != known.end()) return found->second;
  if (by_messages)
    return {mean_of("messages", "", {linear, n_log_n, square}), mean_of("time", "", general)};
  return {mean_of("parallel_time", "", general)};
}

}  // namespace conclave::report
