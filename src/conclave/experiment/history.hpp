// Histories as files: the count of every state, or of every value of a field, at each look of each
// trial. A wide table has a column per state, with 0 where no agent is in it, so it is written when
// all trials are done; a long one has a line per trial, time and occupied state; .npy is the wide
// table as NumPy's own format, whose rows np.load(FILE, mmap_mode="r") reads without copying.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conclave/base/output.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/model/trace.hpp"

namespace conclave::experiment {

enum class HistoryFormat : std::uint8_t { wide, long_table, npy };

// By its name (wide, long or npy), or by the ending of the file where the name is empty: npy for
// .npy, wide otherwise. Throws Error for another name.
HistoryFormat history_format(const std::string& name, const std::string& path);

// The value of a field in the name of a state: "3" in "{digit = 3, marked = true}" and in "leader=1
// epoch=3" for epoch; "-" in a state without it.
std::string field_value(std::string_view state, const std::string& field);

// Throws Error, with the nearest field, unless one of the states has the field or it is among the
// declared ones.
void check_field(const std::string& field, std::span<const std::string> states,
                 std::span<const Variable> declared);

class HistoryWriter {
 public:
  // With a field, counts agents by its value instead of by their whole state; states need not have
  // those that are declared. Throws Error if the file cannot be written.
  HistoryWriter(const std::string& path, HistoryFormat format, std::string field,
                std::span<const Variable> declared);

  // The history of the next trial. Keeps 16 bytes per look and occupied state, except in long
  // tables.
  void add(std::uint64_t trial, const History& history);
  // Must be the last call.
  void finish();

 private:
  using Counts = std::vector<std::pair<std::uint32_t, AgentCount>>;  // by column
  struct Line {
    std::uint64_t trial;
    double time;
    Counts counts;
  };

  std::vector<std::uint32_t> columns_of(const History& history);
  void write_long(const Line& line);
  void write_wide();
  void write_npy();

  HistoryFormat format_;
  std::string field_;
  std::span<const Variable> declared_;
  Output output_;
  std::vector<std::string> columns_;
  std::vector<Line> lines_;
};

// Configurations as files, so that a run can be continued or branched: CSV with the columns state
// and count, one line per run of equal agents in their order (on the complete graph, where the
// order does not matter, one line per state), and a column trial before them where there are
// several.
std::string configuration_header(bool has_trials);
std::string configuration_lines(std::uint64_t trial, bool has_trials,
                                const std::vector<NamedCount>& agents);

// Reads a file of one trial, which may come from a stranger: at most 256 MiB. States are names
// here; the protocol says later whether it has them. Throws Error with the place of what is wrong.
std::shared_ptr<const catalog::GivenStart> read_configuration(const std::string& path);

// How many agents it has.
Interactions agents_in(const catalog::GivenStart& start);

}  // namespace conclave::experiment
