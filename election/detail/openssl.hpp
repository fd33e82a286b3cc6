// OpenSSL for the other files: owners of its objects, its last error as a sentence, and the few
// algorithms that the connections of a cluster use.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "election/certificates.hpp"

namespace conclave::election::detail {

template <auto free_object>
struct Freeing {
  template <class T>
  void operator()(T* object) const {
    free_object(object);
  }
};
using CertificatePtr = std::unique_ptr<X509, Freeing<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Freeing<EVP_PKEY_free>>;
using PlainKeyPtr = std::unique_ptr<PKCS8_PRIV_KEY_INFO, Freeing<PKCS8_PRIV_KEY_INFO_free>>;
using BioPtr = std::unique_ptr<BIO, Freeing<BIO_free_all>>;
using StorePtr = std::unique_ptr<X509_STORE, Freeing<X509_STORE_free>>;
using StoreContextPtr = std::unique_ptr<X509_STORE_CTX, Freeing<X509_STORE_CTX_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, Freeing<X509_EXTENSION_free>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, Freeing<GENERAL_NAMES_free>>;
using SslPtr = std::unique_ptr<SSL, Freeing<SSL_free>>;
using SessionPtr = std::unique_ptr<SSL_SESSION, Freeing<SSL_SESSION_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, Freeing<SSL_CTX_free>>;

// A library context with the few algorithms that clusters use, for SSL_CTX_new_ex and X509_new_ex;
// lives as long as the process. May be called from any thread. Null, which stands for OpenSSL's own
// context, where the default provider is not available.
//
// OpenSSL 3.0 tries every decoder and every kind of key that it knows whenever it reads the key in
// a certificate, which takes about as long as the two signatures of a handshake. A provider that
// passes on a dozen algorithms of the default one spares that, and keys that a cluster has no use
// for are not even looked at.
OSSL_LIB_CTX* few_algorithms();

// Empties OpenSSL's queue of errors; its oldest one, which is the cause of the others.
std::string last_openssl_error();

// Empty where the text is not PEM of that kind. A key with a passphrase counts as unreadable. Both
// belong to the context few_algorithms().
CertificatePtr certificate_in(const std::string& pem);
// All of a bundle, at most 16, in their order; none where one of them cannot be read.
std::vector<CertificatePtr> certificates_in(const std::string& pem);
KeyPtr key_in(const std::string& pem);

std::string serial_in(const X509& certificate);  // see serial_of

inline constexpr std::string_view name_scheme = "conclave://";
// The identity in a certificate's alternative name; does not check whether to trust it.
std::optional<Identity> identity_in(const X509& certificate);

}  // namespace conclave::election::detail
