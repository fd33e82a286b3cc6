// The exact module for ElectLeader_r and its parts.
#include "conclave/catalog/electleader.hpp"
#include "conclave/catalog/make_verifier.hpp"
#include "conclave/protocols/population/lemmas/electleader.hpp"
#include "conclave/protocols/population/lemmas/electleader_detection.hpp"
#include "conclave/protocols/population/lemmas/electleader_parts.hpp"

namespace conclave::catalog {

namespace el = protocols::electleader;

Verified verify_electleader(const VerifyRequest& request) {
  return verify<el::PlainElectLeader>(request);
}

Verified verify_propagate_reset(const VerifyRequest& request) {
  return verify<el::PlainPropagateReset>(request);
}

Verified verify_assign_ranks(const VerifyRequest& request) {
  return verify<el::PlainAssignRanks>(request);
}

Verified verify_detect_collision(const VerifyRequest& request) {
  return verify<el::PlainDetectCollision>(request);
}

}  // namespace conclave::catalog
