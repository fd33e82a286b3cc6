// Builds the gpu engine of one protocol: the kernel around TrialLoop, and the host's side of it.
// Included once per protocol, by a generated source that a CUDA compiler compiles.
#pragma once

#include <cuda_runtime.h>
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conclave/base/error.hpp"
#include "conclave/gpu/batch.hpp"
#include "conclave/gpu/device_warp.cuh"
#include "conclave/gpu/engine.hpp"
#include "conclave/gpu/trial_loop.hpp"
#include "conclave/gpu/warp.hpp"

namespace conclave::gpu {

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw Error(std::string("engine gpu: ") + what + " failed: " + cudaGetErrorString(status));
}

// Memory on the device, freed with its owner.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) : count_(count) {
    check(cudaMalloc(&first_, std::max<std::size_t>(1, count * sizeof(T))), "asking for memory");
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    check(cudaMemcpy(first_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice),
          "copying to the device");
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(first_); }

  T* data() { return first_; }
  void copy_to(std::vector<T>& values) const {
    check(cudaMemcpy(values.data(), first_, count_ * sizeof(T), cudaMemcpyDeviceToHost),
          "copying from the device");
  }

 private:
  T* first_ = nullptr;
  std::size_t count_;
};

// A flag that the host sets while a kernel runs.
class StopFlag {
 public:
  StopFlag() {
    check(cudaHostAlloc(&flag_, sizeof(bool), cudaHostAllocMapped), "asking for shared memory");
    *flag_ = false;
  }
  StopFlag(const StopFlag&) = delete;
  StopFlag& operator=(const StopFlag&) = delete;
  ~StopFlag() { cudaFreeHost(flag_); }
  void set() { *static_cast<volatile bool*>(flag_) = true; }
  const volatile bool* on_device() const {
    void* pointer = nullptr;
    check(cudaHostGetDevicePointer(&pointer, flag_, 0), "sharing memory");
    return static_cast<const volatile bool*>(pointer);
  }

 private:
  bool* flag_ = nullptr;
};

// Where the agents of a trial lie: beside the processor if they fit, otherwise in device memory.
template <DeviceProtocol P>
struct Layout {
  static constexpr std::size_t alignment = 16;
  static constexpr std::size_t rounded(std::size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  }
  static constexpr std::size_t tally_bytes = rounded(sizeof(typename TallyFor<P>::type));

  bool is_near = false;
  std::size_t agent_bytes = 0;  // of a trial, rounded
  std::size_t shared_per_trial = 0;
  int threads = 0;  // per block
  int blocks = 0;

  constexpr int trials_per_block() const { return threads / lanes_per_trial; }
  constexpr std::size_t shared_bytes() const {
    return shared_per_trial * static_cast<std::size_t>(trials_per_block());
  }
  // No more blocks than so many trials need.
  Layout for_trials(std::uint64_t trials) const {
    Layout fewer = *this;
    const auto each = static_cast<std::uint64_t>(trials_per_block());
    fewer.blocks =
        static_cast<int>(std::min(static_cast<std::uint64_t>(blocks), (trials + each - 1) / each));
    return fewer;
  }
  constexpr std::size_t far_bytes() const { return is_near ? 0 : places() * agent_bytes; }
  constexpr std::uint64_t places() const {
    return static_cast<std::uint64_t>(blocks) * static_cast<std::uint64_t>(trials_per_block());
  }
};

template <DeviceProtocol P>
__global__ void run_batch(Batch<P> batch, Layout<P> layout, typename Stored<P>::type* far_agents) {
  using Packed = typename Stored<P>::type;
  using Tally = typename TallyFor<P>::type;
  extern __shared__ unsigned char shared[];
  const int thread = static_cast<int>(threadIdx.x);
  const int group = thread / lanes_per_trial;
  unsigned char* const mine = shared + layout.shared_per_trial * static_cast<std::size_t>(group);
  const std::size_t place =
      static_cast<std::size_t>(blockIdx.x) * static_cast<std::size_t>(layout.trials_per_block()) +
      static_cast<std::size_t>(group);
  Packed* const agents = layout.is_near
                             ? reinterpret_cast<Packed*>(mine + Layout<P>::tally_bytes)
                             : far_agents + place * (layout.agent_bytes / sizeof(Packed));
  auto* const tally = reinterpret_cast<Tally*>(mine);
  TrialLoop<P, DeviceWarp> loop(batch, DeviceWarp(), [&](int) { return Place<P>{agents, tally}; });
  loop.run();
}

template <DeviceProtocol P>
class DeviceEngine final : public Engine {
 public:
  explicit DeviceEngine(const P& protocol) : protocol_(protocol) {
    int device = 0;
    check(cudaGetDevice(&device), "finding the device");
    check(cudaGetDeviceProperties(&properties_, device), "asking the device what it is");
    check_itself();
  }

  std::uint64_t trials_at_once(std::uint32_t n) const override {
    return trials_per_place * layout(n).places();
  }

  void run(const BatchRequest& request, const std::function<bool()>& keep_going,
           const std::function<void(std::uint64_t, TrialResult)>& take) override {
    const std::vector<Finished<P>> results = finished(request, keep_going);
    for (std::uint64_t i = 0; i < request.trials; ++i) {
      take(request.first_trial + i, result_of(protocol_, results[i]));
    }
  }

 private:
  static constexpr std::uint64_t trials_per_place = 4;  // so that a long trial holds up few others
  static constexpr std::size_t least_near_warps = 3;
  static constexpr int far_threads = 128;
  static constexpr std::size_t most_far_fraction = 2;  // of the free memory, half

  std::vector<Finished<P>> finished(const BatchRequest& request,
                                    const std::function<bool()>& keep_going) const {
    using Packed = typename Stored<P>::type;
    const Layout<P> where = layout(request.n).for_trials(request.trials);
    DeviceArray<P> protocol(std::vector<P>{protocol_});
    DeviceArray<TrialStreams> streams(streams_of(request));
    std::vector<Finished<P>> results(request.trials, blank(protocol_));
    DeviceArray<Finished<P>> on_device(results);
    DeviceArray<std::uint64_t> next(std::vector<std::uint64_t>{0});
    DeviceArray<Packed> far(where.far_bytes() / sizeof(Packed));
    StopFlag stop;
    const Batch<P> batch{.protocol = protocol.data(),
                         .n = request.n,
                         .start = request.start,
                         .limit = request.limit,
                         .trials = request.trials,
                         .streams = streams.data(),
                         .finished = on_device.data(),
                         .next_trial = next.data(),
                         .is_stopped = stop.on_device()};
    run_batch<P><<<where.blocks, where.threads, where.shared_bytes()>>>(batch, where, far.data());
    check(cudaGetLastError(), "starting the trials");
    wait(stop, keep_going);
    on_device.copy_to(results);
    return results;
  }

  // A compiler for devices takes some C++ that it cannot translate without a word (the elements of
  // a constant array, for one). So every engine first shows that it computes what this processor
  // does: some interactions of a few agents, with the protocol as it will be run.
  void check_itself() const {
    const BatchRequest request{.n = 16, .limit = 2000, .trials = 12};
    const auto here = emulated(protocol_, request);
    const auto there = finished(request, [] { return true; });
    for (std::size_t i = 0; i < here.size(); ++i) {
      const bool is_same = here[i].interactions == there[i].interactions &&
                           here[i].ending == there[i].ending &&
                           here[i].tally.leaders() == there[i].tally.leaders();
      if (!is_same) {
        throw Error("engine gpu: the device and this processor disagree about this protocol; use "
                    "engine agents, and please report it");
      }
    }
  }

  void wait(StopFlag& stop, const std::function<bool()>& keep_going) const {
    timespec pause{.tv_sec = 0, .tv_nsec = 20'000};
    while (cudaStreamQuery(nullptr) == cudaErrorNotReady) {
      if (!keep_going()) stop.set();
      nanosleep(&pause, nullptr);
      pause.tv_nsec = std::min(pause.tv_nsec * 2, 20'000'000L);
    }
    check(cudaStreamSynchronize(nullptr), "running the trials");
  }

  // Beside the processor where that leaves enough warps to hide each other's waits; blocks of one
  // warp waste least of that memory.
  Layout<P> layout(std::uint32_t n) const {
    using Packed = typename Stored<P>::type;
    Layout<P> near;
    near.is_near = true;
    near.agent_bytes = Layout<P>::rounded(n * sizeof(Packed));
    near.shared_per_trial = Layout<P>::tally_bytes + near.agent_bytes;
    near.threads = lanes_per_warp;
    const std::size_t warps = properties_.sharedMemPerMultiprocessor / near.shared_bytes();
    if (warps < least_near_warps) return far_layout(n);
    while (warps > 16 && near.threads < 128) near.threads *= 2;  // more blocks than may be resident
    near.blocks = blocks_for(near);
    return near;
  }

  Layout<P> far_layout(std::uint32_t n) const {
    using Packed = typename Stored<P>::type;
    Layout<P> far;
    far.agent_bytes = Layout<P>::rounded(n * sizeof(Packed));
    far.shared_per_trial = Layout<P>::tally_bytes;
    far.threads = far_threads;
    far.blocks = blocks_for(far);
    std::size_t free_bytes = 0;
    std::size_t all_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &all_bytes), "asking for its free memory");
    const std::size_t per_block =
        far.agent_bytes * static_cast<std::size_t>(far.trials_per_block());
    const std::size_t fitting = free_bytes / most_far_fraction / per_block;
    if (fitting == 0) {
      throw Error("engine gpu: n = " + std::to_string(n) + " needs " +
                  std::to_string(per_block >> 20) + " MiB for " +
                  std::to_string(far.trials_per_block()) + " trials, and the device has " +
                  std::to_string(free_bytes >> 20) + " MiB free; use engine agents");
    }
    far.blocks = static_cast<int>(std::min(static_cast<std::size_t>(far.blocks), fitting));
    return far;
  }

  int blocks_for(const Layout<P>& layout) const {
    int blocks = 0;
    const auto bytes = layout.shared_bytes();
    if (bytes > 48 * 1024) {
      check(cudaFuncSetAttribute(run_batch<P>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(bytes)),
            "asking for memory beside the processor");
    }
    check(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, run_batch<P>, layout.threads, bytes),
        "planning");
    return blocks * properties_.multiProcessorCount;
  }

  P protocol_;
  cudaDeviceProp properties_{};
};

// See MakeEngine.
template <class P>
std::unique_ptr<Engine> make_engine(const void* protocol) {
  if constexpr (DeviceProtocol<P>) {
    return std::make_unique<DeviceEngine<P>>(*static_cast<const P*>(protocol));
  } else {
    return nullptr;
  }
}

}  // namespace conclave::gpu
