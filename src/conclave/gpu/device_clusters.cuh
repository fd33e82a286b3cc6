// Starts trials in clusters (cluster_loop.hpp) and owns their memory.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "conclave/gpu/cluster_loop.hpp"
#include "conclave/gpu/device_memory.cuh"
#include "conclave/gpu/device_tally.hpp"
#include "conclave/gpu/device_threads.cuh"
#include "conclave/gpu/device_trial.hpp"
#include "conclave/gpu/engine.hpp"
#include "conclave/gpu/stretches.hpp"

namespace conclave::gpu {

// Near all threads of a block, before its memory for layers.
template <ClusterProtocol P>
struct alignas(16) ClusterShared {
  ClusterPlace<P, DeviceCluster> place;
  alignas(P) std::byte protocol[sizeof(P)];
};

// The kernel: clusters of `blocks` blocks each run trials of the batch until none is left. Does
// nothing on devices below compute capability 9.0.
template <ClusterProtocol P>
__global__ void __launch_bounds__(DeviceCrew::threads)
    run_clusters(Batch<P> batch, const ClusterPlace<P, DeviceCluster>* places, std::uint32_t blocks,
                 std::uint32_t near_words) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ unsigned char memory[];
  auto& shared = *reinterpret_cast<ClusterShared<P>*>(memory);
  if (threadIdx.x == 0) {
    P* const protocol = reinterpret_cast<P*>(shared.protocol);
    *protocol = *batch.protocol;
    shared.place = places[blockIdx.x / blocks];
    shared.place.protocol = protocol;
  }
  __syncthreads();
  DeviceCluster cluster(blocks, reinterpret_cast<std::uint32_t*>(memory + sizeof(shared)),
                        near_words);
  ClusterLoop<P, DeviceCluster> loop(batch, cluster, shared.place);
  loop.run();
#endif
}

// How clusters fit on a device, which is asked.
struct ClusterFit {
  std::uint32_t near_words = 0;  // see LayersMemory
  std::uint32_t blocks = 0;      // of a cluster, a power of two
  int clusters = 0;              // that run at a time; 0 if the device has none
  std::size_t shared_bytes = 0;  // of a block

  // A launch of so many clusters, by an attribute that must outlive it.
  cudaLaunchConfig_t launch(int count, cudaLaunchAttribute& attribute) const {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {blocks, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = static_cast<unsigned>(count) * blocks;
    config.blockDim = DeviceCrew::threads;
    config.dynamicSmemBytes = shared_bytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return config;
  }
};

// Those of a protocol, on the current device, whose number is `device`. Throws Error if asking
// fails.
template <ClusterProtocol P>
ClusterFit cluster_fit(int device, const cudaDeviceProp& properties) {
  constexpr std::uint32_t most_blocks = 16;  // layers have no work for more
  constexpr std::size_t most_words = std::size_t{1} << 20;
  int has_clusters = 0;
  check(cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, device), "planning");
  if (has_clusters == 0) return {};
  const auto bytes = [](std::size_t words) {
    return sizeof(ClusterShared<P>) + LayersMemory::bytes(static_cast<std::uint32_t>(words));
  };
  std::size_t words = most_words;
  while (bytes(words) > properties.sharedMemPerBlockOptin) words /= 2;
  ClusterFit fit{.near_words = static_cast<std::uint32_t>(words),
                 .blocks = most_blocks,
                 .shared_bytes = bytes(words)};
  allow_shared_memory(run_clusters<P>, fit.shared_bytes);
  check(cudaFuncSetAttribute(run_clusters<P>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
        "asking for clusters");
  cudaLaunchAttribute attribute{};
  cudaLaunchConfig_t config = fit.launch(1, attribute);
  config.numAttrs = 0;
  int largest = 0;
  check(cudaOccupancyMaxPotentialClusterSize(&largest, run_clusters<P>, &config), "planning");
  fit.blocks = std::bit_floor(std::min(static_cast<std::uint32_t>(largest), most_blocks));
  if (fit.blocks == 0) return {};
  config = fit.launch(1, attribute);
  check(cudaOccupancyMaxActiveClusters(&fit.clusters, run_clusters<P>, &config), "planning");
  return fit;
}

// The clusters that run one batch. Its stream outlives it, and is waited for before it goes.
template <ClusterProtocol P>
class Clusters {
  using Place = ClusterPlace<P, DeviceCluster>;

 public:
  // `fitting(bytes)` is how many clusters of so many bytes have room in the memory of the device.
  Clusters(const DeviceStream& stream, const P& protocol, const BatchRequest& request,
           const cudaDeviceProp& device, const ClusterFit& fit, auto&& fitting)
      : stream_(stream),
        device_(device),
        fit_(fit),
        size_(StretchSize::of<DeviceCrew>(request.n)),
        tally_words_(DeviceTally<P>::words(protocol, request.n)),
        jumps_(stream, std::vector<TurnJumps>{TurnJumps(size_, fit.blocks)}),
        schedule_{request.seed, request.n, size_, jumps_.data()},
        count_(std::min(clusters_for(request.trials), fitting(bytes_of_one() + agent_bytes()))),
        memory_(stream, static_cast<std::size_t>(count_) * bytes_of_one()),
        agents_(stream, static_cast<std::size_t>(count_) * agent_bytes()),
        places_(stream, places()) {
    check(cudaMemsetAsync(memory_.data(), 0, memory_.size(), stream.get()), "clearing memory");
    if (is_worth_keeping()) {
      kept_ = std::make_unique<KeptInCache>(stream, agents_.data(), agents_.size(), room_to_keep());
    }
  }
  Clusters(const Clusters&) = delete;
  Clusters& operator=(const Clusters&) = delete;

  // Starts the kernel and returns; the stream's `wait` says when the trials are over. Throws Error.
  void start(const Batch<P>& batch) {
    cudaLaunchAttribute attribute{};
    cudaLaunchConfig_t config = fit_.launch(count_, attribute);
    config.stream = stream_.get();
    check(
        cudaLaunchKernelEx(&config, run_clusters<P>, batch,
                           static_cast<const Place*>(places_.data()), fit_.blocks, fit_.near_words),
        "starting the trials");
  }

 private:
  static std::size_t rounded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

  std::size_t agent_bytes() const { return rounded(schedule_.n * sizeof(typename Place::Packed)); }
  std::size_t bytes_of_one() const {
    std::size_t bytes = 0;
    Place::taken(schedule_, tally_words_, fit_.blocks, [&bytes]<class T>(std::size_t count, T*&) {
      bytes += rounded(count * sizeof(T));
    });
    return bytes;
  }
  std::vector<Place> places() {
    std::vector<Place> all;
    std::byte* next = memory_.data();
    const auto take = [&next]<class T>(std::size_t count, T*& first) {
      first = reinterpret_cast<T*>(next);
      next += rounded(count * sizeof(T));
    };
    for (int i = 0; i < count_; ++i) {
      all.push_back(Place::taken(schedule_, tally_words_, fit_.blocks, take));
      std::byte* const agents = agents_.data() + static_cast<std::size_t>(i) * agent_bytes();
      all.back().agents = reinterpret_cast<typename Place::Packed*>(agents);
    }
    return all;
  }

  // As many as are worth it: of 10^6 agents of 8 bytes, five whose agents stay in the second cache
  // of an H200 run 1.4 times as many interactions as seven.
  int clusters_for(std::uint64_t trials) const {
    const auto all = static_cast<std::uint64_t>(fit_.clusters);
    const auto count = static_cast<int>(std::min(trials, all));
    const auto kept = static_cast<int>((room_to_keep() + agent_bytes() / 2) / agent_bytes());
    return 3 * kept >= 2 * count ? std::min(count, kept) : count;
  }

  // Bytes of the second cache.
  std::size_t room_to_keep() const {
    return static_cast<std::size_t>(device_.persistingL2CacheMaxSize);
  }
  // Fewer stay there by themselves, and more would drive each other out.
  bool is_worth_keeping() const {
    return agents_.size() > static_cast<std::size_t>(device_.l2CacheSize) / 2 &&
           agents_.size() <= room_to_keep() + agent_bytes() / 2;
  }

  const DeviceStream& stream_;
  const cudaDeviceProp& device_;
  ClusterFit fit_;
  StretchSize size_;
  std::size_t tally_words_;
  DeviceArray<TurnJumps> jumps_;
  Schedule schedule_;
  int count_;
  DeviceArray<std::byte> memory_;
  DeviceArray<std::byte> agents_;
  DeviceArray<Place> places_;
  std::unique_ptr<KeptInCache> kept_;
};

}  // namespace conclave::gpu
