#include "conclave/mpi/packet.hpp"

#include "conclave/sweep/fields.hpp"

namespace conclave::mpi {

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

}  // namespace conclave::mpi
