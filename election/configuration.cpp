#include "election/configuration.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::election {
namespace {

// Bytes of a note beside the seats, with room to spare.
constexpr std::size_t note_overhead = 64;

// An address that a process can listen on, and that nobody can dial: of zeros alone.
bool is_unspecified(std::string_view host) {
  return host == "*" || host.find_first_not_of("0.:[]") == std::string_view::npos;
}

}  // namespace

Endpoint parse_endpoint(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const auto wrong = [&] {
    return Error(fmt::format("'{}' is no endpoint; write HOST:PORT, for example 10.0.0.7:7000 or "
                             "[::1]:7000",
                             text));
  };
  if (colon == std::string_view::npos) throw wrong();
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  const bool is_bracketed = host.starts_with('[') && host.ends_with(']');
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  if (host.empty() || (!is_bracketed && host.find(':') != std::string_view::npos)) throw wrong();
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size()) throw wrong();
  return {std::string{host}, port};
}

bool is_plain_host(std::string_view host) {
  constexpr std::string_view allowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]%";
  return !host.empty() && host.size() <= 255 &&
         host.find_first_not_of(allowed) == std::string_view::npos;
}

std::string to_string(const Endpoint& endpoint) {
  const bool has_colons = endpoint.host.find(':') != std::string::npos;
  return has_colons ? fmt::format("[{}]:{}", endpoint.host, endpoint.port)
                    : fmt::format("{}:{}", endpoint.host, endpoint.port);
}

const Seat* Configuration::find(MemberIndex member) const {
  const auto place = std::ranges::lower_bound(seats, member, {}, &Seat::member);
  return place != seats.end() && place->member == member ? &*place : nullptr;
}

std::uint64_t fingerprint_of(const std::vector<Seat>& seats) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const Seat& seat : seats) {
    for (const char each : fmt::format("{}={}\n", seat.member, to_string(seat.endpoint))) {
      hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3;
    }
  }
  return hash == 0 ? 1 : hash;
}

bool fits_message(const std::vector<Seat>& seats) {
  std::size_t bytes = note_overhead;
  for (const Seat& seat : seats) bytes += 7 + seat.endpoint.host.size();
  return bytes <= max_message_bytes;
}

Configuration founded_by(const std::vector<Endpoint>& members) {
  Configuration result;
  for (const Endpoint& member : members) result.seats.push_back({result.next_member++, member});
  result.stamp.list = fingerprint_of(result.seats);
  return result;
}

Configuration changed(const Configuration& before, const Change& change) {
  Configuration result = before;
  ++result.stamp.version;
  if (change.kind == Change::Kind::add) {
    result.seats.push_back({change.member, change.endpoint});
    result.next_member = change.member + 1;
  } else {
    std::erase_if(result.seats, [&](const Seat& seat) { return seat.member == change.member; });
  }
  result.stamp.list = fingerprint_of(result.seats);
  return result;
}

std::string objection_to(const Change& change, const Configuration& before) {
  if (change.kind == Change::Kind::remove) {
    if (!before.has(change.member)) return fmt::format("member {} is none", change.member);
    return before.seats.size() > 1 ? "" : "a cluster needs at least one member";
  }
  if (change.member != before.next_member)
    return fmt::format("the next member is number {}, not {}", before.next_member, change.member);
  if (change.member >= most_member_numbers)
    return fmt::format("all {} numbers of members have been used", most_member_numbers);
  for (const Seat& seat : before.seats) {
    if (seat.endpoint == change.endpoint)
      return fmt::format("member {} has the address {}", seat.member, to_string(change.endpoint));
  }
  if (!is_plain_host(change.endpoint.host))
    return "a host is a name or an address, such as 10.0.0.7";
  if (change.endpoint.port == 0) return "port 0 is none that a member can be reached at";
  if (is_unspecified(change.endpoint.host))
    return fmt::format("{} is every address of a machine, and none of a member",
                       change.endpoint.host);
  if (!fits_message(changed(before, change).seats))
    return "the list of members is too long for one message";
  return {};
}

}  // namespace conclave::election
