// Starts the trials of very large populations in clusters (cluster_loop.hpp) and owns their memory.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "conclave/gpu/batch.hpp"
#include "conclave/gpu/cluster_loop.hpp"
#include "conclave/gpu/device_cluster.cuh"
#include "conclave/gpu/device_memory.cuh"
#include "conclave/gpu/engine.hpp"
#include "conclave/gpu/schedule_ahead.hpp"

namespace conclave::gpu {

// How many clusters have started and how many are not over; and, for this machine to know, whether
// all have started.
struct ClusterCounts {
  std::uint32_t* started;
  std::uint32_t* running;
  bool* all_run;
};

// Near all threads of a block.
template <BlockProtocol P>
struct ClusterShared {
  PreparerShared preparer;
  ClusterPlace<P, DeviceCluster> place;
  alignas(P) std::byte protocol[sizeof(P)];
};

template <BlockProtocol P>
__global__ void __launch_bounds__(DeviceCrew::threads)
    run_clusters(Batch<P> batch, const ClusterPlace<P, DeviceCluster>* places,
                 ClusterCounts counts) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ unsigned char memory[];
  auto& shared = *reinterpret_cast<ClusterShared<P>*>(memory);
  DeviceCluster cluster(&shared.preparer);
  P* const protocol = reinterpret_cast<P*>(shared.protocol);
  if (threadIdx.x == 0) {
    shared.place = places[blockIdx.x / DeviceCluster::blocks];
    *protocol = *batch.protocol;
  }
  cluster.first([&] {
    const std::uint32_t before = cluster.take_one(counts.started);
    if ((before + 1) * DeviceCluster::blocks == gridDim.x) cluster.publish(counts.all_run);
  });
  __syncthreads();
  batch.protocol = protocol;
  ClusterLoop<P, DeviceCluster> loop(batch, cluster, shared.place);
  loop.run();
  cluster.first([&] { atomicSub(counts.running, 1u); });
#endif
}

// On multiprocessors that no cluster has. The schedules of the clusters, and a room for each block.
template <class Crew>
__global__ void __launch_bounds__(DeviceCrew::threads)
    help_clusters(Schedules<Crew> schedules, const typename ScheduleAhead<Crew>::Memory* clusters,
                  std::uint32_t count, const std::uint32_t* running, std::uint64_t* rooms) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ unsigned char shared[];
  help(Preparer<Crew>(Crew(), reinterpret_cast<PreparerShared*>(shared), schedules,
                      PreparerRoom::of(rooms, schedules.stretches, blockIdx.x)),
       schedules, clusters, count, running, blockIdx.x);
#endif
}

template <BlockProtocol P>
class Clusters {
  using Crew = DeviceCrew;
  using Place = ClusterPlace<P, DeviceCluster>;
  using Ahead = typename ScheduleAhead<Crew>::Memory;

 public:
  // `fitting` says how many clusters of so many bytes each have room in the memory of the device.
  Clusters(const DeviceStream& stream, const BatchRequest& request, const cudaDeviceProp& device,
           const std::function<int(std::size_t)>& fitting)
      : stream_(stream),
        device_(device),
        stretches_(Stretches<Crew>::of(request.n)),
        jumps_(stream, std::vector<Jumps<Crew>>{Jumps<Crew>(stretches_)}),
        schedules_{request.seed, request.n, stretches_, jumps_.data()},
        count_(std::min(clusters_for(request.trials), fitting(bytes_of_one() + agent_bytes()))),
        helpers_(std::min(device.multiProcessorCount - count_ * blocks,
                          count_ * most_helpers_per_cluster)),
        memory_(stream, static_cast<std::size_t>(count_) * bytes_of_one()),
        agents_(stream, static_cast<std::size_t>(count_) * agent_bytes()),
        rooms_(stream, static_cast<std::size_t>(helpers_) * PreparerRoom::size(stretches_)),
        counts_(stream, std::vector<std::uint32_t>{0, static_cast<std::uint32_t>(count_)}),
        all_run_(1, false),
        places_(stream, places()),
        aheads_(stream, aheads()) {
    check(cudaMemsetAsync(memory_.data(), 0, memory_.size(), stream.get()), "clearing memory");
    if (is_worth_keeping()) {
      kept_ = std::make_unique<KeptInCache>(stream, agents_.data(), agents_.size(), room_to_keep());
    }
  }
  Clusters(const Clusters&) = delete;
  Clusters& operator=(const Clusters&) = delete;
  // The clusters must be over.
  ~Clusters() { cudaStreamSynchronize(helping_.get()); }

  void start(const Batch<P>& batch) {
    cudaLaunchAttribute attribute{};
    const cudaLaunchConfig_t config = launch(count_, attribute);
    check(cudaLaunchKernelEx(&config, run_clusters<P>, batch,
                             static_cast<const Place*>(places_.data()), counts()),
          "starting the trials");
  }

  // To be called now and then. Helpers start when all clusters run, so that they take no
  // multiprocessor that a cluster waits for.
  void help_if_started() {
    if (helps_ || helpers_ <= 0) return;
    if (!__atomic_load_n(&all_run_[0], __ATOMIC_ACQUIRE)) return;
    helps_ = true;
    help_clusters<Crew><<<helpers_, Crew::threads, sizeof(PreparerShared), helping_.get()>>>(
        schedules_, aheads_.data(), static_cast<std::uint32_t>(count_), counts().running,
        rooms_.data());
    check(cudaGetLastError(), "helping with the trials");
    helping_.end_before(stream_);
  }

 private:
  static constexpr int blocks = DeviceCluster::blocks;
  static constexpr int most_helpers_per_cluster = 8;
  static constexpr int least_helpers_per_cluster = 6;  // where there are trials enough
  static constexpr int worth_keeping = 5;              // clusters

  static std::size_t rounded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

  std::size_t agent_bytes() const { return rounded(schedules_.n * sizeof(typename Place::Packed)); }
  std::size_t bytes_of_one() const {
    std::size_t bytes = 0;
    Place::taken(schedules_, [&bytes]<class T>(std::size_t count, T*&) {
      bytes += rounded(count * sizeof(T));
    });
    return bytes;
  }
  std::vector<Place> places() {
    std::vector<Place> all;
    std::byte* next = memory_.data();
    for (int i = 0; i < count_; ++i) {
      all.push_back(Place::taken(schedules_, [&next]<class T>(std::size_t count, T*& first) {
        first = reinterpret_cast<T*>(next);
        next += rounded(count * sizeof(T));
      }));
      std::byte* const agents = agents_.data() + static_cast<std::size_t>(i) * agent_bytes();
      all.back().agents = reinterpret_cast<typename Place::Packed*>(agents);
    }
    return all;
  }

  std::vector<Ahead> aheads() {
    std::vector<Ahead> all;
    for (const Place& place : places()) all.push_back(place.ahead);
    return all;
  }

  ClusterCounts counts() { return {counts_.data(), counts_.data() + 1, all_run_.on_device()}; }

  // As many as are worth it: of 10^6 agents, five whose agents stay in the second cache run 1.4
  // times as many interactions as seven.
  int clusters_for(std::uint64_t trials) const {
    int count = resident();
    if (trials <= static_cast<std::uint64_t>(count)) {
      count = static_cast<int>(trials);
    } else {
      const int helped = device_.multiProcessorCount / (blocks + least_helpers_per_cluster);
      count = std::clamp(helped, 1, count);
    }
    const auto kept = static_cast<int>((room_to_keep() + agent_bytes() / 2) / agent_bytes());
    return kept >= worth_keeping ? std::min(count, kept) : count;
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

  cudaLaunchConfig_t launch(int clusters, cudaLaunchAttribute& attribute) const {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {DeviceCluster::blocks, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = static_cast<unsigned>(clusters) * DeviceCluster::blocks;
    config.blockDim = Crew::threads;
    config.dynamicSmemBytes = sizeof(ClusterShared<P>);
    config.stream = stream_.get();
    config.attrs = &attribute;
    config.numAttrs = 1;
    return config;
  }

  // How many run at a time.
  int resident() const {
    const auto ask = [](auto* kernel, std::size_t bytes) {
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(bytes)),
            "asking for memory beside the processor");
    };
    ask(run_clusters<P>, sizeof(ClusterShared<P>));
    ask(help_clusters<Crew>, sizeof(PreparerShared));
    check(cudaFuncSetAttribute(run_clusters<P>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
          "asking for clusters");
    cudaLaunchAttribute attribute{};
    const cudaLaunchConfig_t config = launch(1, attribute);
    int clusters = 0;
    check(cudaOccupancyMaxActiveClusters(&clusters, run_clusters<P>, &config), "planning");
    return clusters;
  }

  const DeviceStream& stream_;
  const cudaDeviceProp& device_;
  DeviceStream helping_;
  Stretches<Crew> stretches_;
  DeviceArray<Jumps<Crew>> jumps_;
  Schedules<Crew> schedules_;
  int count_;
  int helpers_;
  DeviceArray<std::byte> memory_;
  DeviceArray<std::byte> agents_;
  DeviceArray<std::uint64_t> rooms_;  // of helpers
  DeviceArray<std::uint32_t> counts_;
  SharedArray<bool> all_run_;
  DeviceArray<Place> places_;
  DeviceArray<Ahead> aheads_;  // of the places, for helpers, who need not know the protocol
  std::unique_ptr<KeptInCache> kept_;
  bool helps_ = false;
};

}  // namespace conclave::gpu
