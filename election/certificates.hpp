// The certificates of a cluster: an authority of its own, which no system trusts, and one
// certificate per member that binds a key to (cluster, member). Keys lie on the curve P-256.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "election/frame.hpp"

namespace conclave::election {

// Who a certificate is for; in its subject alternative name as conclave://CLUSTER/MEMBER.
struct Identity {
  std::string cluster;
  MemberIndex member = 0;

  friend bool operator==(const Identity&, const Identity&) = default;
};

// When a certificate is valid, both ends included.
struct Validity {
  std::chrono::system_clock::time_point from;
  std::chrono::system_clock::time_point until;
};
// From an hour ago, because clocks may differ a little, until `days` days from now.
Validity valid_for(std::chrono::days days);

// All in PEM.
struct Authority {
  std::string certificate;
  std::string key;
};
struct Credentials {
  std::string authority;  // its certificate, or those of several, of which each is trusted
  std::string certificate;
  std::string key;
};

// Throws Error unless the name has 1 to 64 of the characters a-z A-Z 0-9 . _ -
void check_cluster_name(std::string_view cluster);

// A new authority, respectively a new key and a certificate for it; only randomness of the
// operating system is used. Throws Error.
Authority make_authority(std::string_view cluster, const Validity& validity);
Credentials issue_credentials(const Authority& authority, const Identity& identity,
                              const Validity& validity);

// Throws Error with one sentence if a part is unreadable, the key does not fit the certificate, the
// authority has not issued it, now is not within its validity, or it is for another member.
void check_credentials(const Credentials& credentials, const Identity& identity);

// A certificate for the same key and name as this one, which the authority (the first certificate
// of a bundle) issues. Throws Error.
std::string renewed(const std::string& certificate, const Authority& authority,
                    const Validity& validity);

// The cluster of the member whose certificate is in this file. Throws Error.
std::string cluster_of(const std::string& certificate_file);

// When the first of the member's certificate and that of its authority expires. Throws Error.
std::chrono::system_clock::time_point expiry_of(const Credentials& credentials);

// The serial number of a certificate in PEM, as `openssl x509 -serial` prints it but in one
// spelling: hexadecimal digits in lower case without leading zeros. Throws Error.
std::string serial_of(const std::string& certificate);
// A serial number as people write it (capitals, colons, leading zeros) in that spelling. Throws
// Error if it is not hexadecimal.
std::string plain_serial(std::string_view text);

// The names of PEM files.
struct CredentialFiles {
  std::string authority;
  std::string certificate;
  std::string key;
};
// Reads and checks; the key as read_private_file does. Throws Error.
Credentials load_credentials(const CredentialFiles& files, const Identity& identity);

// The first 64 KiB of a plain file that belongs to this user or to root and that no other user may
// read or write. Throws Error.
std::string read_private_file(const std::string& path);
// Throws Error where somebody else than this user and root can change the file: a configuration, or
// the certificates of authorities.
void check_owner(const std::string& path);
// Creates a file that only its owner can read. Throws Error if it exists already or cannot be
// written, and leaves nothing then.
void write_private_file(const std::string& path, std::string_view text);

}  // namespace conclave::election
