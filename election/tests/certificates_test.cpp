#include "election/certificates.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <openssl/pem.h>

#include "conclave/base/error.hpp"
#include "election/detail/openssl.hpp"
#include "election/detail/tunnel.hpp"
#include "election/detail/verified_certificates.hpp"

namespace conclave::election {
namespace {

using std::chrono::days;
using std::chrono::hours;

std::string complaint(const Credentials& credentials, const Identity& identity) {
  try {
    check_credentials(credentials, identity);
    return "none";
  } catch (const Error& error) {
    return error.what();
  }
}

::testing::AssertionResult says(const std::string& sentence, const std::string& part) {
  if (sentence.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << '"' << sentence << "\" lacks \"" << part << '"';
}

class CertificatesTest : public ::testing::Test {
 protected:
  const Identity me_{"alpha", 3};
  const Authority authority_ = make_authority("alpha", valid_for(days{10}));
  const Credentials good_ = issue_credentials(authority_, me_, valid_for(days{1}));
};

TEST_F(CertificatesTest, AreGoodForTheirMemberOnly) {
  EXPECT_EQ(complaint(good_, me_), "none");
  EXPECT_TRUE(says(complaint(good_, {"alpha", 4}), "is for member 3 of cluster 'alpha', not for"));
  EXPECT_TRUE(says(complaint(good_, {"beta", 3}), "not for member 3 of cluster 'beta'"));
}

TEST_F(CertificatesTest, HaveSerialNumbersInOneSpelling) {
  EXPECT_EQ(plain_serial("0A:1b:00"), "a1b00");
  EXPECT_EQ(plain_serial("a1b00"), "a1b00");
  EXPECT_THROW(plain_serial("0xa"), Error);
  EXPECT_THROW(plain_serial(""), Error);
  EXPECT_EQ(serial_of(good_.certificate), plain_serial(serial_of(good_.certificate)));
  EXPECT_NE(serial_of(good_.certificate),
            serial_of(issue_credentials(authority_, me_, valid_for(days{1})).certificate));
}

TEST_F(CertificatesTest, NeedTheirOwnKey) {
  Credentials mixed = good_;
  mixed.key = issue_credentials(authority_, me_, valid_for(days{1})).key;
  EXPECT_TRUE(says(complaint(mixed, me_), "the key does not belong to the certificate"));
}

TEST_F(CertificatesTest, NeedTheirOwnAuthority) {
  Credentials mixed = good_;
  mixed.authority = make_authority("alpha", valid_for(days{1})).certificate;
  EXPECT_TRUE(says(complaint(mixed, me_), "was not issued by the given authority"));
}

TEST_F(CertificatesTest, AreNoAuthoritiesThemselves) {
  const Credentials forged =
      issue_credentials({good_.certificate, good_.key}, {"alpha", 0}, valid_for(days{1}));
  EXPECT_NE(complaint(forged, {"alpha", 0}), "none");
  Credentials chained = forged;
  chained.authority = authority_.certificate;
  EXPECT_TRUE(says(complaint(chained, {"alpha", 0}), "was not issued by the given authority"));
}

TEST_F(CertificatesTest, AreHeldAgainstTheClock) {
  const auto now = std::chrono::system_clock::now();
  const auto old = issue_credentials(authority_, me_, {now - days{3}, now - hours{1}});
  EXPECT_TRUE(says(complaint(old, me_), "the member's certificate has expired on"));
  EXPECT_TRUE(says(complaint(old, me_), "this machine's clock says"));
  const auto early = issue_credentials(authority_, me_, {now + hours{1}, now + days{3}});
  EXPECT_TRUE(says(complaint(early, me_), "the member's certificate is not valid before"));
}

TEST_F(CertificatesTest, MustBeReadable) {
  EXPECT_TRUE(says(complaint({"", good_.certificate, good_.key}, me_),
                   "the authority's certificate is not"));
  EXPECT_TRUE(
      says(complaint({good_.authority, "-----BEGIN CERTIFICATE-----\nAAAA\n", good_.key}, me_),
           "the member's certificate is not"));
  EXPECT_TRUE(says(complaint({good_.authority, good_.certificate, good_.certificate}, me_),
                   "not a private key"));
}

TEST(Certificates, WantPlainClusterNames) {
  for (const char* good : {"a", "prod-7", "A.b_c"}) EXPECT_NO_THROW(check_cluster_name(good));
  for (const std::string& bad : {std::string{}, std::string{"a/b"}, std::string{"a b"},
                                 std::string{"x,DNS:evil"}, std::string(65, 'a')})
    EXPECT_THROW(check_cluster_name(bad), Error) << bad;
}

// A stranger's certificate is decoded as far as a cluster has use for it.
TEST_F(CertificatesTest, HaveKeysOfTheKindsInUseAndNoOthers) {
  for (const auto& [kind, is_used] :
       {std::pair{"EC", true}, {"X25519", true}, {"RSA", false}, {"DSA", false}, {"DH", false}}) {
    EVP_KEYMGMT* found = EVP_KEYMGMT_fetch(detail::few_algorithms(), kind, nullptr);
    EXPECT_EQ(found != nullptr, is_used) << kind;
    EVP_KEYMGMT_free(found);
  }
}

// Everybody has the authority's certificate: to send it, OpenSSL would verify it each time.
TEST_F(CertificatesTest, GoWithoutThatOfTheAuthority) {
  const detail::TlsSettings settings(good_);
  detail::Tunnel client(&settings, detail::Side::opened);
  detail::Tunnel server(&settings, detail::Side::accepted);
  std::size_t bytes = 0;
  for (int turn = 0; turn < 4 && !(client.is_open() && server.is_open()); ++turn) {
    bytes += client.output_size();
    server.feed(std::exchange(client.output(), {}));
    bytes += server.output_size();
    client.feed(std::exchange(server.output(), {}));
  }
  ASSERT_TRUE(client.is_open() && server.is_open());
  EXPECT_LT(bytes, 2600u) << "two certificates of some 600 bytes, and not four";
}

enum class Look { refused, verified, remembered };
struct Looking {
  detail::Role role = detail::Role::client;
  days later{0};
};
// A remembered certificate has no chain: OpenSSL has not built one.
Look look_at(const std::string& authority, const std::string& certificate, Looking how) {
  const detail::CertificatePtr issuer = detail::certificate_in(authority);
  const detail::CertificatePtr subject = detail::certificate_in(certificate);
  const detail::StorePtr store{X509_STORE_new()};
  const detail::StoreContextPtr context{X509_STORE_CTX_new()};
  X509_STORE_add_cert(store.get(), issuer.get());
  X509_STORE_CTX_init(context.get(), store.get(), subject.get(), nullptr);
  using Clock = std::chrono::system_clock;
  X509_STORE_CTX_set_time(context.get(), 0, Clock::to_time_t(Clock::now() + how.later));
  const bool is_good = detail::verify_once(*context, how.role);
  EXPECT_EQ(is_good, X509_STORE_CTX_get_error(context.get()) == X509_V_OK);
  if (!is_good) return Look::refused;
  return X509_STORE_CTX_get0_chain(context.get()) == nullptr ? Look::remembered : Look::verified;
}

TEST_F(CertificatesTest, AreVerifiedOncePerAuthorityAndRole) {
  const std::string& certificate = good_.certificate;
  EXPECT_EQ(look_at(good_.authority, certificate, {}), Look::verified);
  EXPECT_EQ(look_at(good_.authority, certificate, {}), Look::remembered);
  EXPECT_NE(look_at(good_.authority, certificate, {.role = detail::Role::server}),
            Look::remembered);
  const Authority other = make_authority("alpha", valid_for(days{10}));
  EXPECT_EQ(look_at(other.certificate, certificate, {}), Look::refused);
  EXPECT_EQ(look_at(good_.authority, certificate, {.later = days{2}}), Look::refused)
      << "it has expired";
}

TEST_F(CertificatesTest, AreWorthNothingOnceTheirAuthorityHasExpired) {
  const Credentials longer = issue_credentials(authority_, me_, valid_for(days{30}));
  EXPECT_EQ(look_at(longer.authority, longer.certificate, {}), Look::verified);
  EXPECT_EQ(look_at(longer.authority, longer.certificate, {.later = days{20}}), Look::refused);
}

TEST_F(CertificatesTest, AreVerifiedAheadForBothRoles) {
  const detail::CertificatePtr authority = detail::certificate_in(good_.authority);
  const detail::CertificatePtr certificate = detail::certificate_in(good_.certificate);
  detail::verify_ahead(*authority, *certificate);
  for (const detail::Role role : {detail::Role::client, detail::Role::server})
    EXPECT_EQ(look_at(good_.authority, good_.certificate, {.role = role}), Look::remembered);
}

TEST_F(CertificatesTest, AreRenewedForTheSameKeyAndName) {
  const std::string fresh = renewed(good_.certificate, authority_, valid_for(days{9}));
  EXPECT_NE(serial_of(fresh), serial_of(good_.certificate));
  const Credentials after{good_.authority, fresh, good_.key};
  EXPECT_NO_THROW(check_credentials(after, me_));
  EXPECT_GT(expiry_of(after), expiry_of(good_));
  const Authority other = make_authority("alpha", valid_for(days{10}));
  EXPECT_THROW(renewed(good_.certificate, {authority_.certificate, other.key}, valid_for(days{9})),
               Error);
  EXPECT_THROW(renewed("no certificate", authority_, valid_for(days{9})), Error);
}

// While one authority takes the place of another, members trust both.
TEST_F(CertificatesTest, AreGoodWhereABundleHasTheirAuthority) {
  const Authority next = make_authority("alpha", valid_for(days{20}));
  const std::string both = next.certificate + good_.authority;
  EXPECT_NO_THROW(check_credentials({both, good_.certificate, good_.key}, me_));
  const std::string fresh = renewed(good_.certificate, {both, next.key}, valid_for(days{15}));
  EXPECT_NO_THROW(check_credentials({both, fresh, good_.key}, me_));
  EXPECT_NO_THROW(check_credentials({next.certificate, fresh, good_.key}, me_));
  EXPECT_THROW(check_credentials({good_.authority, fresh, good_.key}, me_), Error);
  EXPECT_LT(expiry_of({both, good_.certificate, good_.key}), expiry_of({both, fresh, good_.key}));
  EXPECT_THROW(check_credentials({both + "-----BEGIN CERTIFICATE-----\nx", fresh, good_.key}, me_),
               Error);
}

class CertificateFilesTest : public CertificatesTest {
 protected:
  CertificateFilesTest() {
    std::string name = (std::filesystem::temp_directory_path() / "conclave-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    files_ = {folder_ + "/ca.pem", folder_ + "/member.pem", folder_ + "/member.key"};
    write_private_file(files_.authority, good_.authority);
    write_private_file(files_.certificate, good_.certificate);
    write_private_file(files_.key, good_.key);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string complaint_about_files() {
    try {
      load_credentials(files_, me_);
      return "none";
    } catch (const Error& error) {
      return error.what();
    }
  }

  std::string folder_;
  CredentialFiles files_;
};

TEST_F(CertificateFilesTest, AreForTheirOwnerOnly) {
  struct stat status {};
  ASSERT_EQ(stat(files_.key.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
  EXPECT_EQ(complaint_about_files(), "none");
  chmod(files_.key.c_str(), 0640);
  EXPECT_TRUE(says(complaint_about_files(), "is open to others than its owner (mode 640)"));
}

TEST_F(CertificateFilesTest, AreNotOverwritten) {
  EXPECT_THROW(write_private_file(files_.key, "x"), Error);
  EXPECT_EQ(complaint_about_files(), "none");
}

TEST_F(CertificateFilesTest, AreNamedWhereTheyAreMissingOrWrong) {
  std::filesystem::remove(files_.authority);
  EXPECT_TRUE(says(complaint_about_files(), "cannot read '" + files_.authority));
  write_private_file(files_.authority, good_.authority);
  std::filesystem::remove(files_.key);
  EXPECT_TRUE(says(complaint_about_files(), "cannot use the key '" + files_.key));
  std::filesystem::create_directory(files_.key);
  EXPECT_TRUE(says(complaint_about_files(), "it is no plain file"));
}

TEST_F(CertificateFilesTest, BelongToTheUserOrToRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown(files_.key.c_str(), 12345, 12345), 0);
  EXPECT_TRUE(says(complaint_about_files(), "it belongs to user 12345"));
}

TEST_F(CertificateFilesTest, AreNotReadWithoutEnd) {
  files_.certificate = "/dev/zero";
  EXPECT_TRUE(says(complaint_about_files(), "cannot read '/dev/zero'"));
}

TEST_F(CertificateFilesTest, AreTakenBackWhereTheyCannotBeWritten) {
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit none{.rlim_cur = 10, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  EXPECT_THROW(write_private_file(folder_ + "/half", good_.key), Error);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/half"));
}

// As `openssl ecparam -genkey` writes them.
TEST_F(CertificatesTest, TakeKeysInTheirOlderForm) {
  const detail::BioPtr given{BIO_new_mem_buf(good_.key.data(), static_cast<int>(good_.key.size()))};
  const detail::KeyPtr key{PEM_read_bio_PrivateKey(given.get(), nullptr, nullptr, nullptr)};
  const detail::BioPtr text{BIO_new(BIO_s_mem())};
  ASSERT_EQ(PEM_write_bio_PrivateKey_traditional(text.get(), key.get(), nullptr, nullptr, 0,
                                                 nullptr, nullptr),
            1);
  char* start = nullptr;
  const long length = BIO_get_mem_data(text.get(), &start);
  Credentials older = good_;
  older.key = std::string(start, static_cast<std::size_t>(length));
  EXPECT_TRUE(says(older.key, "BEGIN EC PRIVATE KEY"));
  EXPECT_EQ(complaint(older, me_), "none");
}

TEST_F(CertificateFilesTest, AreRefusedWhereOthersCanChangeTheAuthority) {
  for (const mode_t mode : {0606u, 0666u, 0622u}) {
    ASSERT_EQ(chmod(files_.authority.c_str(), mode), 0);
    EXPECT_TRUE(says(complaint_about_files(), "others can change it")) << mode;
  }
  ASSERT_EQ(chmod(files_.authority.c_str(), 0644), 0);
  EXPECT_EQ(complaint_about_files(), "none");
}

}  // namespace
}  // namespace conclave::election
