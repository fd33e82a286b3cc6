// A disk in simulated time: names and contents that a loss of power takes back to what was synced,
// stores that are slow, fail for lack of room, or are cut off in the middle. It can be copied, as
// an operator copies a volume.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "election/disk.hpp"
#include "election/member.hpp"

namespace conclave::election::testing {

struct PowerLoss {};  // thrown out of the process in the middle of a step

class SimulatedDisk final : public Disk {
 public:
  static constexpr const char* state_path = "state";

  explicit SimulatedDisk(std::uint64_t machine = 1) : machine_(machine) {}

  // Faults of the stores to come.
  bool is_full = false;
  Instant sync_time{};                    // of each sync
  std::optional<std::uint32_t> loses_at;  // the operation at which the power goes, from now on
  bool keeps_what_was_not_synced = true;  // at the next loss of power: as luck will have it
  std::uint64_t renames = 0;              // so many states have been stored

  std::unique_ptr<OpenFile> open(const std::string& path) override {
    const auto place = names_.find(path);
    if (place == names_.end()) return nullptr;
    return std::make_unique<File>(*this, place->second);
  }
  std::unique_ptr<OpenFile> create(const std::string& path) override {
    step();
    if (is_full) throw std::system_error(ENOSPC, std::generic_category(), "creation of " + path);
    return std::make_unique<File>(*this, names_[path] = make());
  }
  std::unique_ptr<OpenFile> folder_of(const std::string&) override {
    return std::make_unique<File>(*this, folder);
  }
  std::unique_ptr<OpenFile> lock(const std::string& path, const std::string&) override {
    if (!names_.contains(path)) durable_names_[path] = names_[path] = make();
    return std::make_unique<File>(*this, names_[path]);
  }
  void rename(const std::string& from, const std::string& to) override {
    step();
    const auto place = names_.find(from);
    if (place == names_.end())
      throw std::system_error(ENOENT, std::generic_category(), "renaming of " + from);
    names_[to] = place->second;
    names_.erase(place);
    ++renames;
  }
  void remove(const std::string& path) noexcept override { names_.erase(path); }
  std::uint64_t machine() const override { return machine_; }
  std::uint64_t boot() const override { return machine_ * 1000 + boots_; }

  Instant busy() const { return busy_; }
  // The time that syncs have taken since the last call.
  Instant take_busy() { return std::exchange(busy_, Instant{}); }

  // Accidents and operators, while no process uses the disk.
  void lose_power() {
    ++boots_;
    loses_at.reset();
    if (keeps_what_was_not_synced) return;
    names_ = durable_names_;
    for (auto& [inode, file] : files_) file.text = file.durable;
  }
  std::optional<std::string> state() const {
    const auto place = names_.find(state_path);
    if (place == names_.end()) return {};
    return files_.at(place->second).text;
  }
  void lose_state() {
    names_.erase(state_path);
    durable_names_ = names_;
  }
  // In the same file: damage.
  void spoil_state(const std::string& text) {
    auto& file = files_.at(names_.at(state_path));
    file.text = file.durable = text;
  }
  // In another file: an editor, `cp` or a restored backup makes a new one.
  void put_state(const std::string& text) {
    names_[state_path] = make();
    auto& file = files_[names_[state_path]];
    file.text = file.durable = text;
    durable_names_ = names_;
  }

 private:
  static constexpr std::uint64_t folder = 1;
  struct Content {
    std::string text;
    std::string durable;
    std::uint64_t birth = 0;
  };

  class File final : public OpenFile {
   public:
    File(SimulatedDisk& disk, std::uint64_t inode) : disk_(disk), inode_(inode) {}
    Born born() const override {
      return {disk_.machine_, inode_, inode_ == folder ? 1 : disk_.files_.at(inode_).birth};
    }
    std::string read(std::size_t most_bytes) override {
      return disk_.files_.at(inode_).text.substr(0, most_bytes);
    }
    void append(std::string_view text) override {
      const bool is_cut = disk_.is_last_step();
      disk_.files_.at(inode_).text += is_cut ? text.substr(0, text.size() / 2) : text;
      disk_.step();
    }
    void overwrite(std::string_view text) override {
      disk_.step();
      std::string& content = disk_.files_.at(inode_).text;
      content.replace(0, std::min(content.size(), text.size()), text);
    }
    void sync() override {
      disk_.step();
      disk_.busy_ += disk_.sync_time;
      if (inode_ == folder) {
        disk_.durable_names_ = disk_.names_;
      } else {
        disk_.files_.at(inode_).durable = disk_.files_.at(inode_).text;
      }
    }

   private:
    SimulatedDisk& disk_;
    std::uint64_t inode_;
  };

  // Inodes are used again in no run, but times of birth tell files apart in any case.
  std::uint64_t make() {
    const std::uint64_t inode = ++last_inode_;
    files_[inode].birth = inode * 1000;
    std::erase_if(files_, [&](const auto& entry) {  // what has no name any more
      const auto is_it = [&](const auto& name) { return name.second == entry.first; };
      return entry.first != inode && std::ranges::none_of(names_, is_it) &&
             std::ranges::none_of(durable_names_, is_it);
    });
    return inode;
  }
  bool is_last_step() const { return loses_at && *loses_at == 0; }
  void step() {
    if (is_last_step()) throw PowerLoss{};
    if (loses_at) --*loses_at;
  }

  std::uint64_t machine_;
  std::uint64_t boots_ = 0;
  std::uint64_t last_inode_ = folder;
  std::map<std::uint64_t, Content> files_;
  std::map<std::string, std::uint64_t> names_;
  std::map<std::string, std::uint64_t> durable_names_;
  Instant busy_{};
};

}  // namespace conclave::election::testing
