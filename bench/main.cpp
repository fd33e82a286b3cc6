// conclave-bench SUBJECT SIZES WORKLOADS REPEATS [NAME=VALUE...]: what `conclave bench` starts once
// it has checked the request. SIZES and WORKLOADS are lists with commas, which may be empty;
// REPEATS may be 0. Empty and 0 mean the subject's own. The names are code (the version that is
// measured), peers, save, compare (files) and tolerance.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/printable.hpp"

#include "bench/agents_bench.hpp"
#include "bench/baseline.hpp"
#include "bench/counts_bench.hpp"
#include "bench/electleader_bench.hpp"
#include "bench/exact_bench.hpp"
#include "bench/network_bench.hpp"
#include "bench/pairing_bench.hpp"
#include "bench/peers.hpp"
#include "bench/reactions_bench.hpp"
#include "bench/texts_bench.hpp"

namespace conclave::bench {
namespace {

struct Request {
  std::string subject;
  std::vector<std::uint64_t> sizes;
  std::vector<std::string> workloads;
  unsigned repeats = 0;
  std::map<std::string, std::string> named{};
};

enum Exit : int { done = 0, failed = 1, misused = 2, slower = 4 };

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  std::istringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

Request request_of(const std::vector<std::string>& words) {
  Request request{.subject = words.at(0), .sizes = {}, .workloads = words_of(words.at(2))};
  for (const std::string& size : words_of(words.at(1))) request.sizes.push_back(std::stoull(size));
  request.repeats = static_cast<unsigned>(std::stoul(words.at(3)));
  for (std::size_t i = 4; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    request.named[words[i].substr(0, equals)] = words[i].substr(equals + 1);
  }
  return request;
}

void print(const std::string& line) {
  fmt::print("{}", line);
  std::fflush(stdout);
}

// The subject's options, with what the request says in place of its own sizes and repeats.
template <class Options>
Options options_of(const Request& request) {
  Options options;
  if (!request.sizes.empty()) options.sizes = request.sizes;
  if constexpr (requires { options.repeats; }) {
    if (request.repeats != 0) options.repeats = request.repeats;
  }
  if constexpr (requires { options.workloads; }) options.workloads = request.workloads;
  if constexpr (requires { options.peers; }) {
    const auto path = request.named.find("peers");
    if (path != request.named.end()) options.peers = Peers(path->second);
  }
  return options;
}

AllOptions all_options(const Request& request) {
  AllOptions options;
  const auto take = [&](const char* name, std::string& into) {
    const auto found = request.named.find(name);
    if (found != request.named.end()) into = found->second;
  };
  take("save", options.save);
  take("compare", options.compare);
  take("code", options.code);
  std::string tolerance;
  take("tolerance", tolerance);
  if (!tolerance.empty()) options.tolerance = std::stod(tolerance);
  if (request.repeats != 0) options.repeats = request.repeats;
  return options;
}

void run_subject(const Request& request) {
  const std::string_view subject = request.subject;
  if (subject == "agents") return run_agents(options_of<AgentsOptions>(request), print);
  if (subject == "counts") return run_counts(options_of<CountsOptions>(request), print);
  if (subject == "electleader") {
    return run_electleader(options_of<ElectLeaderOptions>(request), print);
  }
  if (subject == "exact") return run_exact(options_of<ExactOptions>(request), print);
  if (subject == "network") return run_network(options_of<NetworkOptions>(request), print);
  if (subject == "pairing") return run_pairing(print);
  if (subject == "reactions") return run_reactions(options_of<ReactionsOptions>(request), print);
  if (subject == "texts") return run_texts(request.repeats == 0 ? 3 : request.repeats, print);
  throw std::invalid_argument("no such benchmark");
}

// Tables name the machine and the version, wherever they are copied to.
Exit run(const Request& request) {
  const auto code = request.named.find("code");
  print(fmt::format("measured: conclave {} on {}\n",
                    code == request.named.end() ? "" : code->second, machine_name()));
  if (request.subject == "all") return run_all(all_options(request), print) ? done : slower;
  run_subject(request);
  return done;
}

}  // namespace
}  // namespace conclave::bench

int main(int argc, char** argv) {
  using conclave::bench::Exit;
  if (argc < 5) {
    fmt::print(stderr, "conclave-bench: started by `conclave bench`, see conclave bench --help\n");
    return Exit::misused;
  }
  try {
    return conclave::bench::run(conclave::bench::request_of({argv + 1, argv + argc}));
  } catch (const conclave::Error& error) {
    fmt::print(stderr, "conclave: {}\n", conclave::printable(error.what()));
    return Exit::misused;
  } catch (const std::exception& error) {
    fmt::print(stderr, "conclave: {}\n", conclave::printable(error.what()));
    return Exit::failed;
  }
}
