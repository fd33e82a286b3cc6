#include "conclave/mpi/ranks.hpp"

#include <chrono>
#include <exception>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <mpi.h>

#include "conclave/mpi/packet.hpp"

namespace conclave::mpi {
namespace {

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
