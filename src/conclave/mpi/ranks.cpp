#include "conclave/mpi/ranks.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "conclave/base/check.hpp"
#include "conclave/sweep/plan.hpp"
#include "conclave/sweep/row_fields.hpp"
#include "conclave/sweep/schedule.hpp"
#include "conclave/sweep/worker.hpp"

namespace conclave::mpi {
namespace {

// Plans, tasks and rows as bytes. All ranks run the same program, so numbers travel as they are.
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

// A worker's report: the rows of its last task, and the number of trials it wants next.
struct Report {
  sweep::Done done{};  // no rows: nothing
  std::uint64_t batch_size = 1;
  std::string failure{};  // what went wrong, in a sentence
};

// As much of a plan as workers need.
Packet packed(const sweep::Plan& plan) {
  Packet packet;
  packet.put_number(plan.texts.size());
  for (const auto& [path, text] : plan.texts) {
    packet.put_text(path);
    packet.put_text(text.name);
    packet.put_text(text.content);
  }
  packet.put_number(plan.cells.size());
  for (const sweep::Cell& cell : plan.cells) packet.put_text(sweep::json_of(cell.words));
  return packet;
}

sweep::Plan unpacked_plan(Packet packet) {
  sweep::Plan plan;
  for (auto left = packet.take_number<std::size_t>(); left > 0; --left) {
    const std::string path = packet.take_text();
    const std::string name = packet.take_text();
    plan.texts[path] = {name, packet.take_text()};
  }
  for (auto left = packet.take_number<std::size_t>(); left > 0; --left) {
    plan.cells.push_back({.words = sweep::words_of(packet.take_text())});
  }
  return plan;
}

Packet packed(const sweep::Task& task) {
  Packet packet;
  packet.put_number(task.cell);
  packet.put_number(task.trials.size());
  for (const std::uint64_t trial : task.trials) packet.put_number(trial);
  return packet;
}

sweep::Task unpacked_task(Packet& packet) {
  sweep::Task task{.cell = packet.take_number<std::size_t>()};
  for (auto left = packet.take_number<std::size_t>(); left > 0; --left) {
    task.trials.push_back(packet.take_number<std::uint64_t>());
  }
  return task;
}

Packet packed(const Report& report) {
  Packet packet = packed(report.done.task);
  for (const std::string& row : report.done.rows) packet.put_text(row);
  packet.put_number(report.done.steps);
  packet.put_number(report.done.seconds);
  packet.put_number(report.batch_size);
  packet.put_text(report.failure);
  return packet;
}

Report unpacked_report(Packet packet) {
  Report report;
  report.done.task = unpacked_task(packet);
  for (std::size_t i = 0; i < report.done.task.trials.size(); ++i) {
    report.done.rows.push_back(packet.take_text());
  }
  report.done.steps = packet.take_number<double>();
  report.done.seconds = packet.take_number<double>();
  report.batch_size = packet.take_number<std::uint64_t>();
  report.failure = packet.take_text();
  return report;
}

using Clock = std::chrono::steady_clock;

// Blocking calls of MPI spin; these do not.
constexpr std::chrono::microseconds between_looks{300};
constexpr std::chrono::milliseconds idle_pause{10};
// After an interrupt, a rank that has died must not keep the others.
constexpr std::chrono::seconds patience{3};

enum Tag : int { report_tag = 1, task_tag, wait_tag, home_tag };

void send(const Packet& packet, int rank, Tag tag) {
  const std::string& bytes = packet.bytes();
  MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, rank, tag, MPI_COMM_WORLD);
}

struct Received {
  Packet packet;
  int rank;
  int tag;
};

Received receive(MPI_Status status) {
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  MPI_Recv(bytes.data(), size, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
  return {Packet(std::move(bytes)), status.MPI_SOURCE, status.MPI_TAG};
}

Received wait_for_message() {
  for (;;) {
    int is_there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there, &status);
    if (is_there != 0) return receive(status);
    std::this_thread::sleep_for(between_looks);
  }
}

// Sends the owner's bytes to all ranks; every rank calls it and returns the same bytes.
std::string broadcast(std::string bytes) {
  std::uint64_t size = bytes.size();
  MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  bytes.resize(size);
  MPI_Bcast(bytes.data(), static_cast<int>(size), MPI_BYTE, 0, MPI_COMM_WORLD);
  return bytes;
}

// Asks the owner for a task and reports the rows of the one before, until it says that there is no
// more to do.
void worker_loop(const sweep::Plan& plan, unsigned device, const std::atomic<bool>& stop) {
  sweep::PreparedCells cells(plan, device);
  sweep::Worker worker(cells, stop);
  Report report;
  for (;;) {
    send(packed(report), 0, report_tag);
    Received order = wait_for_message();
    if (order.tag == home_tag) return;
    report = {};
    if (order.tag == wait_tag) {
      std::this_thread::sleep_for(idle_pause);
    } else {
      const sweep::Task task = unpacked_task(order.packet);
      try {
        report.done = worker.run(task);
      } catch (const std::exception& error) {
        report.failure = error.what();
      }
    }
    report.batch_size = worker.batch_size();
  }
}

// A failure on one rank ends the sweep on all of them, after what is finished has been committed.
void take(sweep::Sweep& sweep, sweep::Done done, const std::string& failure, int rank) {
  try {
    if (!failure.empty()) throw std::runtime_error(fmt::format("rank {}: {}", rank, failure));
    if (!done.rows.empty()) sweep.take(std::move(done));
  } catch (...) {
    sweep.fail(std::current_exception());
  }
}

}  // namespace

Ranks::Ranks() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &count_);
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &rank_on_node_);
  MPI_Comm_free(&node);
}

Ranks::~Ranks() {
  if (is_owner() && !has_served_) broadcast({});
  // A rank that has not reported by now is lost. The rows are committed, so the job may be ended.
  if (is_owner() && at_work_ > 0) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Finalize();
}

void Ranks::work(const std::atomic<bool>& stop) const {
  const std::string plan = broadcast({});
  if (plan.empty()) return;
  worker_loop(unpacked_plan(Packet(plan)), static_cast<unsigned>(rank_on_node_), stop);
}

void Ranks::answer(sweep::Sweep& sweep, const std::atomic<bool>& stop) {
  int is_there = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, report_tag, MPI_COMM_WORLD, &is_there, &status);
  if (is_there == 0) {
    std::this_thread::sleep_for(between_looks);
    return;
  }
  Received received = receive(status);
  Report report = unpacked_report(std::move(received.packet));
  take(sweep, std::move(report.done), report.failure, received.rank);
  if (stop || sweep.is_over()) {
    send({}, received.rank, home_tag);
    --at_work_;
  } else if (const auto task = sweep.next(report.batch_size)) {
    send(packed(*task), received.rank, task_tag);
  } else {
    send({}, received.rank, wait_tag);
  }
}

void Ranks::serve(const sweep::Plan& plan, sweep::Sweep& sweep, const std::atomic<bool>& stop) {
  broadcast(packed(plan).bytes());
  has_served_ = true;
  at_work_ = count_ - 1;
  {
    sweep::PreparedCells cells(plan, static_cast<unsigned>(rank_on_node_));
    const std::jthread own([&] { sweep.run_worker(cells, stop); });
    auto stopped = Clock::time_point::max();
    while (at_work_ > 0) {
      answer(sweep, stop);
      if (stop && stopped == Clock::time_point::max()) stopped = Clock::now();
      if (stop && Clock::now() - stopped > patience) break;
    }
  }
  sweep.finish();
}

}  // namespace conclave::mpi
