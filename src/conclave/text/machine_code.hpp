// The code of a Program as instructions of the processor.
//
// An interpreted instruction costs about as much as ten of the processor, most of it to find out
// what to do. Translated one by one, with the two agents in registers, a meeting costs what it
// would in a hand-written protocol; `conclave bench texts` compares both. The translation knows
// x86-64 under Linux; elsewhere, and where the system does not let memory be executed, the
// interpreter does the same work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace conclave::text {

// Executable memory, which it owns; immutable, so that threads may share it.
class MachineCode {
 public:
  // Makes x86-64 instructions callable; null where the system grants no executable memory.
  static std::shared_ptr<const MachineCode> of(const std::vector<std::uint8_t>& bytes);
  ~MachineCode();
  MachineCode(const MachineCode&) = delete;
  MachineCode& operator=(const MachineCode&) = delete;

  // As Program::run.
  bool run(std::uint64_t* words) const { return function_(words); }

 private:
  using Function = bool (*)(std::uint64_t*);

  MachineCode(void* memory, std::size_t size);

  // Only where there is code to run.
  [[maybe_unused]] void* memory_;
  [[maybe_unused]] std::size_t size_;
  Function function_;
};

}  // namespace conclave::text
