#include "conclave/cli/compare_table.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/json.hpp"
#include "conclave/base/statistics.hpp"
#include "conclave/base/text_table.hpp"
#include "conclave/cli/terminal.hpp"
#include "conclave/experiment/paper_table.hpp"
#include "conclave/experiment/row.hpp"

namespace conclave::cli {
namespace {

using experiment::MeasuredRow;
using experiment::PaperTable;
using experiment::TableUnit;

using Cells = std::vector<std::string>;

// The name of what is measured, in a row for scripts.
std::string_view name_of(TableUnit unit) {
  constexpr std::array<std::string_view, 3> names{"parallel_time", "interactions",
                                                  "messages_per_node"};
  return names[static_cast<std::size_t>(unit)];
}

// "812.3 +- 4.1": the mean with half the width of its 95 % interval.
std::string mean_text(const Summary& summary) {
  if (summary.count == 0) return "-";
  if (summary.count == 1) return four_digits(summary.mean);
  const Interval interval = mean_interval(summary);
  return fmt::format("{} +- {:.2g}", four_digits(summary.mean), (interval.high - interval.low) / 2);
}

bool is_run(const MeasuredRow& row) { return row.refusal.empty(); }

// Prints the bounds of the papers, without their constants.
void print_promises(const PaperTable& table) {
  std::vector<TextTable::Column> columns{{"WORK", TextTable::Align::left, true}};
  for (const std::string_view heading : table.headings) {
    if (!heading.empty()) columns.push_back({std::string(heading), TextTable::Align::left, true});
  }
  TextTable lines(std::move(columns));
  for (const auto& row : table.rows) {
    Cells cells{std::string(row.work)};
    for (std::size_t i = 0; i < table.headings.size(); ++i) {
      if (!table.headings[i].empty()) cells.emplace_back(row.promised[i]);
    }
    lines.add(std::move(cells));
  }
  fmt::print("{}", lines.text(output_width()));
}

TextTable measured_table(TableUnit unit) {
  using enum TextTable::Align;
  if (unit == TableUnit::messages) {
    return TextTable({{"WORK", left, true},
                      {"PROTOCOL", left},
                      {"SOURCE", left},
                      {"MESSAGES / NODE", left},
                      {"TIME", left},
                      {"ELECTED", left}});
  }
  return TextTable({{"WORK", left, true},
                    {"PROTOCOL", left},
                    {"SOURCE", left},
                    {"STATES", left},
                    {unit == TableUnit::parallel_time ? "PARALLEL TIME" : "INTERACTIONS", left},
                    {"LONGEST", left},
                    {"CONVERGED", left}});
}

Cells cells_of(TableUnit unit, const MeasuredRow& row) {
  Cells cells{std::string(row.row->work), std::string(row.row->protocol), std::string(row.source)};
  if (unit != TableUnit::messages) {
    cells.push_back(row.states == Interactions() ? "-" : to_string(row.states));
  }
  cells.push_back(mean_text(row.amount));
  const bool has_values = row.amount.count > 0;
  if (unit == TableUnit::messages) {
    cells.push_back(mean_text(row.time));
  } else {
    cells.push_back(has_values ? four_digits(row.amount.maximum) : "-");
  }
  cells.push_back(fmt::format("{}/{}", row.converged, row.trials));
  return cells;
}

// The rows of one size that were run, and below them why the others were not.
void print_measured(TableUnit unit, std::span<const MeasuredRow> rows) {
  fmt::print("\nn = {}\n", to_string(rows.front().n));
  TextTable lines = measured_table(unit);
  for (const MeasuredRow& row : rows) {
    if (is_run(row)) lines.add(cells_of(unit, row));
  }
  fmt::print("{}", lines.text(output_width()));
  for (const MeasuredRow& row : rows) {
    if (is_run(row)) continue;
    fmt::print("{}\n", wrapped(fmt::format("not run: {}: {}", row.row->work, row.refusal),
                               output_width(), 2));
  }
}

void print_table(const PaperTable& table, const CompareOptions& options,
                 const std::vector<MeasuredRow>& rows) {
  const experiment::RunText& words = options.words;
  fmt::print("{}\n{} trial{}, seed {}, {}\n\n", table.title, options.trials,
             options.trials == "1" ? "" : "s", words.seed,
             table.unit == TableUnit::messages
                 ? fmt::format("delay {}, wake-up {}", words.delay.empty() ? "unit" : words.delay,
                               words.wakeup.empty() ? "all" : words.wakeup)
                 : fmt::format("init {}",
                               words.init.empty() ? "of each protocol's own choice" : words.init));
  print_promises(table);
  for (std::size_t begin = 0; begin < rows.size(); begin += table.rows.size()) {
    const std::size_t end = std::min(begin + table.rows.size(), rows.size());
    print_measured(table.unit, std::span(rows).subspan(begin, end - begin));
  }
  fmt::print("\n{}\n",
             wrapped("First what the papers promise, without constants; then what was measured: "
                     "means with 95 % intervals over the trials that ended.",
                     output_width(), 0));
}

void print_csv(const PaperTable& table, const std::vector<MeasuredRow>& rows) {
  fmt::print("table,work,promised_1,promised_2,promised_3,protocol,source,n,init,states,trials,"
             "converged,{},longest,time,not_run\n",
             name_of(table.unit));
  for (const MeasuredRow& row : rows) {
    const auto field = [](auto text) { return csv_field(std::string(text)); };
    const auto value = [](const Summary& summary, double Summary::*member) {
      return summary.count == 0 ? std::string() : json_number(summary.*member);
    };
    const auto& promised = row.row->promised;
    fmt::print("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", table.name,
               field(row.row->work), field(promised[0]), field(promised[1]), field(promised[2]),
               row.row->protocol, row.source, to_string(row.n), row.start,
               row.states == Interactions() ? "" : to_string(row.states), row.trials, row.converged,
               value(row.amount, &Summary::mean), value(row.amount, &Summary::maximum),
               value(row.time, &Summary::mean), field(row.refusal));
  }
}

// Above 64 bits, digits in a string.
Json json_count(Interactions count) {
  const auto small = count.as_uint64();
  return small ? Json(*small) : Json(to_string(count));
}

Json json_of(const PaperTable& table, const MeasuredRow& row) {
  Json promised = Json::object();
  for (std::size_t i = 0; i < table.headings.size(); ++i) {
    std::string heading(table.headings[i]);
    std::ranges::transform(heading, heading.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    if (!heading.empty()) promised[heading] = row.row->promised[i];
  }
  Json json{{"table", table.name},
            {"work", row.row->work},
            {"promised", std::move(promised)},
            {"n", json_count(row.n)}};
  if (!row.row->protocol.empty()) json["protocol"] = row.row->protocol;
  if (!is_run(row)) {
    json["not_run"] = row.refusal;
    return json;
  }
  json["source"] = row.source;
  json["init"] = row.start;
  if (row.states != Interactions()) json["states"] = json_count(row.states);
  json["trials"] = row.trials;
  json["converged"] = row.converged;
  if (row.amount.count == 0) return json;
  json[std::string(name_of(table.unit))] = row.amount.mean;
  json["longest"] = row.amount.maximum;
  if (row.time.count > 0) json["time"] = row.time.mean;
  return json;
}

void print_json(const PaperTable& table, const std::vector<MeasuredRow>& rows) {
  Json all = Json::array();
  for (const MeasuredRow& row : rows) all.push_back(json_of(table, row));
  fmt::print("{}\n", all.dump(2));
}

}  // namespace

Exit compare_table(const CompareOptions& options) {
  const PaperTable& table = experiment::find_paper_table(options.table);
  count_of(options.words, &experiment::RunText::seed);
  const std::string& sizes = options.words.n;
  const experiment::TableRequest request{
      .sizes = list_option("--n", sizes.empty() ? std::string(table.sizes) : sizes),
      .trials = count_option_64("--trials", options.trials, 1, 1'000'000),
      .words = options.words};
  for (const std::string& size : request.sizes) count_option("--n", size);
  if (options.format == "plan") {
    fmt::print("{}", experiment::plan_of(table, request));
    return Exit::done;
  }
  const std::atomic<bool>& stop = interrupted_flag();
  const std::vector<MeasuredRow> rows = experiment::measure_table(table, request, stop);
  if (options.format == "json") {
    print_json(table, rows);
  } else if (options.format == "csv") {
    print_csv(table, rows);
  } else {
    print_table(table, options, rows);
  }
  if (stop) return Exit::interrupted;
  const bool all_converged =
      std::ranges::all_of(rows, [](const MeasuredRow& row) { return row.converged == row.trials; });
  return all_converged ? Exit::done : Exit::not_converged;
}

}  // namespace conclave::cli
