// Plans, tasks and rows as bytes. All ranks run the same program, so numbers travel as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/base/check.hpp"
#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/schedule.hpp"
#include "conclave/sweep/worker.hpp"

namespace conclave::mpi {

class Packet {
 public:
  Packet() = default;
  explicit Packet(std::string bytes) : bytes_(std::move(bytes)) {}
  const std::string& bytes() const { return bytes_; }

  template <class Number>
  void put_number(Number number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void put_text(std::string_view text) {
    put_number(text.size());
    bytes_ += text;
  }

  template <class Number>
  Number take_number() {
    CONCLAVE_CHECK(at_ + sizeof(Number) <= bytes_.size());
    Number number;
    std::memcpy(&number, bytes_.data() + at_, sizeof number);
    at_ += sizeof number;
    return number;
  }
  std::string take_text() {
    const auto size = take_number<std::size_t>();
    CONCLAVE_CHECK(size <= bytes_.size() - at_);
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
};

// As much of a plan as workers need.
Packet packed(const sweep::Plan& plan);
sweep::Plan unpacked_plan(Packet packet);

Packet packed(const sweep::Task& task);
sweep::Task unpacked_task(Packet& packet);

// A worker's report: the rows of its last task, and the number of trials it wants next.
struct Report {
  sweep::Done done{};  // no rows: nothing
  std::uint64_t batch_size = 1;
  std::string failure{};  // what went wrong, in a sentence
};
Packet packed(const Report& report);
Report unpacked_report(Packet packet);

}  // namespace conclave::mpi
