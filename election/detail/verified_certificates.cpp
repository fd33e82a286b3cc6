#include "election/detail/verified_certificates.hpp"

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>

#include <openssl/err.h>

namespace conclave::election::detail {
namespace {

void append_bytes(std::string& text, const X509& certificate) {
  const int size = i2d_X509(&certificate, nullptr);
  if (size <= 0) return;
  const std::size_t before = text.size();
  text.resize(before + static_cast<std::size_t>(size));
  auto* end = reinterpret_cast<unsigned char*>(text.data() + before);
  i2d_X509(&certificate, &end);
}

// Certificates say themselves how long they are, so no two pairs have the same text.
std::string text_of(Role role, const X509& authority, const X509& certificate) {
  std::string text(1, role == Role::client ? 'c' : 's');
  append_bytes(text, authority);
  append_bytes(text, certificate);
  return text;
}

class Memory {
 public:
  bool has(const std::string& text) {
    const std::scoped_lock lock(mutex_);
    return texts_.contains(text);
  }

  void add(std::string text) {
    const std::scoped_lock lock(mutex_);
    if (texts_.size() >= most_texts) texts_.clear();
    texts_.insert(std::move(text));
  }

 private:
  // Two per member; a thousand members take 2 MB.
  static constexpr std::size_t most_texts = 4096;
  std::mutex mutex_;
  std::unordered_set<std::string> texts_;
};

Memory& memory() {
  static Memory result;
  return result;
}

// At the time that the context asks about: now, unless it was told otherwise.
bool is_in_time(X509_STORE_CTX& context, const X509& certificate) {
  return X509_cmp_timeframe(X509_STORE_CTX_get0_param(&context), X509_get0_notBefore(&certificate),
                            X509_get0_notAfter(&certificate)) == 0;
}

// The authority in the context's store that says to have issued the certificate; null: none.
const X509* issuer_of(X509_STORE_CTX& context, X509& certificate) {
  const STACK_OF(X509_OBJECT)* const all =
      X509_STORE_get0_objects(X509_STORE_CTX_get0_store(&context));
  for (int i = 0; i < sk_X509_OBJECT_num(all); ++i) {
    X509* const each = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(all, i));
    if (each != nullptr && X509_check_issued(each, &certificate) == X509_V_OK) return each;
  }
  return nullptr;
}

// Called by OpenSSL in place of X509_verify_cert, and returns the same.
int verify_peer(X509_STORE_CTX* context, void* /*argument*/) {
  const auto* ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx()));
  const Role role = SSL_is_server(ssl) == 1 ? Role::client : Role::server;
  return verify_once(*context, role) ? 1 : 0;
}

void verify_for(Role role, X509& authority, X509& certificate) {
  const StorePtr store{X509_STORE_new()};
  const StoreContextPtr context{X509_STORE_CTX_new()};
  X509_STORE_add_cert(store.get(), &authority);
  X509_STORE_CTX_init(context.get(), store.get(), &certificate, nullptr);
  X509_STORE_CTX_set_default(context.get(), role == Role::client ? "ssl_client" : "ssl_server");
  verify_once(*context, role);
  ERR_clear_error();
}

}  // namespace

bool verify_once(X509_STORE_CTX& context, Role role) {
  X509& certificate = *X509_STORE_CTX_get0_cert(&context);
  const X509* const authority = issuer_of(context, certificate);
  if (authority == nullptr) return X509_verify_cert(&context) == 1;
  std::string text = text_of(role, *authority, certificate);
  if (is_in_time(context, *authority) && is_in_time(context, certificate) && memory().has(text)) {
    X509_STORE_CTX_set_error(&context, X509_V_OK);
    return true;
  }
  if (X509_verify_cert(&context) != 1) return false;
  memory().add(std::move(text));
  return true;
}

void remember_verified(SSL_CTX& context) {
  SSL_CTX_set_cert_verify_callback(&context, verify_peer, nullptr);
}

void verify_ahead(X509& authority, X509& certificate) {
  verify_for(Role::client, authority, certificate);
  verify_for(Role::server, authority, certificate);
}

}  // namespace conclave::election::detail
