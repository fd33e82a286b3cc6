// Parts of the catalog that a page does not have: exact verification, the search for bad starts,
// rare failures, devices, files. Their sources are not part of the WebAssembly build.
#include <functional>
#include <memory>

#include "conclave/base/error.hpp"
#include "conclave/catalog/catalog.hpp"
#include "conclave/catalog/electleader.hpp"
#include "conclave/catalog/gpu_run.hpp"
#include "conclave/catalog/rare.hpp"
#include "conclave/catalog/text_entry.hpp"
#include "conclave/graph/read_graph.hpp"
#include "conclave/text/source_files.hpp"

namespace conclave::catalog {
namespace {

[[noreturn]] void refuse() { throw Error("this is not part of the page; use the command line"); }

}  // namespace

Verified verify_text(const VerifyRequest&, const text::Compiled&) { refuse(); }
Searched search_text(const SearchRequest&, const text::Compiled&) { refuse(); }
std::unique_ptr<PreparedRare> rare_text(const RareRequest&,
                                        const std::shared_ptr<const text::Compiled>&) {
  refuse();
}

Verified verify_electleader(const VerifyRequest&) { refuse(); }
Verified verify_propagate_reset(const VerifyRequest&) { refuse(); }
Verified verify_assign_ranks(const VerifyRequest&) { refuse(); }
Verified verify_detect_collision(const VerifyRequest&) { refuse(); }
std::unique_ptr<PreparedRare> rare_electleader(const RareRequest&) { refuse(); }
std::unique_ptr<PreparedRare> rare_detect_collision(const RareRequest&) { refuse(); }

std::unique_ptr<const PreparedRun> on_gpu(std::unique_ptr<const PreparedRun>, DeviceRun) {
  refuse();
}
std::unique_ptr<const PreparedRun> on_gpu_if_worth_it(const RunRequest&,
                                                      std::unique_ptr<const PreparedRun> agents,
                                                      const std::function<DeviceRun()>&) {
  return agents;
}
bool fills_a_device(const RunRequest&, const PreparedRun&) { return false; }
std::unique_ptr<const PreparedRun> text_on_gpu(std::unique_ptr<const PreparedRun>,
                                               std::shared_ptr<const text::Compiled>, std::size_t,
                                               unsigned) {
  refuse();
}

}  // namespace conclave::catalog

namespace conclave::text {

bool is_plain_file(const std::string&) { return false; }
SourceFile read_source(const std::string& path) {
  throw Error("a page cannot read the file '" + path + "'");
}
std::optional<FoundSource> find_source(const std::string&, const std::string&) {
  return std::nullopt;
}

}  // namespace conclave::text

namespace conclave::graph {

Arcs arcs_in_file(const std::string& path, AgentCount) {
  throw Error("a page cannot read the graph '" + path + "'");
}

}  // namespace conclave::graph
