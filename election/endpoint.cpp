#include "election/endpoint.hpp"

#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::election {

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

}  // namespace conclave::election
