#include "conclave/chain/detail/fronts.hpp"

#include <algorithm>
#include <utility>

namespace conclave::chain {
namespace {

constexpr std::uint32_t none = Fronts::none;
constexpr std::size_t most_pivots = 64;  // wider fronts are split, so that panels stay in cache
constexpr std::size_t small_front = 8;   // fronts of fewer pivots are joined more readily
constexpr double tolerated_zeros = 0.2;  // of a front that joins two

// The pattern and its mirror image, both under the given order.
Pattern symmetric(const Pattern& pattern, std::span<const std::uint32_t> order) {
  std::vector<std::uint32_t> place(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  Pattern result;
  result.starts.assign(order.size() + 1, 0);
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    for (const std::uint32_t j : pattern.row(i)) {
      ++result.starts[place[i] + 1];
      ++result.starts[place[j] + 1];
    }
  }
  for (std::size_t i = 0; i < order.size(); ++i) result.starts[i + 1] += result.starts[i];
  result.columns.resize(result.starts.back());
  std::vector<std::uint64_t> ends(result.starts.begin(), result.starts.end() - 1);
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    for (const std::uint32_t j : pattern.row(i)) {
      result.columns[ends[place[i]]++] = place[j];
      result.columns[ends[place[j]]++] = place[i];
    }
  }
  return result;
}

// Liu's elimination tree: the parent of a place is the first that its elimination couples it to.
std::vector<std::uint32_t> elimination_tree(const Pattern& pattern) {
  std::vector<std::uint32_t> parents(pattern.size(), none);
  std::vector<std::uint32_t> ancestors(pattern.size(), none);
  for (std::uint32_t i = 0; i < pattern.size(); ++i) {
    for (std::uint32_t j : pattern.row(i)) {
      while (j < i && j != none) {
        const std::uint32_t next = std::exchange(ancestors[j], i);
        if (next == none) parents[j] = i;
        j = next;
      }
    }
  }
  return parents;
}

// The places so that all of a subtree come together, just before its root.
std::vector<std::uint32_t> postorder(const std::vector<std::uint32_t>& parents) {
  const auto n = static_cast<std::uint32_t>(parents.size());
  std::vector<std::uint32_t> first_child(n, none);
  std::vector<std::uint32_t> sibling(n, none);
  for (std::uint32_t i = n; i-- > 0;) {
    if (parents[i] != none) sibling[i] = std::exchange(first_child[parents[i]], i);
  }
  std::vector<std::uint32_t> order;
  order.reserve(n);
  for (std::uint32_t root = 0; root < n; ++root) {
    if (parents[root] != none) continue;
    for (std::uint32_t i = root; i != none;) {
      while (first_child[i] != none) i = std::exchange(first_child[i], none);
      // All children are done.
      order.push_back(i);
      i = i == root ? none : sibling[i] != none ? sibling[i] : parents[i];
    }
  }
  return order;
}

// Finds the neighbours of one place after the other and the fronts that they form.
class Planner {
 public:
  Planner(const Pattern& pattern, std::vector<std::uint32_t> parents, Fronts& fronts)
      : pattern_(pattern),
        parents_(std::move(parents)),
        fronts_(fronts),
        marks_(pattern.size(), none),
        last_child_(pattern.size(), none),
        previous_(pattern.size(), none) {}

  void plan() {
    for (std::uint32_t i = 0; i < pattern_.size(); ++i) {
      find_neighbours(i);
      if (i == 0 || !joins(i)) {
        end_front(i);
        inside_ = 1;
      } else {
        ++inside_;
      }
      std::swap(current_, found_);
    }
    end_front(static_cast<std::uint32_t>(pattern_.size()));
  }

 private:
  // Of place i, into found_: its own behind it, and those that finished fronts hand on to it, and
  // those of the front that i may still join.
  void find_neighbours(std::uint32_t i) {
    found_.clear();
    const auto add = [&](std::uint32_t j) {
      if (j <= i || marks_[j] == i) return;
      marks_[j] = i;
      found_.push_back(j);
    };
    for (const std::uint32_t j : pattern_.row(i)) add(j);
    for (std::uint32_t f = last_child_[i]; f != none; f = previous_[f]) {
      for (const std::uint32_t j : fronts_.outside(f)) add(j);
    }
    if (i > 0 && parents_[i - 1] == i) {
      for (const std::uint32_t j : current_) add(j);
    }
  }

  // Whether place i continues the front that ends before it. It may have more neighbours, which
  // makes zeros in the rows of those before, if the front is small.
  bool joins(std::uint32_t i) const {
    if (parents_[i - 1] != i || inside_ >= most_pivots) return false;
    const std::size_t more = found_.size() + 1 - current_.size();
    if (more == 0) return true;
    return inside_ < small_front &&
           static_cast<double>(more) <= tolerated_zeros * static_cast<double>(found_.size());
  }

  // The front that ends before place `end`, whose neighbours are current_.
  void end_front(std::uint32_t end) {
    if (end == 0) return;
    const auto front = static_cast<std::uint32_t>(fronts_.count());
    std::ranges::sort(current_);
    const std::uint32_t parent = current_.empty() ? none : current_.front();
    fronts_.neighbours.insert(fronts_.neighbours.end(), current_.begin(), current_.end());
    fronts_.starts.push_back(fronts_.neighbours.size());
    fronts_.firsts.push_back(end);
    fronts_.parents.push_back(parent);  // a place; the front is known later
    if (parent != none) {
      previous_[front] = std::exchange(last_child_[parent], front);
    }
    const auto pivots = static_cast<double>(inside_);
    const auto outside = static_cast<double>(current_.size());
    fronts_.work += pivots * (pivots + outside) * (pivots + outside);
    fronts_.entries += pivots * (pivots + 2 * outside);
  }

  const Pattern& pattern_;
  std::vector<std::uint32_t> parents_;
  Fronts& fronts_;
  std::vector<std::uint32_t> marks_;
  std::vector<std::uint32_t> last_child_;  // per place, a front whose first neighbour it is
  std::vector<std::uint32_t> previous_;    // per front, another one with the same first neighbour
  std::vector<std::uint32_t> current_, found_;
  std::size_t inside_ = 1;
};

void name_parents(Fronts& fronts) {
  std::vector<std::uint32_t> front_of(fronts.order.size());
  for (std::uint32_t f = 0; f < fronts.count(); ++f) {
    std::fill(front_of.begin() + fronts.firsts[f], front_of.begin() + fronts.firsts[f + 1], f);
  }
  for (std::uint32_t& parent : fronts.parents) {
    if (parent != none) parent = front_of[parent];
  }
}

}  // namespace

Fronts planned_fronts(const Pattern& pattern, std::span<const std::uint32_t> order) {
  Fronts fronts;
  {
    const Pattern as_given = symmetric(pattern, order);
    for (const std::uint32_t i : postorder(elimination_tree(as_given))) {
      fronts.order.push_back(order[i]);
    }
  }
  const Pattern ordered = symmetric(pattern, fronts.order);
  Planner(ordered, elimination_tree(ordered), fronts).plan();
  name_parents(fronts);
  return fronts;
}

}  // namespace conclave::chain
