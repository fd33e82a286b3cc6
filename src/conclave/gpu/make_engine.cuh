// Builds the gpu engine of one protocol: the kernel of warps around TrialLoop, and the host's side
// of both kernels.
// Included once per protocol, by a generated source that a CUDA compiler compiles.
#pragma once

#include <cuda_runtime.h>
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conclave/base/error.hpp"
#include "conclave/gpu/batch.hpp"
#include "conclave/gpu/device_clusters.cuh"
#include "conclave/gpu/device_memory.cuh"
#include "conclave/gpu/device_tally.hpp"
#include "conclave/gpu/device_threads.cuh"
#include "conclave/gpu/device_trial.hpp"
#include "conclave/gpu/engine.hpp"
#include "conclave/gpu/trial_loop.hpp"
#include "conclave/gpu/warp.hpp"

namespace conclave::gpu {

// How the kernel of warps is launched, and where the agents of its trials are stored; for trials of
// eight lanes each.
template <DeviceProtocol P>
struct Layout {
  static constexpr std::size_t alignment = 16;
  // The next multiple of the alignment of tallies and agents.
  static constexpr std::size_t rounded(std::size_t bytes) {
    return (bytes + alignment - 1) / alignment * alignment;
  }
  static constexpr std::size_t tally_bytes = rounded(sizeof(DeviceTallyFor<P>));

  Memory memory = Memory::near;
  std::size_t agent_bytes = 0;  // of a trial, rounded
  std::size_t tally_words = 0;  // of a trial, beside its tally
  int threads = 0;              // per block
  int blocks = 0;

  // Trials at a time and their bytes: in a block, near its threads; in all blocks, far from them.
  constexpr int trials_per_block() const { return threads / lanes_per_trial; }
  constexpr std::size_t shared_per_trial() const {
    return tally_bytes + (memory == Memory::near ? agent_bytes : 0);
  }
  constexpr std::size_t shared_bytes() const {
    return shared_per_trial() * static_cast<std::size_t>(trials_per_block());
  }
  // No more blocks than this many trials need.
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

// The kernel: each group of eight lanes runs trials of the batch until none is left.
template <DeviceProtocol P, Memory memory>
__global__ void run_batch(Batch<P> batch, Layout<P> layout, typename Stored<P>::type* far_agents,
                          TrialStreams* streams, std::uint64_t* words) {
  using Packed = typename Stored<P>::type;
  using Tally = DeviceTallyFor<P>;
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
    return Place<P>{agents, reinterpret_cast<Tally*>(mine), streams + place,
                    words + place * layout.tally_words};
  });
  loop.run();
}

template <DeviceProtocol P>
class DeviceEngine final : public Engine {
 public:
  // Runs some trials on the device and on the host. Throws Error if they differ, or if there is no
  // device.
  DeviceEngine(const P& protocol, unsigned device)
      : protocol_(protocol), on_device_(protocol), device_(device_of(device)) {
    check(cudaSetDevice(device_), "choosing the device");
    check(cudaGetDeviceProperties(&properties_, device_), "asking the device what it is");
    stream_ = std::make_unique<DeviceStream>();
    if constexpr (ClusterProtocol<P>) fit_ = cluster_fit<P>(device_, properties_);
    copy_tables();
    check_itself();
  }

  std::string device() const override { return properties_.name; }

  // A protocol without a shortcut may notify its tally of most interactions, which one thread does.
  bool spreads(std::uint32_t n, std::uint64_t trials) const override {
    return HasShortcut<P> && method_for({.n = n, .trials = trials}) == Method::clusters;
  }

  void run(const BatchRequest& request, const std::function<bool()>& keep_going,
           const std::function<void(std::uint64_t, TrialResult)>& take) override {
    check(cudaSetDevice(device_), "choosing the device");  // this may be another thread
    std::uint64_t done = 0;
    const auto run_rest = [&](Method method) {
      BatchRequest rest = request;
      rest.first_trial += done;
      rest.trials -= done;
      done += execute(rest, method, keep_going, [&](std::uint64_t i, const Finished<P>& trial) {
        take(rest.first_trial + i, result_of(protocol_, trial));
      });
    };
    if (method_for(request) == Method::clusters) {
      run_rest(Method::clusters);
      has_drawn_ = done < request.trials;
    }
    if (done < request.trials) run_rest(Method::warps);
  }

 private:
  // In device memory, more trials than these slow each other down: it serves a limited number of
  // accesses at a time.
  static constexpr int far_threads = 128;
  static constexpr int far_blocks = 2;                 // per multiprocessor
  static constexpr std::size_t most_far_fraction = 2;  // of the free memory, half
  static constexpr std::uint32_t clusters_from_agents = 250'000;

  enum class Method : std::uint8_t { warps, clusters };
  // Clusters run few trials at a time, each of them fast: for few trials, and for populations of
  // which few fill the second cache.
  Method method_for(const BatchRequest& request) const {
    const bool are_few = request.trials <= static_cast<std::uint64_t>(fit_.clusters);
    const std::uint64_t least = are_few ? least_spread_agents : clusters_from_agents;
    const bool is_for_clusters = request.n >= least && request.n <= most_agents_of_clusters;
    return fit_.clusters > 0 && !has_drawn_ && is_for_clusters ? Method::clusters : Method::warps;
  }

  // The kernel must be over before memory that it uses is given back, also where `take` throws.
  class EndOfKernel {
   public:
    EndOfKernel(const DeviceStream& stream, SharedArray<bool>& stop)
        : stream_(stream), stop_(stop) {}
    EndOfKernel(const EndOfKernel&) = delete;
    EndOfKernel& operator=(const EndOfKernel&) = delete;
    ~EndOfKernel() {
      static_cast<volatile bool&>(stop_[0]) = true;
      cudaStreamSynchronize(stream_.get());
    }

   private:
    const DeviceStream& stream_;
    SharedArray<bool>& stop_;
  };

  // Calls `take` for every trial in order, as soon as it and all before it are complete, up to the
  // first that was given up. Returns for how many.
  template <class Take>
  std::uint64_t execute(const BatchRequest& request, Method method,
                        const std::function<bool()>& keep_going, Take take) const {
    using Packed = typename Stored<P>::type;
    DeviceArray<P> protocol(*stream_, std::vector<P>{on_device_});
    DeviceArray<std::uint64_t> next(*stream_, std::vector<std::uint64_t>{0});
    SharedArray<Finished<P>> results(request.trials, blank(protocol_, request.n));
    SharedArray<bool> stop(1, false);
    const Batch<P> batch =
        batch_of(request, protocol.data(), results.on_device(), next.data(), stop.on_device());
    if constexpr (ClusterProtocol<P>) {
      if (method == Method::clusters) {
        const auto fitting = [&](std::size_t bytes) { return fitting_blocks(request.n, bytes, 1); };
        Clusters<P> clusters(*stream_, protocol_, request, properties_, fit_, fitting);
        const EndOfKernel end(*stream_, stop);
        clusters.start(batch);
        return hand_over(results, stop, request.trials, keep_going, take);
      }
    }
    const Layout<P> where = layout(request.n).for_trials(request.trials);
    DeviceArray<Packed> far(*stream_, where.far_bytes() / sizeof(Packed));
    DeviceArray<TrialStreams> streams(*stream_, where.places());
    DeviceArray<std::uint64_t> words(*stream_, where.places() * where.tally_words);
    const EndOfKernel end(*stream_, stop);
    const auto kernel =
        where.memory == Memory::near ? run_batch<P, Memory::near> : run_batch<P, Memory::far>;
    kernel<<<where.blocks, where.threads, where.shared_bytes(), stream_->get()>>>(
        batch, where, far.data(), streams.data(), words.data());
    check(cudaGetLastError(), "starting the trials");
    return hand_over(results, stop, request.trials, keep_going, take);
  }

  // Reads the results while the kernel runs, and stops it if keep_going returns false.
  template <class Take>
  std::uint64_t hand_over(const SharedArray<Finished<P>>& results, SharedArray<bool>& stop,
                          std::uint64_t trials, const std::function<bool()>& keep_going,
                          Take take) const {
    constexpr long longest_pause = 5'000'000;
    timespec pause{.tv_sec = 0, .tv_nsec = 20'000};
    std::uint64_t next = 0;
    bool is_running = true;
    while (next < trials) {
      is_running = is_running && cudaStreamQuery(stream_->get()) == cudaErrorNotReady;
      if (!is_running) stream_->wait("running the trials");
      const std::uint64_t before = next;
      while (next < trials && (!is_running || is_complete(results[next]))) {
        if (results[next].has_drawn) return next;
        take(next, results[next]);
        ++next;
      }
      if (!is_running) continue;
      if (!keep_going()) static_cast<volatile bool&>(stop[0]) = true;
      pause.tv_nsec = next != before ? 20'000 : std::min(pause.tv_nsec * 2, longest_pause);
      nanosleep(&pause, nullptr);
    }
    stream_->wait("running the trials");
    return trials;
  }

  static bool is_complete(const Finished<P>& trial) {
    return __atomic_load_n(&trial.is_complete, __ATOMIC_ACQUIRE);
  }

  // A protocol that looks at tables looks at copies of them there.
  void copy_tables() {
    if constexpr (requires(P & protocol) {
                    protocol.for_each_table([](const auto*&, std::size_t) {});
                  }) {
      on_device_.for_each_table([this]<class T>(const T*& first, std::size_t count) {
        const auto* const bytes = reinterpret_cast<const std::byte*>(first);
        tables_.emplace_back(*stream_, std::vector<std::byte>(bytes, bytes + count * sizeof(T)));
        first = reinterpret_cast<const T*>(tables_.back().data());
      });
    }
  }

  // A compiler for devices silently accepts some C++ that it cannot translate (the elements of a
  // constant array, for one). So every engine first shows that it computes what this processor
  // does: some interactions of a few agents, with the protocol as it will be run.
  void check_itself() {
    const BatchRequest request{.n = 16, .limit = 2000, .trials = 64};
    const auto here = emulated<Memory::near>(protocol_, request);
    compare_with(here, request, Method::warps);
    if (fit_.clusters > 0) {
      has_drawn_ = compare_with(here, request, Method::clusters) < request.trials;
    }
  }

  // Returns how many trials were compared.
  std::uint64_t compare_with(const std::vector<Finished<P>>& here, const BatchRequest& request,
                             Method method) const {
    return execute(
        request, method, [] { return true; },
        [&](std::uint64_t i, const Finished<P>& there) {
          if (!is_same(result_of(protocol_, here[i]), result_of(protocol_, there))) {
            throw Error(
                "engine gpu: the device and this processor disagree about this protocol; use "
                "engine agents, and please report it");
          }
        });
  }

  static bool is_same(const TrialResult& a, const TrialResult& b) {
    const auto is_equal = [](const Observation& one, const Observation& other) {
      return one.name == other.name && one.value == other.value;
    };
    return a.interactions == b.interactions && a.ending == b.ending && a.leaders == b.leaders &&
           std::ranges::equal(a.observations, b.observations, is_equal);
  }

  // In shared memory if the trials of a warp fit; blocks of one warp waste least of it.
  Layout<P> layout(std::uint32_t n) const {
    using Packed = typename Stored<P>::type;
    Layout<P> near;
    near.agent_bytes = Layout<P>::rounded(n * sizeof(Packed));
    near.tally_words = DeviceTally<P>::words(protocol_, n);
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
    far.tally_words = DeviceTally<P>::words(protocol_, n);
    far.threads = far_threads;
    far.blocks = std::min(blocks_for(far), far_blocks * properties_.multiProcessorCount);
    far.blocks = std::min(
        far.blocks, fitting_blocks(n, far.agent_bytes + far.tally_words * sizeof(std::uint64_t),
                                   far.trials_per_block()));
    return far;
  }

  // How many blocks of this many trials with this many bytes each fit into the memory of the
  // device. Throws Error if none does.
  int fitting_blocks(std::uint32_t n, std::size_t bytes, int trials) const {
    constexpr std::size_t many = 1u << 20;
    std::size_t free_bytes = 0;
    std::size_t all_bytes = 0;
    check(cudaMemGetInfo(&free_bytes, &all_bytes), "asking for its free memory");
    const std::size_t needed = bytes * static_cast<std::size_t>(trials);
    const std::size_t fitting = free_bytes / most_far_fraction / needed;
    if (fitting > 0) return static_cast<int>(std::min(fitting, many));
    throw Error("engine gpu: n = " + std::to_string(n) + " needs " + std::to_string(needed >> 20) +
                " MiB for " + std::to_string(trials) + " trials, and the device has " +
                std::to_string(free_bytes >> 20) + " MiB free; use engine agents");
  }

  int blocks_for(const Layout<P>& layout) const {
    const auto kernel =
        layout.memory == Memory::near ? run_batch<P, Memory::near> : run_batch<P, Memory::far>;
    int blocks = 0;
    const auto bytes = layout.shared_bytes();
    if (bytes > properties_.sharedMemPerBlock) allow_shared_memory(kernel, bytes);
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, layout.threads, bytes),
          "planning");
    return blocks * properties_.multiProcessorCount;
  }

  P protocol_;
  P on_device_;
  int device_;
  std::unique_ptr<DeviceStream> stream_;
  std::deque<DeviceArray<std::byte>> tables_;
  cudaDeviceProp properties_{};
  ClusterFit fit_{};
  bool has_drawn_ = false;  // a trial has drawn random numbers in interactions: no more clusters
};

// See MakeEngine.
template <class P>
std::unique_ptr<Engine> make_engine(const void* protocol, unsigned device) {
  if constexpr (DeviceProtocol<P>) {
    return std::make_unique<DeviceEngine<P>>(*static_cast<const P*>(protocol), device);
  } else {
    return nullptr;
  }
}

}  // namespace conclave::gpu
