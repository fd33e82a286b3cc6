#include "election/promise_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "election/agreement.hpp"

namespace conclave::election {
namespace {

constexpr std::string_view first_word = "conclave-promise 2\n";
constexpr std::string_view older_word = "conclave-promise-1 ";
constexpr std::size_t most_promise_bytes = 16384;  // many times what a file of ours has
constexpr milliseconds most_lease = std::chrono::hours(24);

[[noreturn]] void fail_with_errno(const std::string& doing) {
  throw std::system_error(errno, std::generic_category(), doing);
}

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

Descriptor locked(const std::string& path) {
  const std::string name = path + ".lock";
  Descriptor file(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open())
    throw Error(
        fmt::format("cannot create '{}': {}", name, std::generic_category().message(errno)));
  if (::flock(file.number(), LOCK_EX | LOCK_NB) == 0) return file;
  throw Error(fmt::format("another process uses '{}'", path));
}

Descriptor folder_of(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file.is_open())
    throw Error(fmt::format("cannot open the folder '{}': {}", folder,
                            std::generic_category().message(errno)));
  return file;
}

void write_all(const Descriptor& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.number(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_with_errno("write of the promise");
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(file.number()) != 0) fail_with_errno("fsync of the promise");
}

// A file that did not exist before, whatever lay there under this name.
void write_fresh(const std::string& path, std::string_view text) {
  ::unlink(path.c_str());
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) fail_with_errno("creation of '" + path + "'");
  try {
    write_all(file, text);
  } catch (const std::system_error&) {
    ::unlink(path.c_str());
    throw;
  }
}

std::string read_all(const Descriptor& file, const std::string& path) {
  std::string text(most_promise_bytes + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t part = ::read(file.number(), text.data() + size, text.size() - size);
    if (part < 0 && errno == EINTR) continue;
    if (part < 0)
      throw Error(
          fmt::format("cannot read '{}': {}", path, std::generic_category().message(errno)));
    if (part == 0) break;
    size += static_cast<std::size_t>(part);
  }
  text.resize(size);
  return text;
}

}  // namespace

std::string promise_text(const Promise& promise, const PromiseOwner& owner,
                         const Configuration& configuration) {
  const std::string to = promise.to == nobody ? "nobody" : fmt::format("{}", promise.to);
  const std::string body =
      fmt::format("{}cluster {}\nmember {}\nlist {}\nterm {}\npromised-to {}\nlease-ms {}\n{}",
                  first_word, owner.member.cluster, owner.member.member, owner.list, promise.term,
                  to, promise.lease.count(), configuration_text(configuration));
  return fmt::format("{}sha256 {}\n", body, sha256_hex(body));
}

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
  if (!rest.starts_with(first_word)) {
    record.trouble = damage(name, "it does not begin with 'conclave-promise 2'");
    return record;
  }
  rest.remove_prefix(first_word.size());
  std::string_view cluster, member, list, term, to, lease, sum;
  Identity found;
  const bool has_lines = take_line(rest, "cluster", cluster) && take_line(rest, "member", member) &&
                         take_line(rest, "list", list) && take_line(rest, "term", term) &&
                         take_line(rest, "promised-to", to) && take_line(rest, "lease-ms", lease) &&
                         (list != elastic_list || set_configuration(rest, record.configuration));
  const std::size_t body = text.size() - rest.size();
  if (!has_lines || !take_line(rest, "sha256", sum) || !rest.empty() ||
      !set_promise(term, to, lease, record.promise) || !set_number(member, found.member)) {
    record.trouble = damage(name, "it does not have the lines that it must have");
    return record;
  }
  if (sum != sha256_hex(std::string_view(text).substr(0, body))) {
    record.trouble = damage(name, "its checksum does not fit");
    return record;
  }
  found.cluster = cluster;
  record.is_intact = true;
  record.trouble = objection_to(record.promise, record.configuration, name);
  if (list != owner.list)
    record.trouble = fmt::format(
        "'{}' was written with another list of members ({}, not {}); elections.md says how to "
        "change the list",
        name, list, owner.list);
  record.is_foreign = found != owner.member;
  if (record.is_foreign)
    record.trouble =
        fmt::format("'{}' belongs to member {} of cluster '{}', not to member {} of '{}'", name,
                    found.member, found.cluster, owner.member.member, owner.member.cluster);
  return record;
}

PromiseRecord read_promise(const std::string& path, const PromiseOwner& owner) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) {
    if (errno == ENOENT) return {};
    throw Error(fmt::format("cannot read '{}': {}", path, std::generic_category().message(errno)));
  }
  struct stat about {};
  if (::fstat(file.number(), &about) != 0 || !S_ISREG(about.st_mode))
    throw Error(fmt::format("'{}' is not a plain file", path));
  return parse_promise(read_all(file, path), owner, path);
}

PromiseFile::PromiseFile(Locked, std::string path, PromiseOwner owner)
    : path_(std::move(path)),
      owner_(std::move(owner)),
      lock_(locked(path_)),
      folder_(folder_of(path_)) {}

// The lock is taken first: who reads without it may read what another process is about to replace.
PromiseFile::PromiseFile(std::string path, PromiseOwner owner)
    : PromiseFile(Locked{}, std::move(path), std::move(owner)) {
  const PromiseRecord record = read_promise(path_, owner_);
  if (!record.trouble.empty()) throw Error(record.trouble);
  has_existed_ = record.is_there;
  promise_ = record.promise;
  configuration_ = record.configuration;
}

void PromiseFile::set_aside() {
  if (::rename(path_.c_str(), (path_ + ".damaged").c_str()) != 0 && errno != ENOENT)
    fail_with_errno("renaming of '" + path_ + "'");
  if (::fsync(folder_.number()) != 0) fail_with_errno("fsync of the folder of '" + path_ + "'");
}

void PromiseFile::remove(const std::string& path, const PromiseOwner& owner) {
  PromiseFile(Locked{}, path, owner).set_aside();
}

void PromiseFile::replace(const std::string& path, const PromiseOwner& owner,
                          const Promise& promise, const Configuration& configuration) {
  PromiseFile file(Locked{}, path, owner);
  file.set_aside();  // a crash here leaves no file, which is safe: a start without one waits too
  file.store(promise, configuration);
}

void PromiseFile::store(const Promise& promise, const Configuration& configuration) {
  const std::string fresh = path_ + ".new";
  write_fresh(fresh, promise_text(promise, owner_, configuration));
  if (::rename(fresh.c_str(), path_.c_str()) != 0) fail_with_errno("renaming of '" + fresh + "'");
  if (::fsync(folder_.number()) != 0) fail_with_errno("fsync of the folder of '" + path_ + "'");
  promise_ = promise;
  configuration_ = configuration;
}

}  // namespace conclave::election
