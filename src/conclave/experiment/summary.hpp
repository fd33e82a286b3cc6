// The statistics of a run, as a table for people and as one JSON object.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "conclave/base/statistics.hpp"
#include "conclave/base/text_table.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/experiment/row.hpp"

namespace conclave::experiment {

// Collects the rows of one run, which must outlive it; keeps eight bytes per trial and quantity.
// Times and observables are those of converged trials, or of all that ended as planned where the
// plan has a horizon; others are only counted. Configurations that were kept are averaged.
class RunSummary {
 public:
  explicit RunSummary(const catalog::PreparedRun& run) : run_(&run), format_(run) {}

  // In the order of trials.
  void add(const Row& row);
  // The run was stopped before it had all `asked` trials. Those that were added are the first ones
  // in trial order, so short trials are not preferred; table and JSON say that there are fewer.
  void mark_interrupted(std::uint64_t asked) { asked_ = asked; }

  std::uint64_t trials() const { return trials_; }
  std::uint64_t converged() const { return trials_ - not_converged(); }
  std::uint64_t not_converged() const { return limited_ + hopeless_; }

  // No line is longer than `width` characters where names of one word allow it.
  std::string table(std::size_t width = table_width) const;
  // The same statistics as one object.
  std::string json() const;

 private:
  struct Column {
    std::string name;
    std::vector<double> values;
  };
  Column& column(std::string_view name);
  std::string outcome_text() const;
  std::string undone_text(std::size_t width) const;
  std::string census_text() const;
  std::string heading(std::size_t width) const;
  std::string values_table(std::size_t width) const;
  std::string statistics_table(std::size_t width) const;
  void add_network(const Row& row);

  const catalog::PreparedRun* run_;
  RowFormat format_;
  std::uint64_t trials_ = 0;
  std::uint64_t asked_ = 0;  // 0: all trials are there
  std::uint64_t limited_ = 0;
  std::uint64_t hopeless_ = 0;
  std::uint64_t until_ = 0;               // reached the horizon
  std::uint64_t until_before_ = 0;        // and had converged by then
  std::vector<Column> columns_;           // of converged trials, or all with a horizon
  std::map<std::string, double> census_;  // agents in a state at the end, in all trials together
};

}  // namespace conclave::experiment
