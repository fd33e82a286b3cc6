#include "conclave/cli/progress_line.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <stop_token>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/printable.hpp"
#include "conclave/base/text_table.hpp"
#include "conclave/cli/terminal.hpp"

namespace conclave::cli {
namespace {

// In place of what the line showed before. It never reaches the last column, after which terminals
// go on in the next line.
void paint(LineParts parts) {
  for (LinePart& part : parts) part.text = printable(part.text);
  std::fputs(fmt::format("\r\033[K{}", fitted(std::move(parts), error_width() - 1)).c_str(),
             stderr);
  std::fflush(stderr);
}

std::string joined(const LineParts& parts) {
  std::string line;
  for (const LinePart& part : parts) line += (line.empty() ? "" : "   ") + part.text;
  return line;
}

}  // namespace

std::string fitted(LineParts parts, std::size_t width) {
  while (parts.size() > 1 && character_count(joined(parts)) > width) {
    parts.erase(std::ranges::min_element(parts, {}, &LinePart::weight));
  }
  return shortened(joined(parts), width);
}

std::string duration_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.2g} s", seconds);
  const auto whole = static_cast<std::uint64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

RepaintedLine::RepaintedLine(bool quiet, std::function<LineParts()> parts) {
  if (quiet || !error_is_terminal()) return;
  painter_ = std::jthread([parts = std::move(parts)](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    while (!wake.wait_for(lock, stop, std::chrono::milliseconds(200),
                          [&] { return stop.stop_requested(); })) {
      paint(parts());
    }
  });
}

RepaintedLine::~RepaintedLine() {
  if (!painter_.joinable()) return;
  painter_.request_stop();
  painter_.join();
  std::fputs("\r\033[K", stderr);
}

ProgressLine::ProgressLine(std::string label, std::uint64_t trials, experiment::Progress& progress,
                           bool quiet, std::string_view steps, TrialScale scale)
    : label_(std::move(label)),
      steps_(steps),
      trials_(trials),
      scale_(scale),
      progress_(progress),
      begin_(std::chrono::steady_clock::now()),
      line_(quiet, [this] { return parts(); }) {
  progress.shows_trials = scale.agents > 0 && !quiet && error_is_terminal();
}

LineParts ProgressLine::parts() const {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
  const std::uint64_t done = progress_.trials_done;
  const double seconds = elapsed.count();
  const double rate = progress_.interactions.load() / seconds;
  LineParts parts{{label_, 5},
                  {fmt::format("trial {} of {}", done, trials_), 7},
                  {fmt::format("{:.3g} {}/s", rate, steps_), 1},
                  {duration_text(seconds), 2}};
  if (done > 0) {
    const double left = seconds / static_cast<double>(done) * static_cast<double>(trials_ - done);
    parts.push_back({fmt::format("about {} left", duration_text(left)), 6});
  }
  add_trial(parts, seconds);
  return parts;
}

// "time 3.2e+06, leaders 158000   epoch 2   at most about 2 min left": of the trial looked at last.
// Only where a single trial runs is the time that it takes the time that has passed.
void ProgressLine::add_trial(LineParts& parts, double seconds) const {
  const auto latest = progress_.latest();
  if (!latest) {  // message passing offers no view of a trial under way
    const double steps = progress_.interactions.load();
    if (trials_ == 1 && steps > 0) parts.push_back({fmt::format("{:.3g} {}", steps, steps_), 4});
    return;
  }
  const double time = latest->interactions.as_double() / scale_.agents;
  parts.push_back({fmt::format("time {:.4g}, leaders {}", time, latest->leaders), 4});
  constexpr std::size_t most_observables = 2;
  for (std::size_t i = 0; i < std::min(most_observables, latest->observations.size()); ++i) {
    const Observation& observation = latest->observations[i];
    const std::string value = experiment::observation_text(observation);
    if (!value.empty()) parts.push_back({fmt::format("{} {}", observation.name, value), 0});
  }
  if (trials_ == 1 && scale_.most_time > 0 && time > 0) {
    const double left = seconds * (scale_.most_time / time - 1);
    parts.push_back({fmt::format("at most about {} left", duration_text(left)), 6});
  }
}

PhaseLine::PhaseLine(bool quiet, const std::atomic<bool>& stop)
    : shows_(!quiet && error_is_terminal()), stop_(stop) {}

PhaseLine::~PhaseLine() {
  if (shows_) std::fputs("\r\033[K", stderr);
}

bool PhaseLine::operator()(std::string_view what, std::uint64_t done, std::uint64_t total) {
  if (!shows_) return !stop_;
  const auto now = std::chrono::steady_clock::now();
  if (what != last_) {
    begin_ = now;
    done_then_ = done;
    total_then_ = total;
  }
  if (what != last_ || now - shown_ > std::chrono::milliseconds(200)) {
    LineParts parts{{std::string(what), 1}};
    if (total > 0) parts.push_back({fmt::format("{} of {}", done, total), 0});
    if (const std::string rest = left(done, total); !rest.empty()) parts.push_back({rest, 0});
    paint(std::move(parts));
    shown_ = now;
    last_ = what;
  }
  return !stop_;
}

// Nothing before a second has passed, since the first steps are often slower than the rest.
std::string PhaseLine::left(std::uint64_t done, std::uint64_t total) const {
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin_;
  if (total != total_then_ || done <= done_then_ || elapsed < std::chrono::seconds(1)) return {};
  const double share = static_cast<double>(total - done) / static_cast<double>(done - done_then_);
  return fmt::format("about {} left", duration_text(elapsed.count() * share));
}

}  // namespace conclave::cli
