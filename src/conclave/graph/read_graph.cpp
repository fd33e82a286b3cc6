#include "conclave/graph/read_graph.hpp"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/numbers.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/base/read_text.hpp"

namespace conclave::graph {
namespace {

constexpr std::uint64_t most_arcs = std::uint64_t{1} << 32;
constexpr std::size_t longest_line = 1000;

[[noreturn]] void refuse(const std::string& path, std::string_view reason) {
  throw Error(fmt::format("cannot read the graph '{}': {}", path, reason));
}

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// Reads up to the end of the line; of a line that is too long only as much as shows that.
bool read_line(std::FILE* file, std::string& line) {
  line.clear();
  for (int c = std::getc(file); c != EOF; c = std::getc(file)) {
    if (c == '\n') return true;
    line += static_cast<char>(c);
    if (line.size() > longest_line) return true;
  }
  return !line.empty();
}

}  // namespace

Arcs arcs_in_file(const std::string& path, AgentCount n) {
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rbe"));
  if (file == nullptr) refuse(path, std::generic_category().message(errno));
  Arcs arcs;
  std::string line;
  for (std::uint64_t number = 1; read_line(file.get(), line); ++number) {
    if (number == 1 && line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
    if (line.size() > longest_line) {
      throw Error(fmt::format("'{}', line {}: no arc takes more than {} characters, unlike '{}'",
                              path, number, longest_line, excerpt(line)));
    }
    const std::uint64_t read = arcs.size();  // whose type has 32 bits on the page
    if (read == most_arcs) {
      throw Error(fmt::format("'{}' has more than {} arcs", path, most_arcs));
    }
    std::istringstream words(line.substr(0, line.find('#')));
    std::string u;
    std::string v;
    std::string more;
    if (!(words >> u)) continue;
    words >> v >> more;
    const auto initiator = parse_count(u);
    const auto responder = parse_count(v);
    if (!initiator || !responder || !more.empty()) {
      throw Error(fmt::format("'{}', line {}: expected an arc \"INITIATOR RESPONDER\", not '{}'",
                              path, number, excerpt(line)));
    }
    if (*initiator >= n || *responder >= n || *initiator == *responder) {
      throw Error(fmt::format("'{}', line {}: agents are numbered 0 to {} and an arc joins two of "
                              "them, unlike '{}'",
                              path, number, n - 1, excerpt(line)));
    }
    arcs.emplace_back(static_cast<std::uint32_t>(*initiator->as_uint64()),
                      static_cast<std::uint32_t>(*responder->as_uint64()));
  }
  if (std::ferror(file.get()) != 0) {
    refuse(path, errno == EISDIR ? "it is a folder" : std::generic_category().message(errno));
  }
  return arcs;
}

}  // namespace conclave::graph
