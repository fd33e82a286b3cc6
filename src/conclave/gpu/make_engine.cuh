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

// The first device that this process may use. Throws Error where there is none.
inline int first_device() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices > 0) return 0;
  throw Error(std::string("engine gpu found no CUDA device on this machine (") +
              cudaGetErrorString(status) + "); engine agents runs the same trials");
}

// Memory on the device, freed with its owner.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t count) {
    check(cudaMalloc(&first_, std::max<std::size_t>(1, count * sizeof(T))), "asking for memory");
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    check(cudaMemcpy(first_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice),
          "copying to the device");
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(first_); }

  T* data() { return first_; }

 private:
  T* first_ = nullptr;
};

// Memory of this machine that the device reads and writes while a kernel runs.
template <class T>
class SharedArray {
 public:
  SharedArray(std::size_t count, const T& value) {
    check(cudaHostAlloc(&first_, count * sizeof(T), cudaHostAllocMapped),
          "asking for memory that it shares with this machine");
    std::uninitialized_fill_n(first_, count, value);
  }
  SharedArray(const SharedArray&) = delete;
  SharedArray& operator=(const SharedArray&) = delete;
  ~SharedArray() { cudaFreeHost(first_); }

  T& operator[](std::size_t i) { return first_[i]; }
  const T& operator[](std::size_t i) const { return first_[i]; }
  T* on_device() const {
    void* pointer = nullptr;
    check(cudaHostGetDevicePointer(&pointer, first_, 0), "sharing memory");
    return static_cast<T*>(pointer);
  }

 private:
  T* first_ = nullptr;
};

// How a kernel is started, and where the agents of its trials lie.
template <DeviceProtocol P>
struct Layout {
  static constexpr std::size_t alignment = 16;
  static constexpr std::size_t rounded(std::size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  }
  static constexpr std::size_t tally_bytes = rounded(sizeof(typename TallyFor<P>::type));

  Memory memory = Memory::near;
  std::size_t agent_bytes = 0;  // of a trial, rounded
  int threads = 0;              // per block
  int blocks = 0;

  constexpr int trials_per_block() const { return threads / lanes_per_trial; }
  constexpr std::size_t shared_per_trial() const {
    return tally_bytes + (memory == Memory::near ? agent_bytes : 0);
  }
  constexpr std::size_t shared_bytes() const {
    return shared_per_trial() * static_cast<std::size_t>(trials_per_block());
  }
  // No more blocks than so many trials need.
  Layout for_trials(std::uint64_t trials) const {
    Layout fewer = *this;
    const auto each = static_cast<std::uint64_t>(trials_per_block());
    fewer.blocks =
        static_cast<int>(std::min(static_cast<std::uint64_t>(blocks), (trials + each - 1) / each));
    return fewer;
  }
  constexpr std::size_t far_bytes() const {
    return memory == Memory::far ? places() * agent_bytes : 0;
  }
  constexpr std::uint64_t places() const {
    return static_cast<std::uint64_t>(blocks) * static_cast<std::uint64_t>(trials_per_block());
  }
};

template <DeviceProtocol P, Memory memory>
__global__ void run_batch(Batch<P> batch, Layout<P> layout, typename Stored<P>::type* far_agents,
                          TrialStreams* streams) {
  using Packed = typename Stored<P>::type;
  using Tally = typename TallyFor<P>::type;
  extern __shared__ unsigned char shared[];
  const int group = static_cast<int>(threadIdx.x) / lanes_per_trial;
  const std::size_t place = static_cast<std::size_t>(blockIdx.x) * (blockDim.x / lanes_per_trial) +
                            static_cast<std::size_t>(group);
  unsigned char* const mine = shared + layout.shared_per_trial() * static_cast<std::size_t>(group);
  TrialLoop<P, DeviceWarp, memory> loop(batch, DeviceWarp(), [&](int) {
    Packed* agents = nullptr;
    if constexpr (memory == Memory::near) {
      agents = reinterpret_cast<Packed*>(mine + Layout<P>::tally_bytes);
    } else {
      agents = far_agents + place * (layout.agent_bytes / sizeof(Packed));
    }
    return Place<P>{agents, reinterpret_cast<Tally*>(mine), streams + place};
  });
  loop.run();
}

template <DeviceProtocol P>
class DeviceEngine final : public Engine {
 public:
  explicit DeviceEngine(const P& protocol) : protocol_(protocol) {
    const int device = first_device();
    check(cudaSetDevice(device), "choosing the device");
    check(cudaGetDeviceProperties(&properties_, device), "asking the device what it is");
    check_itself();
  }

  std::string device() const override { return properties_.name; }

  void run(const BatchRequest& request, const std::function<bool()>& keep_going,
           const std::function<void(std::uint64_t, TrialResult)>& take) override {
    execute(request, keep_going, [&](std::uint64_t i, const Finished<P>& trial) {
      take(request.first_trial + i, result_of(protocol_, trial));
    });
  }

 private:
  // Far away, more trials than these make each other slower: the memory answers so many at a time.
  static constexpr int far_threads = 128;
  static constexpr int far_blocks = 2;                 // per multiprocessor
  static constexpr std::size_t most_far_fraction = 2;  // of the free memory, half

  // Calls `take` for every trial in order, as soon as it and all before it are complete.
  template <class Take>
  void execute(const BatchRequest& request, const std::function<bool()>& keep_going,
               Take take) const {
    using Packed = typename Stored<P>::type;
    const Layout<P> where = layout(request.n).for_trials(request.trials);
    DeviceArray<P> protocol(std::vector<P>{protocol_});
    DeviceArray<std::uint64_t> next(std::vector<std::uint64_t>{0});
    DeviceArray<Packed> far(where.far_bytes() / sizeof(Packed));
    DeviceArray<TrialStreams> streams(where.places());
    SharedArray<Finished<P>> results(request.trials, blank(protocol_));
    SharedArray<bool> stop(1, false);
    const Batch<P> batch =
        batch_of(request, protocol.data(), results.on_device(), next.data(), stop.on_device());
    const auto kernel =
        where.memory == Memory::near ? run_batch<P, Memory::near> : run_batch<P, Memory::far>;
    kernel<<<where.blocks, where.threads, where.shared_bytes()>>>(batch, where, far.data(),
                                                                  streams.data());
    check(cudaGetLastError(), "starting the trials");
    hand_over(results, stop, request.trials, keep_going, take);
  }

  // Looks at the results while the kernel runs, and tells it to stop where nothing may go on.
  template <class Take>
  void hand_over(const SharedArray<Finished<P>>& results, SharedArray<bool>& stop,
                 std::uint64_t trials, const std::function<bool()>& keep_going, Take take) const {
    constexpr long longest_pause = 5'000'000;
    timespec pause{.tv_sec = 0, .tv_nsec = 20'000};
    std::uint64_t next = 0;
    bool is_running = true;
    while (next < trials) {
      is_running = is_running && cudaStreamQuery(nullptr) == cudaErrorNotReady;
      if (!is_running) check(cudaStreamSynchronize(nullptr), "running the trials");
      const std::uint64_t before = next;
      while (next < trials && (!is_running || is_complete(results[next]))) {
        take(next, results[next]);
        ++next;
      }
      if (!is_running) continue;
      if (!keep_going()) static_cast<volatile bool&>(stop[0]) = true;
      pause.tv_nsec = next != before ? 20'000 : std::min(pause.tv_nsec * 2, longest_pause);
      nanosleep(&pause, nullptr);
    }
    check(cudaStreamSynchronize(nullptr), "running the trials");
  }

  static bool is_complete(const Finished<P>& trial) {
    return __atomic_load_n(&trial.is_complete, __ATOMIC_ACQUIRE);
  }

  // A compiler for devices takes some C++ that it cannot translate without a word (the elements of
  // a constant array, for one). So every engine first shows that it computes what this processor
  // does: some interactions of a few agents, with the protocol as it will be run.
  void check_itself() const {
    const BatchRequest request{.n = 16, .limit = 2000, .trials = 12};
    const auto here = emulated<Memory::near>(protocol_, request);
    execute(
        request, [] { return true; },
        [&](std::uint64_t i, const Finished<P>& there) {
          const bool is_same = here[i].interactions == there.interactions &&
                               here[i].ending == there.ending &&
                               here[i].tally.leaders() == there.tally.leaders();
          if (!is_same) {
            throw Error(
                "engine gpu: the device and this processor disagree about this protocol; use "
                "engine agents, and please report it");
          }
        });
  }

  // Beside the processor where the trials of a warp fit; blocks of one warp waste least of that
  // memory.
  Layout<P> layout(std::uint32_t n) const {
    using Packed = typename Stored<P>::type;
    Layout<P> near;
    near.agent_bytes = Layout<P>::rounded(n * sizeof(Packed));
    near.threads = lanes_per_warp;
    if (near.shared_bytes() > properties_.sharedMemPerBlockOptin) return far_layout(n);
    const std::size_t warps = properties_.sharedMemPerMultiprocessor / near.shared_bytes();
    while (warps > 16 && near.threads < 128) near.threads *= 2;  // more blocks than may be resident
    near.blocks = blocks_for(near);
    return near;
  }

  Layout<P> far_layout(std::uint32_t n) const {
    using Packed = typename Stored<P>::type;
    Layout<P> far;
    far.memory = Memory::far;
    far.agent_bytes = Layout<P>::rounded(n * sizeof(Packed));
    far.threads = far_threads;
    far.blocks = std::min(blocks_for(far), far_blocks * properties_.multiProcessorCount);
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
    const auto kernel =
        layout.memory == Memory::near ? run_batch<P, Memory::near> : run_batch<P, Memory::far>;
    int blocks = 0;
    const auto bytes = layout.shared_bytes();
    if (bytes > 48 * 1024) {
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(bytes)),
            "asking for memory beside the processor");
    }
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, layout.threads, bytes),
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
