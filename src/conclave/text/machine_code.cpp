#include "conclave/text/machine_code.hpp"

#include <cstring>

#if defined(__x86_64__) && defined(__linux__)
#include <sys/mman.h>
#endif

namespace conclave::text {

#if defined(__x86_64__) && defined(__linux__)

// Memory is never writable and executable at the same time.
std::shared_ptr<const MachineCode> MachineCode::of(const std::vector<std::uint8_t>& bytes) {
  void* const memory =
      ::mmap(nullptr, bytes.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  std::memcpy(memory, bytes.data(), bytes.size());
  std::shared_ptr<const MachineCode> code(new MachineCode(memory, bytes.size()));
  return ::mprotect(memory, bytes.size(), PROT_READ | PROT_EXEC) == 0 ? code : nullptr;
}

MachineCode::~MachineCode() { ::munmap(memory_, size_); }

#else

std::shared_ptr<const MachineCode> MachineCode::of(const std::vector<std::uint8_t>&) {
  return nullptr;
}

MachineCode::~MachineCode() = default;

#endif

MachineCode::MachineCode(void* memory, std::size_t size)
    : memory_(memory), size_(size), function_(reinterpret_cast<Function>(memory)) {}

}  // namespace conclave::text
