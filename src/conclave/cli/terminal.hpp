// Parts that all commands share: text on the terminal, numbers from options, the interrupt key.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/experiment/option_values.hpp"

namespace conclave::cli {

// Before anything else: makes sure that descriptors 0, 1 and 2 are taken, so that no file is opened
// as one of them, and that a reader who leaves is an error of write() and not the end of the
// process.
void prepare_streams();

bool error_is_terminal();

// How many characters fit on a line of the file that --output names, empty for standard output, and
// of standard error: 100 where it is no terminal. The terminal is queried each time, so that
// progress lines follow when it is resized.
std::size_t output_width(const std::string& output = {});
std::size_t error_width();

// Prints a message for people on standard error. A message that cannot be printed never changes
// what a command does. Control characters become visible, except for a newline at the end; a
// message of more than 4000 bytes is cut.
void tell_text(std::string_view text);

template <class... Arguments>
void tell(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  tell_text(fmt::format(format, std::forward<Arguments>(arguments)...));
}

// The values of options; see there.
using experiment::count_option;
using experiment::count_option_64;
using experiment::list_option;
using experiment::param_options;
using experiment::real_option;

// The value of --format, one of those allowed; throws Error for others. `text`, which some commands
// said in earlier versions, is taken for table.
std::string format_option(const std::string& given, std::span<const std::string_view> allowed);
inline constexpr std::array<std::string_view, 2> table_or_json{"table", "json"};
inline constexpr std::array<std::string_view, 3> table_formats{"table", "csv", "json"};
inline constexpr std::array<std::string_view, 4> row_formats{"table", "jsonl", "csv", "json"};

// A number as tables show it: "812.3", four significant digits.
std::string four_digits(double value);

// Wall-clock seconds since then, for display only.
double seconds_since(std::chrono::steady_clock::time_point begin);

// Breaks text at spaces so that no line is longer than `width`; lines after the first are indented.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

// Becomes true at the first SIGINT, SIGTERM or SIGHUP; a second one ends the process at once. A
// signal that was ignored when the program started (nohup) stays ignored.
const std::atomic<bool>& interrupted_flag();

// From now on, and until interrupted_flag() is called, SIGINT, SIGTERM or SIGHUP ends the process
// at once with status 130: for what has nothing to keep. So begins every command.
void exit_when_interrupted();

}  // namespace conclave::cli
