#include "election/detail/algorithms.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <openssl/crypto.h>
#include <openssl/provider.h>

namespace conclave::election::detail {
namespace {

// By OpenSSL's first names. SHA1 is no signature here: OpenSSL names certificates in memory by it.
constexpr std::array<std::string_view, 11> used_names{
    "AES-128-GCM", "SHA2-256", "SHA1",  "HMAC",   "HKDF", "TLS13-KDF",
    "CTR-DRBG",    "SEED-SRC", "ECDSA", "X25519", "EC"};

constexpr std::array<int, 9> used_operations{OSSL_OP_DIGEST,  OSSL_OP_CIPHER,    OSSL_OP_MAC,
                                             OSSL_OP_KDF,     OSSL_OP_RAND,      OSSL_OP_KEYMGMT,
                                             OSSL_OP_KEYEXCH, OSSL_OP_SIGNATURE, OSSL_OP_DECODER};

bool is_used(int operation, const OSSL_ALGORITHM& algorithm) {
  const std::string_view names = algorithm.algorithm_names;
  const std::string_view properties = algorithm.property_definition;
  return std::ranges::find(used_names, names.substr(0, names.find(':'))) != used_names.end() &&
         (operation != OSSL_OP_DECODER || properties.ends_with("structure=SubjectPublicKeyInfo") ||
          properties.ends_with("structure=PrivateKeyInfo"));
}

// Those of them that the default provider offers; each list ends with an empty entry.
class Selection {
 public:
  explicit Selection(OSSL_PROVIDER* whole) : whole_(whole) {
    for (const int operation : used_operations) select(operation);
  }

  OSSL_PROVIDER* whole() const { return whole_; }
  const OSSL_ALGORITHM* of(int operation) const {
    const auto place = std::ranges::find(used_operations, operation);
    if (place == used_operations.end()) return nullptr;
    return lists_[static_cast<std::size_t>(place - used_operations.begin())].data();
  }

 private:
  void select(int operation) {
    std::vector<OSSL_ALGORITHM>& list = lists_[filled_++];
    int is_not_for_long = 0;
    const OSSL_ALGORITHM* each = OSSL_PROVIDER_query_operation(whole_, operation, &is_not_for_long);
    for (; each != nullptr && each->algorithm_names != nullptr; ++each) {
      if (is_used(operation, *each)) list.push_back(*each);
    }
    list.push_back({});
  }

  OSSL_PROVIDER* whole_;
  std::array<std::vector<OSSL_ALGORITHM>, used_operations.size()> lists_;
  std::size_t filled_ = 0;
};

// Set once, before the provider is loaded, whose functions take no context of ours.
const Selection* selection = nullptr;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

const OSSL_ALGORITHM* selected_algorithms(void* /*context*/, int operation, int* is_not_for_long) {
  *is_not_for_long = 0;
  return selection->of(operation);
}

int tell_capabilities(void* /*context*/, const char* kind, OSSL_CALLBACK* tell, void* argument) {
  return OSSL_PROVIDER_get_capabilities(selection->whole(), kind, tell, argument);
}

// Called by OpenSSL. The algorithms work in the context of the provider that they come from.
int begin_provider(const OSSL_CORE_HANDLE* /*handle*/, const OSSL_DISPATCH* /*offered*/,
                   const OSSL_DISPATCH** functions, void** context) {
  using Function = void (*)();
  static const std::array<OSSL_DISPATCH, 3> ours{
      {{OSSL_FUNC_PROVIDER_QUERY_OPERATION, reinterpret_cast<Function>(selected_algorithms)},
       {OSSL_FUNC_PROVIDER_GET_CAPABILITIES, reinterpret_cast<Function>(tell_capabilities)},
       {0, nullptr}}};
  *functions = ours.data();
  *context = OSSL_PROVIDER_get0_provider_ctx(selection->whole());
  return 1;
}

OSSL_LIB_CTX* context_with_selection() {
  OSSL_PROVIDER* whole = OSSL_PROVIDER_try_load(nullptr, "default", 1);
  OSSL_LIB_CTX* context = whole != nullptr ? OSSL_LIB_CTX_new() : nullptr;
  if (context == nullptr) return nullptr;
  static const Selection few(whole);
  selection = &few;
  const bool is_loaded = OSSL_PROVIDER_add_builtin(context, "few", begin_provider) == 1 &&
                         OSSL_PROVIDER_load(context, "few") != nullptr;
  return is_loaded ? context : nullptr;
}

}  // namespace

OSSL_LIB_CTX* few_algorithms() {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): as OpenSSL takes it
  static OSSL_LIB_CTX* const context = context_with_selection();
  return context;
}

}  // namespace conclave::election::detail
