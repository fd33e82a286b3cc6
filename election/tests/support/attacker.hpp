// A client that behaves as badly as a test wants: raw sockets and OpenSSL, with blocking calls and
// none of the transport's code except the encoding of frames.
#pragma once

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "election/certificates.hpp"
#include "election/frame.hpp"

#include "election/tests/support/loopback.hpp"

namespace conclave::election::testing {

class Attacker {
 public:
  using Bytes = std::vector<std::byte>;

  explicit Attacker(std::uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    const sockaddr_in address = loopback(port);
    const timeval patience{5, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    is_connected_ =
        connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Attacker() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
    close(socket_);
  }
  Attacker(const Attacker&) = delete;
  Attacker& operator=(const Attacker&) = delete;

  bool is_connected() const { return is_connected_; }

  // A handshake as this end sees it; whether the victim accepts it shows when reading.
  bool start_tls(const std::optional<Credentials>& credentials, int version = TLS1_3_VERSION,
                 const std::optional<std::string>& more = {}, SSL_SESSION* session = nullptr) {
    context_ = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_min_proto_version(context_, version);
    SSL_CTX_set_max_proto_version(context_, version);
    if (credentials) use(*credentials, more);
    ssl_ = SSL_new(context_);
    if (session != nullptr) SSL_set_session(ssl_, session);
    SSL_set_fd(ssl_, socket_);
    BIO_set_callback_ex(SSL_get_wbio(ssl_), record);
    BIO_set_callback_arg(SSL_get_wbio(ssl_), reinterpret_cast<char*>(&recorded_));
    return SSL_connect(ssl_) == 1;
  }

  bool write(std::span<const std::byte> bytes) {
    const auto size = static_cast<int>(bytes.size());
    if (ssl_ != nullptr) return SSL_write(ssl_, bytes.data(), size) == size;
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == size;
  }
  bool write(const Frame& frame) {
    Bytes bytes;
    encode(frame, bytes);
    return write(bytes);
  }

  // Empty: the connection is at its end.
  Bytes read() {
    Bytes bytes(4096);
    const auto size = ssl_ != nullptr
                          ? SSL_read(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                          : static_cast<int>(recv(socket_, bytes.data(), bytes.size(), 0));
    bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return bytes;
  }
  // Only headers and values; the bytes of a message are gone.
  std::optional<Frame> read_frame() {
    while (true) {
      std::span<const std::byte> input = unread_;
      const auto next = decoder_.next(input);
      unread_ = Bytes(input.begin(), input.end());
      if (next)
        return std::holds_alternative<Frame>(*next) ? std::get<Frame>(*next)
                                                    : std::optional<Frame>{};
      unread_ = read();
      if (unread_.empty()) return {};
    }
  }
  // Until the victim ends the connection; the reason it gives, if it does.
  std::optional<Refusal> read_refusal() {
    std::optional<Refusal> reason;
    while (const auto frame = read_frame())
      if (const auto* farewell = std::get_if<Farewell>(&*frame)) reason = farewell->reason;
    return reason;
  }

  // Introduces itself as it should be; afterwards it may send messages.
  bool introduce(const Hello& hello) {
    write(Frame{hello});
    const auto answer = read_frame();
    if (!answer || !std::holds_alternative<Hello>(*answer)) return false;
    if (!read_frame()) return false;
    return write(Frame{Ready{.echo = std::get<Hello>(*answer).nonce}});
  }

  // To be freed by the caller; null: there is none that could be resumed.
  SSL_SESSION* resumable_session() const {
    SSL_SESSION* session = SSL_get1_session(ssl_);
    if (session != nullptr && SSL_SESSION_is_resumable(session) == 1) return session;
    SSL_SESSION_free(session);
    return nullptr;
  }
  bool has_resumed() const { return SSL_session_reused(ssl_) == 1; }
  const Bytes& recorded() const { return recorded_; }  // what it has written, encrypted
  void reset() const {                                 // ends with a reset instead of an end
    const linger now{1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }

 private:
  void use(const Credentials& credentials, const std::optional<std::string>& more) {
    const auto certificate = [](const std::string& pem) {
      BIO* bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
      X509* result = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
      BIO_free(bio);
      return result;
    };
    X509* own = certificate(credentials.certificate);
    SSL_CTX_use_certificate(context_, own);
    X509_free(own);
    if (more) SSL_CTX_add_extra_chain_cert(context_, certificate(*more));  // taken over
    BIO* bio = BIO_new_mem_buf(credentials.key.data(), static_cast<int>(credentials.key.size()));
    EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
    SSL_CTX_use_PrivateKey(context_, key);
    EVP_PKEY_free(key);
    BIO_free(bio);
  }
  static long record(BIO* bio, int operation, const char* bytes, std::size_t size, int, long,
                     int result, std::size_t*) {
    if (operation == BIO_CB_WRITE) {
      auto& recorded = *reinterpret_cast<Bytes*>(BIO_get_callback_arg(bio));
      const auto* start = reinterpret_cast<const std::byte*>(bytes);
      recorded.insert(recorded.end(), start, start + size);
    }
    return result;
  }

  int socket_;
  bool is_connected_ = false;
  SSL_CTX* context_ = nullptr;
  SSL* ssl_ = nullptr;
  FrameDecoder decoder_;
  Bytes unread_;
  Bytes recorded_;
};

}  // namespace conclave::election::testing
