#include "conclave/sweep/rare_cell.hpp"

namespace conclave::sweep {

RareCell::RareCell(const experiment::RunText& words, const KeptTexts& texts) {
  const catalog::Entry entry = entry_of(words.protocol, texts);
  experiment::require_rare(entry);
  const catalog::RareRequest request = experiment::rare_request_of(entry, words);
  rare_ = entry.rare(request);
  subject_ = experiment::subject_of(*rare_, request);
  head_ = subject_.head();
  pilots_ = std::vector<Pilot>(subject_.functions.size());
}

void RareCell::choose_levels_of(std::size_t function, const KeepComputing& keep_computing) {
  if (pilots_[function].is_done) return;
  rare_->pilot(function, keep_computing);
  pilots_[function].is_done = true;
}

// First the functions that no other thread is at work on, then what is left.
void RareCell::choose_levels(const KeepComputing& keep_computing) {
  for (std::size_t i = 0; i < pilots_.size(); ++i) {
    const std::unique_lock lock(pilots_[i].mutex, std::try_to_lock);
    if (lock.owns_lock()) choose_levels_of(i, keep_computing);
  }
  for (std::size_t i = 0; i < pilots_.size(); ++i) {
    const std::scoped_lock lock(pilots_[i].mutex);
    choose_levels_of(i, keep_computing);
  }
}

RareCell::Repetition RareCell::run(std::uint64_t repetition, const KeepComputing& keep_computing) {
  choose_levels(keep_computing);
  std::vector<RareRepetition> results;
  Repetition done;
  for (std::size_t i = 0; i < subject_.functions.size(); ++i) {
    results.push_back(rare_->run(i, repetition, keep_computing));
    done.interactions += results.back().interactions;
  }
  done.row = experiment::repetition_json(subject_, head_, repetition, results);
  return done;
}

}  // namespace conclave::sweep
