#include "election/configuration.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace conclave::election {
namespace {

// Bytes of a note beside the seats, with room to spare.
constexpr std::size_t note_overhead = 64;

}  // namespace

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

std::size_t encoded_bytes(const std::vector<Seat>& seats) {
  std::size_t bytes = 0;
  for (const Seat& seat : seats) bytes += 7 + seat.endpoint.host.size();
  return bytes;
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
  if (encoded_bytes(changed(before, change).seats) + note_overhead > max_message_bytes)
    return "the list of members is too long for one message";
  return {};
}

}  // namespace conclave::election
