#include "conclave/population/detail/pool.hpp"

namespace conclave::population::detail {

void Pool::make_table() {
  __extension__ using Wide = unsigned __int128;
  const std::size_t ranks = counts_.size();
  // Half of the spare agents are spread evenly, for a rank that is empty now may grow.
  most_.resize(ranks);
  most_in_all_ = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    most_[rank] = counts_[rank] + counts_[rank] / 16 + total_ / 16 / ranks;
    most_in_all_ += most_[rank];
  }
  threshold_.assign(ranks, most_in_all_);
  alias_.resize(ranks);
  std::vector<Wide> left(ranks);  // units of each rank that are in no bucket yet
  std::vector<std::uint32_t> small;
  std::vector<std::uint32_t> large;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    left[rank] = static_cast<Wide>(most_[rank]) * ranks;
    alias_[rank] = static_cast<std::uint32_t>(rank);
    (left[rank] < most_in_all_ ? small : large).push_back(static_cast<std::uint32_t>(rank));
  }
  while (!small.empty() && !large.empty()) {
    const std::uint32_t poor = small.back();
    const std::uint32_t rich = large.back();
    small.pop_back();
    threshold_[poor] = static_cast<AgentCount>(left[poor]);
    alias_[poor] = rich;
    left[rich] -= most_in_all_ - left[poor];
    if (left[rich] >= most_in_all_) continue;
    large.pop_back();
    small.push_back(rich);
  }
}

}  // namespace conclave::population::detail
