// The exact module for the parts of ElectLeader_r.
#include "conclave/catalog/make_verifier.hpp"
#include "conclave/protocols/population/lemmas/electleader_detection.hpp"
#include "conclave/protocols/population/lemmas/electleader_parts.hpp"

namespace conclave::catalog {

namespace el = protocols::electleader;

Verified verify_propagate_reset(const VerifyRequest& request);
Verified verify_propagate_reset(const VerifyRequest& request) {
  return verify<el::PlainPropagateReset>(request);
}

Verified verify_assign_ranks(const VerifyRequest& request);
Verified verify_assign_ranks(const VerifyRequest& request) {
  return verify<el::PlainAssignRanks>(request);
}

Verified verify_detect_collision(const VerifyRequest& request);
Verified verify_detect_collision(const VerifyRequest& request) {
  return verify<el::PlainDetectCollision>(request);
}

}  // namespace conclave::catalog
