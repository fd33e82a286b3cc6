// The few algorithms of OpenSSL that the connections of a cluster use, apart from all others.
//
// OpenSSL 3.0 tries every decoder and every kind of key that it knows whenever it reads the key in
// a certificate, which takes about as long as the two signatures of a handshake. A library context
// with a provider that passes on a dozen algorithms of the default one spares that, and keys that a
// cluster has no use for are not even looked at.
#pragma once

#include <openssl/types.h>

namespace conclave::election::detail {

// For SSL_CTX_new_ex and X509_new_ex; lives as long as the process. May be called from any thread.
// Null, which stands for OpenSSL's own context, where the default provider cannot be had.
OSSL_LIB_CTX* few_algorithms();

}  // namespace conclave::election::detail
