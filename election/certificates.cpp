#include "election/certificates.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include "conclave/base/descriptor.hpp"
#include "conclave/base/error.hpp"
#include "conclave/base/read_text.hpp"
#include "election/detail/openssl.hpp"

namespace conclave::election {
namespace {

using detail::CertificatePtr;
using detail::KeyPtr;

[[noreturn]] void fail(std::string_view doing) {
  throw Error(fmt::format("cannot {}: {}", doing, detail::last_openssl_error()));
}
void require(bool done, std::string_view doing) {
  if (!done) fail(doing);
}

std::string text_in(BIO& bio) {
  char* start = nullptr;
  const long length = BIO_get_mem_data(&bio, &start);
  return {start, static_cast<std::size_t>(length)};
}

std::string pem_of(X509& certificate) {
  const detail::BioPtr bio{BIO_new(BIO_s_mem())};
  require(PEM_write_bio_X509(bio.get(), &certificate) == 1, "write a certificate");
  return text_in(*bio);
}

std::string pem_of(EVP_PKEY& key) {
  const detail::BioPtr bio{BIO_new(BIO_s_mem())};
  require(PEM_write_bio_PrivateKey(bio.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) == 1,
          "write a key");
  return text_in(*bio);
}

KeyPtr new_key() {
  KeyPtr key{EVP_EC_gen("P-256")};
  require(key != nullptr, "make a key");
  return key;
}

void extend(X509& certificate, X509& issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  const detail::ExtensionPtr extension{X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str())};
  require(extension && X509_add_ext(&certificate, extension.get(), -1) == 1,
          "extend a certificate");
}

void number(X509& certificate) {
  std::array<unsigned char, 16> serial{};
  require(RAND_bytes(serial.data(), static_cast<int>(serial.size())) == 1, "draw a serial number");
  serial[0] &= 0x7f;  // a positive number
  BIGNUM* wide = BN_bin2bn(serial.data(), static_cast<int>(serial.size()), nullptr);
  const bool done = BN_to_ASN1_INTEGER(wide, X509_get_serialNumber(&certificate)) != nullptr;
  BN_free(wide);
  require(done, "number a certificate");
}

void entitle(X509& certificate, const std::string& name) {
  const auto* text = reinterpret_cast<const unsigned char*>(name.c_str());
  require(X509_NAME_add_entry_by_txt(X509_get_subject_name(&certificate), "CN", MBSTRING_UTF8, text,
                                     -1, -1, 0) == 1,
          "name a certificate");
}

CertificatePtr blank_certificate(const std::string& name, EVP_PKEY& key, const Validity& validity) {
  CertificatePtr certificate{X509_new()};
  require(certificate != nullptr, "make a certificate");
  X509_set_version(certificate.get(), X509_VERSION_3);
  number(*certificate);
  entitle(*certificate, name);
  using Clock = std::chrono::system_clock;
  ASN1_TIME_set(X509_getm_notBefore(certificate.get()), Clock::to_time_t(validity.from));
  ASN1_TIME_set(X509_getm_notAfter(certificate.get()), Clock::to_time_t(validity.until));
  require(X509_set_pubkey(certificate.get(), &key) == 1, "make a certificate");
  return certificate;
}

void sign(X509& certificate, EVP_PKEY& key) {
  require(X509_sign(&certificate, &key, EVP_sha256()) > 0, "sign a certificate");
}

std::string time_text(const ASN1_TIME* time) {
  const detail::BioPtr bio{BIO_new(BIO_s_mem())};
  ASN1_TIME_print(bio.get(), time);
  return text_in(*bio);
}

std::string now_text() {
  const detail::BioPtr bio{BIO_new(BIO_s_mem())};
  ASN1_TIME* now = ASN1_TIME_set(nullptr, std::time(nullptr));
  ASN1_TIME_print(bio.get(), now);
  ASN1_TIME_free(now);
  return text_in(*bio);
}

void check_times(const X509& certificate, std::string_view what) {
  const ASN1_TIME* from = X509_get0_notBefore(&certificate);
  const ASN1_TIME* until = X509_get0_notAfter(&certificate);
  if (X509_cmp_current_time(from) > 0)
    throw Error(fmt::format("{} is not valid before {}, and this machine's clock says {}", what,
                            time_text(from), now_text()));
  if (X509_cmp_current_time(until) < 0)
    throw Error(fmt::format("{} has expired on {}, and this machine's clock says {}", what,
                            time_text(until), now_text()));
}

void check_issuer(const std::vector<CertificatePtr>& authorities, X509& certificate) {
  const detail::StorePtr store{X509_STORE_new()};
  const detail::StoreContextPtr context{X509_STORE_CTX_new()};
  for (const CertificatePtr& each : authorities) X509_STORE_add_cert(store.get(), each.get());
  X509_STORE_CTX_init(context.get(), store.get(), &certificate, nullptr);
  if (X509_verify_cert(context.get()) == 1) return;
  const int error = X509_STORE_CTX_get_error(context.get());
  ERR_clear_error();
  throw Error(fmt::format("the certificate was not issued by the given authority: {}",
                          X509_verify_cert_error_string(error)));
}

// The one that says to have issued the certificate, or else the first.
X509& issuer_among(const std::vector<CertificatePtr>& authorities, X509& certificate) {
  const auto has_issued = [&](const CertificatePtr& each) {
    return X509_check_issued(each.get(), &certificate) == X509_V_OK;
  };
  const auto place = std::ranges::find_if(authorities, has_issued);
  return place == authorities.end() ? *authorities.front() : **place;
}

std::string issued(const Authority& authority, const Identity& identity, const Validity& validity,
                   EVP_PKEY& key) {
  check_cluster_name(identity.cluster);
  const CertificatePtr issuer = detail::certificate_in(authority.certificate);
  const KeyPtr issuer_key = detail::key_in(authority.key);
  if (!issuer || !issuer_key) throw Error("the authority's certificate or key is not PEM");
  if (X509_check_private_key(issuer.get(), issuer_key.get()) != 1) {
    ERR_clear_error();
    throw Error("the authority's key does not belong to its certificate");
  }
  const CertificatePtr certificate = blank_certificate(
      fmt::format("{} member {}", identity.cluster, identity.member), key, validity);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer.get()));
  extend(*certificate, *issuer, NID_basic_constraints, "critical,CA:FALSE");
  extend(*certificate, *issuer, NID_key_usage, "critical,digitalSignature");
  extend(*certificate, *issuer, NID_ext_key_usage, "serverAuth,clientAuth");
  extend(*certificate, *issuer, NID_subject_key_identifier, "hash");
  extend(*certificate, *issuer, NID_authority_key_identifier, "keyid:always");
  extend(
      *certificate, *issuer, NID_subject_alt_name,
      fmt::format("critical,URI:{}{}/{}", detail::name_scheme, identity.cluster, identity.member));
  sign(*certificate, *issuer_key);
  return pem_of(*certificate);
}

std::chrono::system_clock::time_point end_of(const X509& certificate) {
  tm parts{};
  require(ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &parts) == 1, "read a time");
  return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

constexpr std::size_t most_pem_bytes = std::size_t{1} << 20;

}  // namespace

Validity valid_for(std::chrono::days days) {
  const auto now = std::chrono::system_clock::now();
  return {now - std::chrono::hours{1}, now + days};
}

void check_cluster_name(std::string_view cluster) {
  const bool is_plain = std::ranges::all_of(cluster, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
  if (!is_plain || cluster.empty() || cluster.size() > max_cluster_name)
    throw Error(fmt::format("cluster name '{}': allowed are 1 to {} letters, digits, '.', '_', '-'",
                            cluster, max_cluster_name));
}

Authority make_authority(std::string_view cluster, const Validity& validity) {
  check_cluster_name(cluster);
  const KeyPtr key = new_key();
  const CertificatePtr certificate =
      blank_certificate(fmt::format("{} authority", cluster), *key, validity);
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(certificate.get()));
  extend(*certificate, *certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  extend(*certificate, *certificate, NID_key_usage, "critical,keyCertSign");
  extend(*certificate, *certificate, NID_subject_key_identifier, "hash");
  sign(*certificate, *key);
  return {pem_of(*certificate), pem_of(*key)};
}

Credentials issue_credentials(const Authority& authority, const Identity& identity,
                              const Validity& validity) {
  const KeyPtr key = new_key();
  return {authority.certificate, issued(authority, identity, validity, *key), pem_of(*key)};
}

std::string renewed(const std::string& certificate, const Authority& authority,
                    const Validity& validity) {
  const detail::BioPtr text{
      BIO_new_mem_buf(certificate.data(), static_cast<int>(certificate.size()))};
  // In OpenSSL's own context: the smaller one cannot write keys.
  const CertificatePtr old{PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr)};
  ERR_clear_error();
  if (!old) throw Error("the certificate to renew is not a certificate in PEM");
  const auto identity = detail::identity_in(*old);
  if (!identity) throw Error("the certificate to renew names no member of a cluster");
  const KeyPtr key{X509_get_pubkey(old.get())};
  require(key != nullptr, "read the key in the certificate");
  return issued(authority, *identity, validity, *key);
}

std::string cluster_of(const std::string& certificate_file) {
  const CertificatePtr certificate =
      detail::certificate_in(read_text(certificate_file, most_pem_bytes, Limit::fixed));
  const auto identity = certificate ? detail::identity_in(*certificate) : std::nullopt;
  if (!identity)
    throw Error(fmt::format("'{}' is not the certificate of a member", certificate_file));
  return identity->cluster;
}

std::chrono::system_clock::time_point expiry_of(const Credentials& credentials) {
  const std::vector<CertificatePtr> authorities = detail::certificates_in(credentials.authority);
  const CertificatePtr certificate = detail::certificate_in(credentials.certificate);
  if (authorities.empty() || !certificate) throw Error("these are no certificates in PEM");
  return std::min(end_of(*certificate), end_of(issuer_among(authorities, *certificate)));
}

void check_credentials(const Credentials& credentials, const Identity& identity) {
  const std::vector<CertificatePtr> authorities = detail::certificates_in(credentials.authority);
  const CertificatePtr certificate = detail::certificate_in(credentials.certificate);
  const KeyPtr key = detail::key_in(credentials.key);
  if (authorities.empty()) throw Error("the authority's certificate is not a certificate in PEM");
  if (!certificate) throw Error("the member's certificate is not a certificate in PEM");
  if (!key) throw Error("the member's key is not a private key in PEM without passphrase");
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    ERR_clear_error();
    throw Error("the key does not belong to the certificate");
  }
  check_times(issuer_among(authorities, *certificate), "the authority's certificate");
  check_times(*certificate, "the member's certificate");
  check_issuer(authorities, *certificate);
  const auto certified = detail::identity_in(*certificate);
  if (!certified) throw Error("the certificate names no member of a cluster");
  if (*certified != identity)
    throw Error(fmt::format("the certificate is for member {} of cluster '{}', not for member {} "
                            "of cluster '{}'",
                            certified->member, certified->cluster, identity.member,
                            identity.cluster));
}

Credentials load_credentials(const CredentialFiles& files, const Identity& identity) {
  check_owner(files.authority);
  Credentials credentials{read_text(files.authority, most_pem_bytes, Limit::fixed),
                          read_text(files.certificate, most_pem_bytes, Limit::fixed),
                          read_private_file(files.key)};
  try {
    check_credentials(credentials, identity);
  } catch (const Error& error) {
    throw Error(fmt::format("{} ({}, {}, {})", error.what(), files.authority, files.certificate,
                            files.key));
  }
  return credentials;
}

std::string serial_of(const std::string& certificate) {
  const CertificatePtr parsed = detail::certificate_in(certificate);
  if (!parsed) throw Error("this is not a certificate in PEM");
  return detail::serial_in(*parsed);
}

std::string plain_serial(std::string_view text) {
  std::string digits;
  for (const char each : text) {
    const bool is_capital = each >= 'A' && each <= 'F';
    const char digit = is_capital ? static_cast<char>(each - 'A' + 'a') : each;
    const bool is_digit = (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f');
    if (!is_digit && digit != ':')
      throw Error(fmt::format("'{}' is no serial number: hexadecimal digits are allowed, with or "
                              "without colons",
                              text.substr(0, 80)));
    const bool is_leading_zero = digits.empty() && digit == '0';
    if (is_digit && !is_leading_zero) digits += digit;
  }
  if (text.empty()) throw Error("a serial number has at least one digit");
  return digits;
}

std::string read_private_file(const std::string& path) {
  const auto refuse = [&](const std::string& why) {
    throw Error(fmt::format("cannot use the key '{}': {}", path, why));
  };
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) refuse(std::generic_category().message(errno));
  struct stat about {};
  if (fstat(file.number(), &about) != 0 || !S_ISREG(about.st_mode)) refuse("it is no plain file");
  if (about.st_uid != geteuid() && about.st_uid != 0)
    refuse(fmt::format("it belongs to user {}, who can change it", about.st_uid));
  if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    refuse(fmt::format("it is open to others than its owner (mode {:o}); chmod 600 '{}'",
                       about.st_mode & 0777u, path));
  std::string text(std::size_t{1} << 16, '\0');
  const ssize_t size = read(file.number(), text.data(), text.size());
  if (size < 0) refuse(std::generic_category().message(errno));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

// A group of one's own is common, and has no other members.
void check_owner(const std::string& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return;  // whoever reads it says what is wrong
  if (about.st_uid != geteuid() && about.st_uid != 0)
    throw Error(fmt::format("cannot trust '{}': it belongs to user {}, who can change it", path,
                            about.st_uid));
  const bool is_open_to_group = (about.st_mode & S_IWGRP) != 0 && about.st_gid != getegid();
  if ((about.st_mode & S_IWOTH) != 0 || is_open_to_group)
    throw Error(fmt::format("cannot trust '{0}': others can change it (mode {1:o}); chmod go-w "
                            "'{0}'",
                            path, about.st_mode & 0777u));
}

void write_private_file(const std::string& path, std::string_view text) {
  const auto cannot = [&] {
    return Error(
        fmt::format("cannot write '{}': {}", path, std::generic_category().message(errno)));
  };
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) throw cannot();
  const ssize_t written = write(file, text.data(), text.size());
  const bool is_closed = close(file) == 0;
  if (is_closed && written == static_cast<ssize_t>(text.size())) return;
  const int reason = errno;
  unlink(path.c_str());
  errno = reason;
  throw cannot();
}

}  // namespace conclave::election
