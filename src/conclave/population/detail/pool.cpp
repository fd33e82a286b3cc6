#include "conclave/population/detail/pool.hpp"

namespace conclave::population::detail {

void Pool::make_table() {
  __extension__ using Wide = unsigned __int128;
  const std::size_t ranks = counts_.size();
  at_start_ = counts_;
  total_at_start_ = total_;
  threshold_.assign(ranks, total_);
  alias_.resize(ranks);
  std::vector<Wide> left(ranks);  // units of each rank that are in no bucket yet
  std::vector<std::uint32_t> small;
  std::vector<std::uint32_t> large;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    left[rank] = static_cast<Wide>(counts_[rank]) * ranks;
    alias_[rank] = static_cast<std::uint32_t>(rank);
    (left[rank] < total_ ? small : large).push_back(static_cast<std::uint32_t>(rank));
  }
  while (!small.empty() && !large.empty()) {
    const std::uint32_t poor = small.back();
    const std::uint32_t rich = large.back();
    small.pop_back();
    threshold_[poor] = static_cast<AgentCount>(left[poor]);
    alias_[poor] = rich;
    left[rich] -= total_ - left[poor];
    if (left[rich] >= total_) continue;
    large.pop_back();
    small.push_back(rich);
  }
}

}  // namespace conclave::population::detail
