// An emulated cluster, on which cluster_loop.hpp runs without a device: what is a thread there
// (device_threads.cuh) is an index here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "conclave/gpu/batch.hpp"
#include "conclave/gpu/cluster_loop.hpp"
#include "conclave/gpu/device_tally.hpp"
#include "conclave/gpu/device_trial.hpp"
#include "conclave/gpu/engine.hpp"
#include "conclave/gpu/layers.hpp"
#include "conclave/gpu/stretches.hpp"
#include "conclave/gpu/warp.hpp"

namespace conclave::gpu {

// See DeviceCrew for the contract.
class HostCrew : public HostAtomics {
 public:
  static constexpr int threads = 16;
  static constexpr std::uint32_t most_streams = 2;  // of random words, eight threads each
  static constexpr std::uint32_t words_per_lane = 48;

  template <class Action>
  void each(Action action) const {
    for (int thread = 0; thread < threads; ++thread) action(thread);
  }
  template <class Action>
  void first(Action action) const {
    action();
  }
  void sync() const {}

  using HostAtomics::take_one;
  static std::uint32_t take_one(std::uint32_t* counter, bool wants) {
    return wants ? (*counter)++ : 0;
  }
};

// See DeviceCluster for the contract.
class HostCluster : public HostAtomics {
  static constexpr std::uint32_t block_count = 3;
  static constexpr std::uint32_t near_words = 1u << 15;

 public:
  using Crew = HostCrew;
  static std::uint32_t blocks() { return block_count; }
  static std::uint32_t threads() { return block_count * HostCrew::threads; }

  template <class T>
  class Own {
   public:
    T& operator[](std::uint32_t thread) { return values_[thread]; }

   private:
    std::array<T, std::size_t{block_count} * HostCrew::threads> values_{};
  };

  template <class Action>
  void each_block(Action action) {
    const auto near = LayersMemory::in(near_.data(), near_words);
    for (std::uint32_t block = 0; block < block_count; ++block) action(HostCrew(), block, near);
  }
  template <class Action>
  void each(Action action) const {
    for (std::uint32_t thread = 0; thread < threads(); ++thread) action(thread);
  }
  template <class Action>
  void first(Action action) const {
    action();
  }
  void sync() const {}
  template <class Action>
  void sync(Action action) const {
    action();
  }

  template <class T>
  static void store(T* to, const T& value) {
    *to = value;
  }

 private:
  std::vector<std::uint32_t> near_ =
      std::vector<std::uint32_t>(LayersMemory::bytes(near_words) / sizeof(std::uint32_t));
};

// A batch on one emulated cluster. Trials that draw random numbers in interactions are given
// up (Finished::has_drawn).
template <class Cluster = HostCluster, ClusterProtocol P>
std::vector<Finished<P>> emulated_by_cluster(const P& protocol, const BatchRequest& request) {
  std::vector<std::unique_ptr<std::byte[]>> memory;
  const auto take = [&memory]<class T>(std::size_t count, T*& first) {
    memory.push_back(std::make_unique<std::byte[]>(count * sizeof(T)));
    first = reinterpret_cast<T*>(memory.back().get());
  };
  Cluster cluster;
  const auto size = StretchSize::of<typename Cluster::Crew>(request.n);
  const auto jumps = std::make_unique<TurnJumps>(size, cluster.blocks());
  const Schedule schedule{request.seed, request.n, size, jumps.get()};
  auto place = ClusterPlace<P, Cluster>::taken(schedule, DeviceTally<P>::words(protocol, request.n),
                                               cluster.blocks(), take);
  std::vector<typename Stored<P>::type> agents(request.n);
  place.agents = agents.data();
  place.protocol = &protocol;
  return run_here(protocol, request, [&](const Batch<P>& batch) {
    ClusterLoop<P, Cluster>(batch, cluster, place).run();
  });
}

}  // namespace conclave::gpu
