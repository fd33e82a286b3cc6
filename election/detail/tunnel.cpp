#include "election/detail/tunnel.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <openssl/err.h>

#include "conclave/base/check.hpp"
#include "conclave/base/error.hpp"
#include "election/detail/openssl.hpp"
#include "election/detail/verified_certificates.hpp"
#include "election/transport.hpp"

namespace conclave::election::detail {
namespace {

constexpr long most_certificate_bytes = 16L * 1024;

constexpr long session_seconds = 3600;
constexpr long most_sessions = 1024;

// Sessions that this process may resume, by peer.
using Sessions = std::unordered_map<MemberIndex, SessionPtr>;

// Where a tunnel puts the session it is given: nowhere, if it was not dialled.
struct Keeper {
  std::shared_ptr<Sessions> sessions;  // shared, because tunnels may outlive the settings
  std::optional<MemberIndex> peer;
};

// Called by OpenSSL. 1: the session is ours now.
int keep_session(SSL* ssl, SSL_SESSION* session) {
  const auto* keeper = static_cast<const Keeper*>(SSL_get_app_data(ssl));
  if (keeper == nullptr || !keeper->peer) return 0;
  (*keeper->sessions)[*keeper->peer].reset(session);
  return 1;
}

// The end that accepts remembers sessions by name, those that dial keep them in `Sessions`.
void allow_resumption(SSL_CTX* context) {
  static constexpr std::array<unsigned char, 8> purpose{'c', 'o', 'n', 'c', 'l', 'a', 'v', 'e'};
  SSL_CTX_set_session_id_context(context, purpose.data(), purpose.size());
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_BOTH);
  SSL_CTX_sess_set_cache_size(context, most_sessions);
  SSL_CTX_set_timeout(context, session_seconds);
  SSL_CTX_set_num_tickets(context, 1);
  SSL_CTX_sess_set_new_cb(context, keep_session);
}

void require(bool done, std::string_view doing) {
  if (!done) throw Error(fmt::format("cannot {}: {}", doing, last_openssl_error()));
}

SslContextPtr context_of(const Credentials& credentials) {
  SslContextPtr context{SSL_CTX_new_ex(few_algorithms(), nullptr, TLS_method())};
  require(context != nullptr, "set up TLS");
  SSL_CTX* raw = context.get();
  SSL_CTX_set_min_proto_version(raw, TLS1_3_VERSION);
  SSL_CTX_set_max_proto_version(raw, TLS1_3_VERSION);
  // One choice of everything: all members run the same program.
  require(SSL_CTX_set_ciphersuites(raw, "TLS_AES_128_GCM_SHA256") == 1 &&
              SSL_CTX_set1_groups_list(raw, "X25519") == 1 &&
              SSL_CTX_set1_sigalgs_list(raw, "ECDSA+SHA256") == 1,
          "choose the algorithms of TLS");
  SSL_CTX_set_options(raw, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  allow_resumption(raw);
  SSL_CTX_set_max_early_data(raw, 0);
  // Everybody has the authority's certificate. OpenSSL would find and verify it in each handshake
  // to send it along, and the peer would decode it.
  SSL_CTX_set_mode(
      raw, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_NO_AUTO_CHAIN);
  SSL_CTX_set_max_cert_list(raw, most_certificate_bytes);
  SSL_CTX_set_verify(raw, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  const std::vector<CertificatePtr> authorities = certificates_in(credentials.authority);
  const CertificatePtr certificate = certificate_in(credentials.certificate);
  const KeyPtr key = key_in(credentials.key);
  require(!authorities.empty() && certificate && key, "read the credentials");
  for (const CertificatePtr& authority : authorities)
    require(X509_STORE_add_cert(SSL_CTX_get_cert_store(raw), authority.get()) == 1,
            "trust the authority");
  remember_verified(*raw);
  require(SSL_CTX_use_certificate(raw, certificate.get()) == 1, "use the certificate");
  require(SSL_CTX_use_PrivateKey(raw, key.get()) == 1, "use the key");
  return context;
}

TunnelFailure verification_failure(long error) {
  const std::string why = X509_verify_cert_error_string(error);
  switch (error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return {Refusal::certificate_time, fmt::format("{}; are both clocks right?", why)};
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return {Refusal::foreign_cluster,
              fmt::format("its certificate is not from this cluster's authority: {}", why)};
    default:
      return {Refusal::bad_certificate, why};
  }
}

// The oldest error of OpenSSL's queue says what went wrong; alerts are what the peer has said.
TunnelFailure failure_in(SSL& ssl) {
  const long verified = SSL_get_verify_result(&ssl);
  const int reason = ERR_GET_REASON(ERR_peek_error());
  const std::string sentence = last_openssl_error();
  if (verified != X509_V_OK) return verification_failure(verified);
  if (reason == SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE) return {Refusal::no_certificate, sentence};
  if (reason >= SSL_AD_REASON_OFFSET)
    return {{}, fmt::format("it has refused our certificate or TLS ({})", sentence)};
  return {Refusal::handshake_failed, sentence};
}

}  // namespace

struct TlsSettings::Native {
  SslContextPtr context;
  std::shared_ptr<Sessions> sessions = std::make_shared<Sessions>();
};

TlsSettings::TlsSettings(const Credentials& credentials, const std::vector<std::string>& revoked)
    : native_(std::make_unique<Native>(Native{context_of(credentials)})) {
  for (const std::string& serial : revoked) revoked_.push_back(plain_serial(serial));
  if (has_revoked(serial_of(credentials.certificate)))
    throw Error("this member's own certificate is among the revoked ones");
}
TlsSettings::~TlsSettings() = default;

bool TlsSettings::has_revoked(const std::string& serial) const {
  return std::ranges::find(revoked_, serial) != revoked_.end();
}

struct Tunnel::Native {
  SslPtr ssl;
  BIO* input;  // both belong to ssl
  BIO* output;
  Keeper keeper;
};

Tunnel::Tunnel(const TlsSettings* settings, Side side, std::optional<MemberIndex> expected) {
  if (settings == nullptr) {
    is_open_ = true;
    return;
  }
  SslPtr ssl{SSL_new(settings->native_->context.get())};
  BIO* input = BIO_new(BIO_s_mem());
  BIO* output = BIO_new(BIO_s_mem());
  CONCLAVE_CHECK(ssl && input != nullptr && output != nullptr);
  SSL_set_bio(ssl.get(), input, output);
  if (side == Side::opened)
    SSL_set_connect_state(ssl.get());
  else
    SSL_set_accept_state(ssl.get());
  const std::shared_ptr<Sessions>& sessions = settings->native_->sessions;
  if (expected) {
    const auto known = sessions->extract(*expected);
    if (known) SSL_set_session(ssl.get(), known.mapped().get());
  }
  native_ =
      std::make_unique<Native>(Native{std::move(ssl), input, output, Keeper{sessions, expected}});
  SSL_set_app_data(native_->ssl.get(), &native_->keeper);
  shake_hands();
}

// OpenSSL would forget the session of a connection that ends without TLS's own farewell. Ours has
// one of its own, and a session is worth keeping also where the network has failed.
Tunnel::~Tunnel() {
  if (native_) SSL_set_shutdown(native_->ssl.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}

void Tunnel::feed(std::span<const std::byte> bytes) {
  if (failure_) return;
  if (!native_) {
    plain_.insert(plain_.end(), bytes.begin(), bytes.end());
    return;
  }
  BIO_write(native_->input, bytes.data(), static_cast<int>(bytes.size()));
  if (!is_open_) shake_hands();
}

std::size_t Tunnel::read(std::span<std::byte> buffer) {
  if (failure_ || !is_open_) return 0;
  if (!native_) {
    const std::size_t taken = std::min(buffer.size(), plain_.size());
    std::copy_n(plain_.begin(), taken, buffer.begin());
    plain_.erase(plain_.begin(), plain_.begin() + static_cast<std::ptrdiff_t>(taken));
    return taken;
  }
  ERR_clear_error();
  const int taken = SSL_read(native_->ssl.get(), buffer.data(), static_cast<int>(buffer.size()));
  const int error = taken > 0 ? SSL_ERROR_NONE : SSL_get_error(native_->ssl.get(), taken);
  if (error == SSL_ERROR_ZERO_RETURN) is_finished_ = true;
  if (error == SSL_ERROR_SSL || error == SSL_ERROR_SYSCALL) fail();
  collect_output();  // an alert, or the answer to an update of keys
  return taken > 0 ? static_cast<std::size_t>(taken) : 0;
}

void Tunnel::write(std::span<const std::byte> bytes) {
  CONCLAVE_CHECK(is_open_);
  if (failure_) return;
  if (!native_) {
    output_.insert(output_.end(), bytes.begin(), bytes.end());
    return;
  }
  while (!bytes.empty() && !failure_) {
    ERR_clear_error();
    const int taken = SSL_write(native_->ssl.get(), bytes.data(), static_cast<int>(bytes.size()));
    if (taken <= 0) return fail();
    bytes = bytes.subspan(static_cast<std::size_t>(taken));
    collect_output();
  }
}

void Tunnel::shake_hands() {
  ERR_clear_error();
  const int done = SSL_do_handshake(native_->ssl.get());
  const int error = done == 1 ? SSL_ERROR_NONE : SSL_get_error(native_->ssl.get(), done);
  if (error != SSL_ERROR_NONE && error != SSL_ERROR_WANT_READ) fail();
  collect_output();
  if (done != 1) return;
  is_open_ = true;
  is_resumed_ = SSL_session_reused(native_->ssl.get()) == 1;
  const X509* certificate = SSL_get0_peer_certificate(native_->ssl.get());
  if (certificate != nullptr) {
    peer_ = identity_in(*certificate);
    serial_ = serial_in(*certificate);
    // OpenSSL looks at the times in the first handshake of a session only.
    if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0)
      failure_ = {Refusal::certificate_time, "its certificate has expired since"};
  }
  if (!peer_) failure_ = {Refusal::bad_certificate, "its certificate names no member of a cluster"};
}

void Tunnel::collect_output() {
  const std::size_t pending = BIO_ctrl_pending(native_->output);
  if (pending == 0) return;
  const std::size_t before = output_.size();
  output_.resize(before + pending);
  const int taken = BIO_read(native_->output, output_.data() + before, static_cast<int>(pending));
  CONCLAVE_CHECK(taken == static_cast<int>(pending));
}

void Tunnel::fail() { failure_ = failure_in(*native_->ssl); }

}  // namespace conclave::election::detail

namespace conclave::election {

void warm_up_tls(std::span<const Credentials> members) {
  for (const Credentials& each : members) {
    const auto authority = detail::certificate_in(each.authority);
    const auto certificate = detail::certificate_in(each.certificate);
    if (!authority || !certificate) throw Error("cannot read the credentials");
    detail::verify_ahead(*authority, *certificate);
  }
  const detail::TlsSettings settings(members.front());
  detail::Tunnel client(&settings, detail::Side::opened);
  detail::Tunnel server(&settings, detail::Side::accepted);
  for (int turn = 0; turn < 4 && !(client.is_open() && server.is_open()); ++turn) {
    server.feed(std::exchange(client.output(), {}));
    client.feed(std::exchange(server.output(), {}));
  }
}

}  // namespace conclave::election
