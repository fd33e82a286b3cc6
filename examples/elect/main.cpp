// Elects a leader between processes that know each other's addresses: start one per address, as
//   elect 0 127.0.0.1:7001 127.0.0.1:7002 127.0.0.1:7003      and so on for 1 and 2.
// Each prints who leads and leaves; a real program would go on.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <conclave/election/election.hpp>

int main(int argc, char** argv) try {
  if (argc < 3) return std::fprintf(stderr, "usage: elect SELF HOST:PORT...\n"), 2;
  conclave::election::ElectionOptions options;
  options.cluster = "example";  // without certificates: loopback addresses only
  options.self = static_cast<std::uint32_t>(std::atoi(argv[1]));
  options.members.assign(argv + 2, argv + argc);

  std::unique_ptr<conclave::election::Election> election;
  conclave::election::ElectionCallbacks callbacks;
  callbacks.won = [&](std::uint64_t term) {
    std::printf("won term %llu\n", static_cast<unsigned long long>(term));
    election->stop();
  };
  callbacks.follows = [&](std::uint32_t leader, std::uint64_t term) {
    std::printf("lost term %llu to %u\n", static_cast<unsigned long long>(term), leader);
    election->stop();
  };
  election = std::make_unique<conclave::election::Election>(options, callbacks);
  election->run();
} catch (const std::exception& error) {
  return std::fprintf(stderr, "elect: %s\n", error.what()), 1;
}
