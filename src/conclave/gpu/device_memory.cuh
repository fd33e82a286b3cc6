// Devices and their memory, with owners and with errors as exceptions.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "conclave/base/error.hpp"

namespace conclave::gpu {

// Throws Error unless the call was a success; `what` was to be done.
inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw Error(std::string("engine gpu: ") + what + " failed: " + cudaGetErrorString(status));
}

// The device of that number, modulo how many this process may use. Throws Error if there is none.
inline int device_of(unsigned number) {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices > 0) {
    return static_cast<int>(number % static_cast<unsigned>(devices));
  }
  throw Error(std::string("engine gpu found no CUDA device on this machine (") +
              cudaGetErrorString(status) + "); engine agents runs the same trials");
}

// Lets blocks of a kernel have so many bytes of the memory that their threads share.
template <class Kernel>
void allow_shared_memory(Kernel* kernel, std::size_t bytes) {
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(bytes)),
        "asking for shared memory");
}

// Work in its order, beside that of other engines of this process.
class DeviceStream {
 public:
  DeviceStream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "asking for a stream");
  }
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;
  ~DeviceStream() { cudaStreamDestroy(stream_); }

  cudaStream_t get() const { return stream_; }
  // Returns when all that was asked of the stream is done. Throws Error with what failed: `what`
  // was.
  void wait(const char* what) const { check(cudaStreamSynchronize(stream_), what); }

 private:
  cudaStream_t stream_ = nullptr;
};

// Memory on the device, for the work of a stream; freed with its owner, which the stream outlives.
template <class T>
class DeviceArray {
 public:
  // Not filled, or a copy of the values. The stream must outlive the array, and frees it when all
  // that was asked of it before is done. Throws Error where the device has no such memory.
  DeviceArray(const DeviceStream& stream, std::size_t count) : stream_(stream), size_(count) {
    const std::size_t bytes = std::max<std::size_t>(1, count * sizeof(T));
    check(cudaMallocAsync(&first_, bytes, stream_.get()), "asking for memory");
  }
  DeviceArray(const DeviceStream& stream, const std::vector<T>& values)
      : DeviceArray(stream, values.size()) {
    check(cudaMemcpyAsync(first_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice,
                          stream_.get()),
          "copying to the device");
    stream_.wait("copying to the device");
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFreeAsync(first_, stream_.get()); }

  // On the device: not to be read by the host.
  T* data() { return first_; }
  std::size_t size() const { return size_; }

 private:
  const DeviceStream& stream_;
  std::size_t size_;
  T* first_ = nullptr;
};

// Keeps memory in the second cache for the work of a stream, as far as so many bytes of it may be
// used for that. Otherwise what is written and read once drives it out. Where the device will not
// do so, it is slower.
class KeptInCache {
 public:
  // The stream must outlive it. `room` is how many bytes of the cache may serve this, on the whole
  // device.
  KeptInCache(const DeviceStream& stream, void* first, std::size_t bytes, std::size_t room)
      : stream_(stream) {
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, room);
    cudaStreamAttrValue value{};
    value.accessPolicyWindow = {.base_ptr = first,
                                .num_bytes = bytes,
                                .hitRatio = 1,
                                .hitProp = cudaAccessPropertyPersisting,
                                .missProp = cudaAccessPropertyStreaming};
    cudaStreamSetAttribute(stream_.get(), cudaStreamAttributeAccessPolicyWindow, &value);
    forget_errors();
  }
  KeptInCache(const KeptInCache&) = delete;
  KeptInCache& operator=(const KeptInCache&) = delete;
  ~KeptInCache() {
    const cudaStreamAttrValue nothing{};
    cudaStreamSetAttribute(stream_.get(), cudaStreamAttributeAccessPolicyWindow, &nothing);
    cudaCtxResetPersistingL2Cache();
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0);
    forget_errors();
  }

 private:
  static void forget_errors() { cudaGetLastError(); }

  const DeviceStream& stream_;
};

// Memory of this machine that devices reach. What is given back is kept for the next taker: to free
// it would wait for all that the devices are doing for this process. Serves several threads.
class SharedMemory {
 public:
  // So many bytes, not filled; `give_back` takes the same number. Throws Error if there is none.
  static void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex());
    if (const auto found = kept().find(bytes); found != kept().end()) {
      return kept().extract(found).mapped();
    }
    void* first = nullptr;
    check(cudaHostAlloc(&first, bytes, cudaHostAllocMapped | cudaHostAllocPortable),
          "asking for memory that it shares with this machine");
    return first;
  }
  static void give_back(void* first, std::size_t bytes) {
    const std::lock_guard lock(mutex());
    kept().emplace(bytes, first);
  }

 private:
  static std::mutex& mutex() {
    static std::mutex only;
    return only;
  }
  static std::multimap<std::size_t, void*>& kept() {
    static std::multimap<std::size_t, void*> all;
    return all;
  }
};

// Memory of this machine that the device reads and writes while a kernel runs.
template <class T>
class SharedArray {
 public:
  // Each element is a copy of the value. Rounded up to a power of two bytes, so that later ones
  // fit.
  SharedArray(std::size_t count, const T& value)
      : bytes_(std::bit_ceil(count * sizeof(T))),
        first_(static_cast<T*>(SharedMemory::take(bytes_))) {
    std::uninitialized_fill_n(first_, count, value);
  }
  SharedArray(const SharedArray&) = delete;
  SharedArray& operator=(const SharedArray&) = delete;
  ~SharedArray() { SharedMemory::give_back(first_, bytes_); }

  T& operator[](std::size_t i) { return first_[i]; }
  const T& operator[](std::size_t i) const { return first_[i]; }
  T* on_device() const {
    void* pointer = nullptr;
    check(cudaHostGetDevicePointer(&pointer, first_, 0), "sharing memory");
    return static_cast<T*>(pointer);
  }

 private:
  std::size_t bytes_;
  T* first_;
};

}  // namespace conclave::gpu
