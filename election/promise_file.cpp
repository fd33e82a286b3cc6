// The file is long because the text of a promise, its place on the disk and its storage are one
// format.
#include "election/promise_file.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "election/agreement.hpp"

namespace conclave::election {
namespace {

constexpr std::string_view first_word = "conclave-promise 3\n";
constexpr std::string_view second_word = "conclave-promise 2\n";  // without incarnations
constexpr std::string_view older_word = "conclave-promise-1 ";
constexpr std::size_t most_promise_bytes = 1 << 18;  // many times what a file of ours has
constexpr milliseconds most_lease = std::chrono::hours(24);

// Takes the line `key value` from the front; false: there is none.
bool take_line(std::string_view& text, std::string_view key, std::string_view& value) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || !text.starts_with(key) || text.size() <= key.size() ||
      text[key.size()] != ' ')
    return false;
  value = text.substr(key.size() + 1, end - key.size() - 1);
  text.remove_prefix(end + 1);
  return true;
}

// Digits and nothing else: no sign, no space.
template <class T>
bool set_number(std::string_view word, T& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc{} && end == word.data() + word.size() && !word.empty();
}

bool set_promise(std::string_view term, std::string_view to, std::string_view lease,
                 Promise& promise) {
  milliseconds::rep lease_ms = 0;
  const bool are_numbers = set_number(term, promise.term) && set_number(lease, lease_ms) &&
                           (to == "nobody" || set_number(to, promise.to));
  promise.lease = milliseconds(lease_ms);
  return are_numbers;
}

// Splits at the first space.
std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

bool set_seat(std::string_view line, Configuration& configuration) {
  Seat seat;
  const bool is_number = set_number(take_word(line), seat.member);
  const auto& seats = configuration.seats;
  const bool is_next = seats.empty() || seats.back().member < seat.member;
  if (!is_number || !is_next || seat.member >= configuration.next_member) return false;
  try {
    seat.endpoint = parse_endpoint(line);
  } catch (const Error&) {
    return false;
  }
  if (!is_plain_host(seat.endpoint.host) || to_string(seat.endpoint) != line) return false;
  configuration.seats.push_back(seat);
  return true;
}

bool set_configuration(std::string_view& rest, Configuration& configuration) {
  std::string_view head, line;
  if (!take_line(rest, "configuration", head)) return false;
  const bool are_numbers = set_number(take_word(head), configuration.stamp.term) &&
                           set_number(take_word(head), configuration.stamp.version) &&
                           set_number(head, configuration.next_member);
  if (!are_numbers || configuration.next_member > most_member_numbers) return false;
  while (take_line(rest, "seat", line)) {
    if (!set_seat(line, configuration)) return false;
  }
  configuration.stamp.list = fingerprint_of(configuration.seats);
  return !configuration.seats.empty();
}

bool set_hex(std::string_view word, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number, 16);
  const bool is_number = error == std::errc{} && end == word.data() + word.size();
  return is_number && fmt::format("{:016x}", number) == word;
}

bool set_incarnation(std::string_view line, Incarnation& incarnation) {
  return set_number(take_word(line), incarnation.number) && set_hex(line, incarnation.bits);
}

// Its own incarnation, then those of others that are not 0 0, in their order.
bool set_table(std::string_view& rest, MemberIndex self, IncarnationTable& table) {
  std::string_view line;
  Incarnation own;
  if (!take_line(rest, "incarnation", line) || !set_incarnation(line, own)) return false;
  MemberIndex least = 0;
  while (take_line(rest, "known", line)) {
    MemberIndex member = 0;
    Incarnation known;
    const bool is_known = set_number(take_word(line), member) && set_incarnation(line, known);
    if (!is_known || member < least || member == self || member >= most_member_numbers ||
        !table.raise(member, known))
      return false;
    least = member + 1;
  }
  table.raise(self, own);
  return true;
}

std::string table_text(const IncarnationTable& table, MemberIndex self) {
  std::string text = fmt::format("incarnation {}\n", to_string(table.of(self)));
  for (const auto& [member, incarnation] : table.entries()) {
    if (member != self) text += fmt::format("known {} {}\n", member, to_string(incarnation));
  }
  return text;
}

bool set_place(std::string_view line, FilePlace& place) {
  if (line == "none") return true;
  const bool are_names =
      set_hex(take_word(line), place.machine) && set_hex(take_word(line), place.boot);
  for (std::uint64_t* const each :
       {&place.device, &place.inode, &place.birth, &place.lock_inode, &place.lock_birth}) {
    if (!set_number(take_word(line), *each)) return false;
  }
  return are_names && line.empty();
}

std::string place_text(const FilePlace& place) {
  if (place == FilePlace{}) return "place none\n";
  return fmt::format("place {:016x} {:016x} {} {} {} {} {}\n", place.machine, place.boot,
                     place.device, place.inode, place.birth, place.lock_inode, place.lock_birth);
}

// The lock file holds the count of the newest state file. Only its first count is synced: what a
// crash of the machine can lose is the newest counts, and a smaller one distrusts fewer files,
// never the newest. 0 in a new lock file, which may have inode and time of birth of one that was
// removed.
std::uint64_t count_in(OpenFile& lock) {
  const std::string text = lock.read(32);
  std::uint64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

std::string configuration_text(const Configuration& configuration) {
  if (configuration.seats.empty()) return {};
  std::string text = fmt::format("configuration {} {} {}\n", configuration.stamp.term,
                                 configuration.stamp.version, configuration.next_member);
  for (const Seat& seat : configuration.seats)
    text += fmt::format("seat {} {}\n", seat.member, to_string(seat.endpoint));
  return text;
}

std::string damage(const std::string& name, std::string_view what) {
  return fmt::format("'{}' is damaged: {}; conclave cluster repair says what can be done", name,
                     what);
}

// Checks the numbers of an undamaged file. A member takes a list over when it has promised in
// the term that the list bears, or in a later one.
std::string objection_to(const Promise& promise, const Configuration& configuration,
                         const std::string& name) {
  if (promise.term > most_term)
    return fmt::format("'{}' says term {}, and no election can reach a term beyond {}; "
                       "conclave cluster repair says what can be done",
                       name, promise.term, most_term);
  if (configuration.stamp.term > promise.term)
    return fmt::format("'{}' says that its list is of term {}, and the newest promise of term {}; "
                       "conclave cluster repair says what can be done",
                       name, configuration.stamp.term, promise.term);
  if (promise.lease < milliseconds(1) || promise.lease > most_lease)
    return fmt::format("'{}' says a lease of {} ms, which must be 1 to {}", name,
                       promise.lease.count(), most_lease.count());
  return {};
}

}  // namespace

bool is_in_place(const FilePlace& written, std::uint64_t count, const FilePlace& found,
                 std::uint64_t newest) {
  const bool has_births = written.birth != 0 && written.lock_birth != 0;
  const bool is_same_machine = (written.boot != 0 && written.boot == found.boot) ||
                               (written.machine != 0 && written.machine == found.machine);
  FilePlace same = found;
  same.machine = written.machine;
  same.boot = written.boot;
  return has_births && is_same_machine && same == written && newest != 0 && count >= newest;
}

std::string promise_text(const MemberState& state, const PromiseOwner& owner,
                         const FilePlace& place, std::uint64_t count) {
  const Promise& promise = state.promise;
  const std::string to = promise.to == nobody ? "nobody" : fmt::format("{}", promise.to);
  const std::string body = fmt::format(
      "{}cluster {}\nidentity {:016x}\nmember {}\nlist {}\n{}count {}\nterm {}\npromised-to {}\n"
      "lease-ms {}\n{}{}",
      first_word, owner.member.cluster, owner.identity, owner.member.member, owner.list,
      place_text(place), count, promise.term, to, promise.lease.count(),
      table_text(state.table, owner.member.member), configuration_text(state.configuration));
  return fmt::format("{}sha256 {}\n", body, sha256_hex(body));
}

namespace {

// The lines of a file after its first one, up to the checksum.
struct PromiseLines {
  Identity member;
  std::uint64_t identity = 0;
  std::string_view list;
};

bool set_lines(std::string_view& rest, bool is_older, PromiseLines& lines, PromiseRecord& record) {
  std::string_view cluster, identity, member, place = "none", count = "0", term, to, lease;
  MemberState& state = record.state;
  const bool has_head =
      take_line(rest, "cluster", cluster) && (is_older || take_line(rest, "identity", identity)) &&
      take_line(rest, "member", member) && take_line(rest, "list", lines.list) &&
      (is_older || (take_line(rest, "place", place) && take_line(rest, "count", count)));
  const bool has_promise = has_head && take_line(rest, "term", term) &&
                           take_line(rest, "promised-to", to) && take_line(rest, "lease-ms", lease);
  lines.member.cluster = cluster;
  return has_promise && set_number(member, lines.member.member) &&
         (is_older || set_hex(identity, lines.identity)) && set_place(place, record.place) &&
         set_number(count, record.count) && set_promise(term, to, lease, state.promise) &&
         (is_older || set_table(rest, lines.member.member, state.table)) &&
         (lines.list != elastic_list || set_configuration(rest, state.configuration));
}

std::string objection_to(const PromiseLines& lines, const PromiseOwner& owner,
                         const std::string& name) {
  if (lines.member != owner.member)
    return fmt::format("'{}' belongs to member {} of cluster '{}', not to member {} of '{}'", name,
                       lines.member.member, lines.member.cluster, owner.member.member,
                       owner.member.cluster);
  if (lines.identity != owner.identity)
    return fmt::format("'{}' was written when the cluster had the identity {:016x}, and the "
                       "configuration says {:016x}: one of them is of before a restore",
                       name, lines.identity, owner.identity);
  const bool is_unnamed = lines.list == founding_list && owner.list != elastic_list;
  if (lines.list != owner.list && !is_unnamed)
    return fmt::format("'{}' was written with another list of members ({}, not {}); "
                       "docs/how-to/elections.md says how to "
                       "change the list",
                       name, lines.list, owner.list);
  return {};
}

}  // namespace

PromiseRecord parse_promise(const std::string& text, const PromiseOwner& owner,
                            const std::string& name) {
  PromiseRecord record{.is_there = true};
  std::string_view rest = text;
  if (rest.starts_with(older_word)) {
    record.trouble = fmt::format("'{}' has format 1, which holds no lease and no checksum; "
                                 "conclave cluster repair writes it anew",
                                 name);
    return record;
  }
  const bool is_older = rest.starts_with(second_word);
  if (!is_older && !rest.starts_with(first_word)) {
    record.trouble = damage(name, "it does not begin with 'conclave-promise 3'");
    return record;
  }
  rest.remove_prefix(first_word.size());
  PromiseLines lines;
  const bool has_lines = set_lines(rest, is_older, lines, record);
  const std::size_t body = text.size() - rest.size();
  std::string_view sum;
  if (!has_lines || !take_line(rest, "sha256", sum) || !rest.empty()) {
    record.trouble = damage(name, "it does not have the lines that it must have");
    return record;
  }
  if (sum != sha256_hex(std::string_view(text).substr(0, body))) {
    record.trouble = damage(name, "its checksum does not fit");
    return record;
  }
  if (is_older) lines.identity = owner.identity;
  record.is_intact = true;
  record.is_foreign = lines.member != owner.member;
  record.trouble = objection_to(lines, owner, name);
  if (record.trouble.empty())
    record.trouble = objection_to(record.state.promise, record.state.configuration, name);
  return record;
}

PromiseRecord read_promise(const std::string& path, const PromiseOwner& owner, Disk& disk) {
  const std::unique_ptr<OpenFile> file = disk.open(path);
  return file ? parse_promise(file->read(most_promise_bytes + 1), owner, path) : PromiseRecord{};
}

PromiseFile::PromiseFile(Locked, std::string path, PromiseOwner owner, Disk& disk)
    : disk_(&disk),
      path_(std::move(path)),
      owner_(std::move(owner)),
      lock_(disk.lock(path_ + ".lock", path_)),
      folder_(disk.folder_of(path_)) {}

FilePlace PromiseFile::place_of(const OpenFile& file) const {
  const Born own = file.born();
  const Born lock = lock_->born();
  return {.machine = disk_->machine(),
          .boot = disk_->boot(),
          .device = own.device,
          .inode = own.inode,
          .birth = own.time,
          .lock_inode = lock.inode,
          .lock_birth = lock.time};
}

// The lock is taken first: who reads without it may read what another process is about to replace.
PromiseFile::PromiseFile(std::string path, PromiseOwner owner, Disk& disk)
    : PromiseFile(Locked{}, std::move(path), std::move(owner), disk) {
  const PromiseRecord record = read_promise(path_, owner_, disk);
  if (!record.trouble.empty()) throw Error(record.trouble);
  has_existed_ = record.is_there;
  state_ = record.state;
  const std::uint64_t newest = count_in(*lock_);
  count_ = std::max(record.count, newest);
  const std::unique_ptr<OpenFile> file = has_existed_ ? disk.open(path_) : nullptr;
  is_proof_ = was_in_place_ =
      file != nullptr && is_in_place(record.place, record.count, place_of(*file), newest);
}

void PromiseFile::set_aside() {
  try {
    disk_->rename(path_, path_ + ".damaged");
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::no_such_file_or_directory) throw;
  }
  folder_->sync();
}

void PromiseFile::remove(const std::string& path, const PromiseOwner& owner) {
  PromiseFile(Locked{}, path, owner, posix_disk()).set_aside();
}

void PromiseFile::replace(const std::string& path, const PromiseOwner& owner,
                          const MemberState& state, bool is_vouched) {
  PromiseFile file(Locked{}, path, owner, posix_disk());
  file.set_aside();  // a crash here leaves no file, which is safe: a start without one recovers
  file.count_ = count_in(*file.lock_);
  file.store(state, is_vouched);
}

void PromiseFile::store(const MemberState& state, bool is_proof) {
  const std::string fresh = path_ + ".new";
  const bool is_first = count_in(*lock_) == 0;
  try {
    const std::unique_ptr<OpenFile> file = disk_->create(fresh);
    const FilePlace place = is_proof ? place_of(*file) : FilePlace{};
    file->append(promise_text(state, owner_, place, count_ + 1));
    file->sync();
    disk_->rename(fresh, path_);
  } catch (const std::system_error&) {
    disk_->remove(fresh);
    throw;
  }
  folder_->sync();
  lock_->overwrite(fmt::format("{:020}\n", ++count_));
  if (is_first) lock_->sync();
  state_ = state;
  is_proof_ = is_proof;
}

}  // namespace conclave::election
