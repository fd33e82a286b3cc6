#include "conclave/population/detail/batch_record.hpp"

namespace conclave::population::detail {

void BatchRecord::begin(const StreamName& name) {
  places_ = Stream(name.with(Purpose::look));
  salt_ = places_.word();
  steps_.clear();
  taken_.clear();
  fresh_.clear();
}

void BatchRecord::add_collision(const Step& step) {
  steps_.push_back(step);
  taken_.insert(step.number);
}

void BatchRecord::add_revealed(std::uint64_t before, Step step) {
  do {
    step.number = 1 + places_.below64(before - 1);
  } while (!taken_.insert(step.number).second);
  steps_.push_back(step);
}

std::vector<Move> BatchRecord::changes(std::uint64_t done, std::uint64_t length) const {
  std::vector<Move> result;
  std::uint64_t fresh = done;
  for (const Step& step : steps_) {
    if (step.number > done) continue;
    --fresh;
    if (step.u != step.new_u) result.push_back({step.u, step.new_u, 1});
    if (step.v != step.new_v) result.push_back({step.v, step.new_v, 1});
  }
  const std::vector<Move> rest = fresh_.first(fresh, length - steps_.size(), salt_);
  result.insert(result.end(), rest.begin(), rest.end());
  return result;
}

}  // namespace conclave::population::detail
