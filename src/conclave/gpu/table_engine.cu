// The gpu engines of protocol texts, whose tables are given at run time; and how many devices there
// are.
#include "conclave/gpu/make_engine.cuh"
#include "conclave/gpu/table_protocol.hpp"

namespace conclave::gpu {

std::unique_ptr<Engine> engine_of_table_8(const void* protocol, unsigned device) {
  return make_engine<TableProtocol<std::uint8_t>>(protocol, device);
}

std::unique_ptr<Engine> engine_of_table_16(const void* protocol, unsigned device) {
  return make_engine<TableProtocol<std::uint16_t>>(protocol, device);
}

unsigned device_count() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) return 0;
  return static_cast<unsigned>(devices);
}

}  // namespace conclave::gpu
