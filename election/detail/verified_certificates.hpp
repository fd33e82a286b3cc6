// Verification of a peer's certificate against the authority of the cluster, once per certificate.
//
// A chain of signatures is worth the same each time it is looked at, and looking takes a sixth of a
// handshake. So certificates that were found good are remembered, byte for byte, with the
// authority that vouches for them and the role they were good for. Time is looked at each time,
// and so is the signature by which the peer shows that it holds the certificate's key. The memory
// belongs to the process, and processes forked from it inherit it. Only the authority can make a
// certificate that is remembered, so strangers cannot fill it. Thread-safe.
#pragma once

#include "election/detail/openssl.hpp"

namespace conclave::election::detail {

enum class Role { client, server };  // of the certificate's owner

// Whether the certificate that the context was made for is good, as X509_verify_cert says it, and
// leaves its error in the context. The context is made for this role, and its store has the
// authorities, each issuing certificates by itself.
bool verify_once(X509_STORE_CTX& context, Role role);

// All connections of this context verify peers so.
void remember_verified(SSL_CTX& context);

// Verifies a certificate for both roles before any peer has shown it. A bad one is not remembered.
void verify_ahead(X509& authority, X509& certificate);

}  // namespace conclave::election::detail
