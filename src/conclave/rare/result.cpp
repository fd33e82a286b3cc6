#include "conclave/rare/result.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include <fmt/format.h>

#include "conclave/base/csv.hpp"
#include "conclave/base/error.hpp"
#include "conclave/base/json.hpp"
#include "conclave/base/real_functions.hpp"
#include "conclave/rare/prepared.hpp"

namespace conclave::rare {
namespace {

// Logarithms are shown with four decimals; a time is exp of that, with six digits.
double shown(double ln) { return std::isfinite(ln) ? std::round(ln * 1e4) / 1e4 : ln; }

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }
Json rounded(double value, double scale) { return number(std::round(value * scale) / scale); }

std::string text(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string_view value_name(bool by_attempt) {
  return by_attempt ? "ln_probability" : "ln_holding";
}

void add_time(Json& json, const Time& time, bool by_attempt) {
  json[std::string(value_name(by_attempt))] = number(shown(time.ln_time));
  json["ln_low"] = number(shown(time.ln_low));
  json["ln_high"] = number(shown(time.ln_high));
}

bool fits_double(double ln) { return ln < 690; }

double six_digits(double value) { return std::stod(fmt::format("{:.5e}", value)); }

Json function_json(const std::string& name, const Estimate& estimate, const Time& time,
                   bool by_attempt) {
  Json json{{"name", name}};
  add_time(json, time, by_attempt);
  json["repetitions"] = estimate.repetitions;
  json["zeros"] = estimate.zeros;
  json["sd_ln"] = rounded(estimate.sd_ln_rate, 1e4);
  if (estimate.levels > 0) {
    json["levels"] = estimate.levels;
    json["last_factor"] = rounded(estimate.last_factor, 1e6);
    json["least_factor"] = rounded(estimate.least_factor, 1e6);
    json["ancestors"] = rounded(estimate.ancestors, 1e2);
  }
  if (estimate.configurations > 0) json["configurations"] = estimate.configurations;
  json["warnings"] = Json(estimate.warnings);
  return json;
}

std::string interval_text(const Time& time) {
  if (!std::isfinite(time.ln_time)) return "no failure seen";
  return fmt::format("{:.4f}   [{:.4f}, {:.4f}]", time.ln_time, time.ln_low, time.ln_high);
}

// Whether some way that may count has a bound only.
bool is_lower_bound(std::span<const WayResult> ways) {
  return std::ranges::any_of(
      ways, [](const WayResult& each) { return each.functions.empty() && !each.confirmed; });
}

}  // namespace

Time Row::displayed(const Time& time) const {
  if (!by_attempt()) return time;
  return {-time.ln_time, -time.ln_high, -time.ln_low};
}

Row::Row(Subject subject, std::span<const std::vector<RareRepetition>> repetitions,
         bool is_interrupted)
    : subject_(std::move(subject)), is_interrupted_(is_interrupted) {
  for (const auto& each : repetitions) estimates_.push_back(estimate_of(each));
  std::vector<Estimate> first;
  std::vector<double> floors;
  for (std::size_t way = 0; way < subject_.ways.size(); ++way) {
    ways_.push_back(way_result(way));
    if (ways_.back().functions.empty()) {
      floors.push_back(*subject_.ways[way].ln_floor);
    } else {
      first.push_back(estimates_[ways_.back().functions.front()]);
    }
  }
  time_ = time_of_all(first, floors);
  constexpr double negligible = 12;  // exp of it moves no decimal that is shown
  for (WayResult& each : ways_) {
    if (each.functions.empty()) {
      const double floor = *subject_.ways[each.way].ln_floor;
      each.confirmed = std::isinf(floor) || floor > time_.ln_high + negligible;
    }
    confirmed_ = confirmed_ && each.confirmed;
  }
}

Time Row::time_of(const WayResult& way) const {
  if (!way.functions.empty()) return estimates_[way.functions.front()].time;
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  return {unbounded, *subject_.ways[way.way].ln_floor, unbounded};
}

WayResult Row::way_result(std::size_t way) const {
  WayResult result{.way = way};
  for (std::size_t i = 0; i < subject_.functions.size(); ++i) {
    if (subject_.functions[i].way == way) result.functions.push_back(i);
  }
  const std::string& refusal = subject_.ways[way].refusal;
  if (result.functions.empty()) return result;
  if (!refusal.empty()) result.warnings.push_back("no estimate by " + refusal);
  const Estimate& chosen = estimates_[result.functions.front()];
  const Time& first = chosen.time;
  for (std::size_t i = 1; i < result.functions.size(); ++i) {
    const Estimate& other = estimates_[result.functions[i]];
    if (overlap(first, other.time)) {
      result.confirmed = result.confirmed || (chosen.warnings.empty() && other.warnings.empty());
      continue;
    }
    result.warnings.push_back(fmt::format("{} and {} do not agree: a route may be missing",
                                          subject_.functions[result.functions.front()].name,
                                          subject_.functions[result.functions[i]].name));
  }
  if (result.functions.size() == 1) {
    result.confirmed = subject_.functions[result.functions.front()].name == exact_name;
    if (!result.confirmed) {
      result.warnings.emplace_back("one importance function alone confirms nothing");
    }
  }
  const auto bound = subject_.ways[way].ln_bound;
  if (bound && std::isfinite(first.ln_high) && first.ln_high < *bound) {
    result.confirmed = false;
    result.warnings.emplace_back("the estimate is below the union bound, which is an error of it");
  }
  return result;
}

std::string Row::json() const {
  Json json = subject_.json();
  add_time(json, displayed(time_), by_attempt());
  if (fits_double(time_.ln_time) && !is_lower_bound(ways_)) {
    json[by_attempt() ? "probability" : "expected_holding"] =
        six_digits(exponential_of(displayed(time_).ln_time));
  }
  json["confirmed"] = confirmed_;
  if (is_interrupted_) json["interrupted"] = true;
  Json ways = Json::array();
  for (const WayResult& each : ways_) add_way(ways, each);
  json["ways"] = ways;
  return json.dump();
}

void Row::add_way(Json& ways, const WayResult& each) const {
  const Subject::Way& info = subject_.ways[each.way];
  Json way{{"way", info.name}};
  add_time(way, displayed(time_of(each)), by_attempt());
  way["confirmed"] = each.confirmed;
  if (info.ln_bound) way["ln_union_bound"] = number(shown(*info.ln_bound));
  if (each.functions.empty()) {
    way["impossible"] = std::isinf(*info.ln_floor);
    way["no_estimate"] = info.refusal;
  }
  Json functions = Json::array();
  for (const std::size_t i : each.functions) {
    functions.push_back(function_json(subject_.functions[i].name, estimates_[i],
                                      displayed(estimates_[i].time), by_attempt()));
  }
  way["importance"] = functions;
  way["warnings"] = Json(each.warnings);
  ways.push_back(way);
}

std::string Row::csv_header() const {
  return fmt::format("protocol,n,params,init,seed,particles,way,importance,{},ln_low,ln_high,"
                     "confirmed,ln_union_bound,repetitions,zeros,sd_ln,levels,last_factor,"
                     "interrupted",
                     value_name(by_attempt()));
}

std::string Row::csv_line(std::string_view way, std::string_view function, const Time& time,
                          bool confirmed, const Estimate* estimate) const {
  const Time shown_time = displayed(time);
  std::string params;
  for (const Subject::Parameter& each : subject_.parameters) {
    params += (params.empty() ? "" : " ") + each.name + "=";
    std::visit([&](const auto& value) { params += fmt::format("{}", value); }, each.value);
  }
  std::string line =
      fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}", subject_.protocol, subject_.n,
                  csv_field(params), subject_.start, subject_.seed, subject_.particles, way,
                  csv_field(std::string(function)), text(shown(shown_time.ln_time)),
                  text(shown(shown_time.ln_low)), text(shown(shown_time.ln_high)), confirmed);
  std::string bound;
  for (const Subject::Way& each : subject_.ways) {
    if (each.name == way && each.ln_bound) bound = text(shown(*each.ln_bound));
  }
  line += "," + bound;
  if (estimate != nullptr) {
    line += fmt::format(",{},{},{:.4f},{},{:.6f}", estimate->repetitions, estimate->zeros,
                        estimate->sd_ln_rate, estimate->levels, estimate->last_factor);
  } else {
    line += ",,,,,";
  }
  return line + fmt::format(",{}\n", is_interrupted_);
}

std::string Row::csv() const {
  std::string lines;
  for (const WayResult& way : ways_) {
    const std::string& name = subject_.ways[way.way].name;
    for (const std::size_t i : way.functions) {
      lines += csv_line(name, subject_.functions[i].name, estimates_[i].time, way.confirmed,
                        &estimates_[i]);
    }
    if (way.functions.empty()) lines += csv_line(name, "", time_of(way), way.confirmed, nullptr);
  }
  return lines + csv_line("all", "", time_, confirmed_, nullptr);
}

std::string Row::table() const {
  std::string text =
      fmt::format("{}   n = {}   init {}   seed {}   {} particles\n", subject_.protocol, subject_.n,
                  subject_.start, subject_.seed, subject_.particles);
  if (by_attempt()) {
    text +=
        fmt::format("attempts of at most {} interactions\n", to_string(*subject_.attempt_limit));
  }
  if (is_interrupted_) text += "interrupted: fewer repetitions than asked for\n";
  for (const WayResult& way : ways_) {
    const Subject::Way& info = subject_.ways[way.way];
    text += fmt::format("\n{}: {}\n", info.name, info.meaning);
    for (const std::size_t i : way.functions) text += function_line(i);
    if (way.functions.empty()) {
      text += fmt::format("  no estimate: {}\n", info.refusal);
      if (std::isfinite(*info.ln_floor)) {
        text += by_attempt() ? fmt::format("  bound            ln P < {:.4f}\n", -*info.ln_floor)
                             : fmt::format("  bound            ln T > {:.4f}\n", *info.ln_floor);
      }
      continue;
    }
    if (info.ln_bound && std::isfinite(*info.ln_bound)) {
      text += fmt::format("  union bound      ln T > {:.4f}\n", *info.ln_bound);
    }
    for (const std::string& warning : way.warnings) {
      text += fmt::format("  warning: {}\n", warning);
    }
  }
  return text + ending();
}

std::string Row::function_line(std::size_t function) const {
  const Estimate& estimate = estimates_[function];
  const std::string& name = subject_.functions[function].name;
  if (name == exact_name) {
    const std::string size =
        estimate.configurations == 0
            ? ""
            : fmt::format(" chain of {} configurations,", estimate.configurations);
    return fmt::format("  {:<16} ln T = {:.4f}  {} certified\n", name, estimate.time.ln_time, size);
  }
  std::string text =
      fmt::format("  {:<16} ln {} = {}   {} repetitions, sd of ln {} {:.2f}", name,
                  by_attempt() ? 'P' : 'T', interval_text(displayed(estimate.time)),
                  estimate.repetitions, by_attempt() ? 'P' : 'J', estimate.sd_ln_rate);
  if (estimate.levels > 0) {
    text += fmt::format(", {} levels, last factor {:.2f}", estimate.levels, estimate.last_factor);
  }
  text += '\n';
  for (const std::string& warning : estimate.warnings) {
    text += fmt::format("    warning: {}\n", warning);
  }
  return text;
}

std::string Row::ending() const {
  const bool is_bound = is_lower_bound(ways_);
  const char* const verdict = confirmed_ ? "confirmed"
                              : is_bound ? "a lower bound"
                                         : "not confirmed";
  if (confirmed_ && std::isinf(time_.ln_time)) return "\nit cannot fail in these ways\n";
  if (by_attempt()) {
    const Time probability = displayed(time_);
    return fmt::format(
        "\nln of the probability that an attempt fails: {}   {}\nprobability: {:.4g} ({:.4g} to "
        "{:.4g})\n",
        interval_text(probability), verdict, exponential_of(probability.ln_time),
        exponential_of(probability.ln_low), exponential_of(probability.ln_high));
  }
  // A protocol file says what it waits for.
  const std::string& meaning = subject_.ways.front().meaning;
  const bool is_file = !subject_.source_hash.empty() && !meaning.empty();
  const std::string what = is_file ? "time until " + meaning : "holding time";
  std::string text = fmt::format("\nln of the expected {}, in interactions: {}   {}\n", what,
                                 interval_text(time_), verdict);
  if (fits_double(time_.ln_time) && !is_bound) {
    text += fmt::format("expected {}: {:.4g} interactions\n", what, exponential_of(time_.ln_time));
  }
  return text;
}

std::string rows_text(std::span<const Row* const> rows, std::string_view format) {
  const std::string header = rows.front()->csv_header();
  std::string text;
  for (const Row* const row : rows) {
    if (format == "csv") {
      if (row->csv_header() != header) {
        throw Error("times and probabilities have different columns: choose cells with --where");
      }
      text += row->csv();
    } else {
      text += row->json() + (format == "json" && row != rows.back() ? ",\n" : "\n");
    }
  }
  if (format == "csv") return header + '\n' + text;
  return format == "json" ? "{\"rows\":[\n" + text + "]}\n" : text;
}

}  // namespace conclave::rare
