#include "election/detail/openssl.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <openssl/core.h>
#include <openssl/core_dispatch.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
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

// Without a callback OpenSSL would ask for the passphrase on the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

BioPtr reader_of(const std::string& text) {
  return BioPtr{BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))};
}

}  // namespace

OSSL_LIB_CTX* few_algorithms() {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): as OpenSSL takes it
  static OSSL_LIB_CTX* const context = context_with_selection();
  return context;
}

std::string last_openssl_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : fmt::format("OpenSSL error {:x}", code);
}

std::string serial_in(const X509& certificate) {
  const ASN1_INTEGER* serial = X509_get0_serialNumber(&certificate);
  BIGNUM* wide = ASN1_INTEGER_to_BN(serial, nullptr);
  char* digits = wide != nullptr ? BN_bn2hex(wide) : nullptr;
  const std::string text = digits != nullptr ? digits : "";
  OPENSSL_free(digits);
  BN_free(wide);
  return plain_serial(text);
}

CertificatePtr certificate_in(const std::string& pem) {
  X509* blank = X509_new_ex(few_algorithms(), nullptr);
  if (PEM_read_bio_X509(reader_of(pem).get(), &blank, no_passphrase, nullptr) == nullptr) {
    ERR_clear_error();
    X509_free(blank);  // null where the reader has freed it
    return nullptr;
  }
  return CertificatePtr{blank};
}

std::vector<CertificatePtr> certificates_in(const std::string& pem) {
  constexpr std::size_t most = 16;
  constexpr std::string_view beginning = "-----BEGIN CERTIFICATE-----";
  std::vector<CertificatePtr> all;
  for (std::size_t at = pem.find(beginning); at != std::string::npos && all.size() < most;
       at = pem.find(beginning, at + 1)) {
    all.push_back(certificate_in(pem.substr(at)));
    if (!all.back()) return {};
  }
  return all;
}

// As `cluster init` and `openssl genpkey` write it, or in any other form that OpenSSL knows, which
// takes it much longer.
KeyPtr key_in(const std::string& pem) {
  const PlainKeyPtr plain{
      PEM_read_bio_PKCS8_PRIV_KEY_INFO(reader_of(pem).get(), nullptr, no_passphrase, nullptr)};
  KeyPtr key{plain ? EVP_PKCS82PKEY_ex(plain.get(), few_algorithms(), nullptr) : nullptr};
  if (!key)
    key.reset(PEM_read_bio_PrivateKey(reader_of(pem).get(), nullptr, no_passphrase, nullptr));
  ERR_clear_error();
  return key;
}

std::optional<Identity> identity_in(const X509& certificate) {
  const NamesPtr names{static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr))};
  if (!names || sk_GENERAL_NAME_num(names.get()) != 1) return {};
  const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), 0);
  if (name->type != GEN_URI) return {};
  const ASN1_IA5STRING* uri = name->d.uniformResourceIdentifier;
  const std::string_view text{reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                              static_cast<std::size_t>(ASN1_STRING_length(uri))};
  const std::size_t slash = text.rfind('/');
  if (!text.starts_with(name_scheme) || slash < name_scheme.size()) return {};
  const std::string_view digits = text.substr(slash + 1);
  MemberIndex member = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), member);
  if (error != std::errc{} || end != digits.data() + digits.size()) return {};
  return Identity{std::string{text.substr(name_scheme.size(), slash - name_scheme.size())}, member};
}

}  // namespace conclave::election::detail
