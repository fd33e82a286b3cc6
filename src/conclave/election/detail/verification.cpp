#include "conclave/election/detail/verification.hpp"

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_set>

#include <openssl/err.h>

namespace conclave::election::detail {
namespace {

enum class Role : char { client = 'c', server = 's' };  // of the certificate's owner

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
  std::string text(1, static_cast<char>(role));
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

bool is_in_time(const X509& certificate) {
  return X509_cmp_current_time(X509_get0_notBefore(&certificate)) < 0 &&
         X509_cmp_current_time(X509_get0_notAfter(&certificate)) > 0;
}

Role role_of_peer(X509_STORE_CTX& context) {
  const auto* ssl = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(&context, SSL_get_ex_data_X509_STORE_CTX_idx()));
  return SSL_is_server(ssl) == 1 ? Role::client : Role::server;
}

// Called by OpenSSL in place of X509_verify_cert, and returns the same.
int verify_or_remember(X509_STORE_CTX* context, void* argument) {
  const X509& authority = *static_cast<const X509*>(argument);
  const X509* certificate = X509_STORE_CTX_get0_cert(context);
  std::string text = text_of(role_of_peer(*context), authority, *certificate);
  if (is_in_time(authority) && is_in_time(*certificate) && memory().has(text)) {
    X509_STORE_CTX_set_error(context, X509_V_OK);
    return 1;
  }
  const int result = X509_verify_cert(context);
  if (result == 1) memory().add(std::move(text));
  return result;
}

bool is_good(X509& authority, X509& certificate, const char* purpose) {
  const StorePtr store{X509_STORE_new()};
  const StoreContextPtr context{X509_STORE_CTX_new()};
  const bool result = X509_STORE_add_cert(store.get(), &authority) == 1 &&
                      X509_STORE_CTX_init(context.get(), store.get(), &certificate, nullptr) == 1 &&
                      X509_STORE_CTX_set_default(context.get(), purpose) == 1 &&
                      X509_verify_cert(context.get()) == 1;
  ERR_clear_error();
  return result;
}

}  // namespace

void remember_verified(SSL_CTX& context, const X509& authority) {
  // OpenSSL hands the argument back as it is, and it is only read.
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast)
  SSL_CTX_set_cert_verify_callback(&context, verify_or_remember, const_cast<X509*>(&authority));
}

void verify_ahead(X509& authority, X509& certificate) {
  if (is_good(authority, certificate, "ssl_client"))
    memory().add(text_of(Role::client, authority, certificate));
  if (is_good(authority, certificate, "ssl_server"))
    memory().add(text_of(Role::server, authority, certificate));
}

}  // namespace conclave::election::detail
