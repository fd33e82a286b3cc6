// Starts the trials of very large populations in clusters (cluster_loop.hpp) and owns their memory.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "conclave/gpu/batch.hpp"
#include "conclave/gpu/cluster_loop.hpp"
#include "conclave/gpu/device_cluster.cuh"
#include "conclave/gpu/device_memory.cuh"
#include "conclave/gpu/engine.hpp"

namespace conclave::gpu {

template <BlockProtocol P>
__global__ void __launch_bounds__(DeviceCrew::threads)
    run_clusters(Batch<P> batch, Stretches<DeviceCluster> stretches,
                 const Jumps<DeviceCluster>* jumps, const ClusterPlace<P>* places) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ unsigned char shared[];
  DeviceCluster cluster(reinterpret_cast<LayersShared*>(shared));
  ClusterLoop<P, DeviceCluster> loop(batch, cluster, stretches, jumps,
                                     places[blockIdx.x / DeviceCluster::blocks]);
  loop.run();
#endif
}

template <BlockProtocol P>
class Clusters {
 public:
  // `fitting` says how many clusters of so many bytes each have room in the memory of the device.
  Clusters(const DeviceStream& stream, const BatchRequest& request,
           const std::function<int(std::size_t)>& fitting)
      : stream_(stream),
        stretches_(Stretches<DeviceCluster>::of(request.n)),
        bytes_(bytes_of_one(request.n)),
        count_(static_cast<int>(std::min<std::uint64_t>(
            static_cast<std::uint64_t>(std::min(resident(), fitting(bytes_))), request.trials))),
        jumps_(stream, std::vector<Jumps<DeviceCluster>>{Jumps<DeviceCluster>(stretches_)}),
        memory_(stream, bytes_ * static_cast<std::size_t>(count_)),
        places_(stream, places(request.n)) {}

  void start(const Batch<P>& batch) {
    cudaLaunchAttribute attribute{};
    const cudaLaunchConfig_t config = launch(count_, attribute);
    check(cudaLaunchKernelEx(&config, run_clusters<P>, batch, stretches_,
                             static_cast<const Jumps<DeviceCluster>*>(jumps_.data()),
                             static_cast<const ClusterPlace<P>*>(places_.data())),
          "starting the trials");
  }

 private:
  static std::size_t rounded(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

  std::size_t bytes_of_one(std::uint32_t n) const {
    std::size_t bytes = 0;
    cluster_place<DeviceCluster, P>(n, stretches_, [&bytes]<class T>(std::size_t count, T*&) {
      bytes += rounded(count * sizeof(T));
    });
    return bytes;
  }

  std::vector<ClusterPlace<P>> places(std::uint32_t n) {
    std::vector<ClusterPlace<P>> all;
    for (int i = 0; i < count_; ++i) {
      std::byte* next = memory_.data() + static_cast<std::size_t>(i) * bytes_;
      const auto take = [&next]<class T>(std::size_t count, T*& first) {
        first = reinterpret_cast<T*>(next);
        next += rounded(count * sizeof(T));
      };
      all.push_back(cluster_place<DeviceCluster, P>(n, stretches_, take));
    }
    return all;
  }

  cudaLaunchConfig_t launch(int clusters, cudaLaunchAttribute& attribute) const {
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {DeviceCluster::blocks, 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = static_cast<unsigned>(clusters * DeviceCluster::blocks);
    config.blockDim = DeviceCrew::threads;
    config.dynamicSmemBytes = sizeof(LayersShared);
    config.stream = stream_.get();
    config.attrs = &attribute;
    config.numAttrs = 1;
    return config;
  }

  // How many run at a time.
  int resident() const {
    check(cudaFuncSetAttribute(run_clusters<P>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(sizeof(LayersShared))),
          "asking for memory beside the processor");
    check(cudaFuncSetAttribute(run_clusters<P>, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
          "asking for clusters");
    cudaLaunchAttribute attribute{};
    const cudaLaunchConfig_t config = launch(1, attribute);
    int clusters = 0;
    check(cudaOccupancyMaxActiveClusters(&clusters, run_clusters<P>, &config), "planning");
    return clusters;
  }

  const DeviceStream& stream_;
  Stretches<DeviceCluster> stretches_;
  std::size_t bytes_;
  int count_;
  DeviceArray<Jumps<DeviceCluster>> jumps_;
  DeviceArray<std::byte> memory_;
  DeviceArray<ClusterPlace<P>> places_;
};

}  // namespace conclave::gpu
