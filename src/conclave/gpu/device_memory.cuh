// Devices and their memory, with owners and with errors as exceptions.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "conclave/base/error.hpp"

namespace conclave::gpu {

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw Error(std::string("engine gpu: ") + what + " failed: " + cudaGetErrorString(status));
}

// The device of that number, modulo how many this process may use. Throws Error where there is
// none.
inline int device_of(unsigned number) {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices > 0) {
    return static_cast<int>(number % static_cast<unsigned>(devices));
  }
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

}  // namespace conclave::gpu
