// The files of a cluster's members as an operator gets them: the authority, and for each member
// certificate, key, configuration, and for the founders the first state file: only who has one may
// begin without a memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "election/certificates.hpp"
#include "election/configuration.hpp"
#include "election/member.hpp"

namespace conclave::election {

struct NewCluster {
  std::filesystem::path folder;  // is made where there is none
  std::string name = "conclave";
  std::string host = "127.0.0.1";   // of all members, for the operator to edit
  std::uint16_t first_port = 7000;  // of member 0; each further one has the next
  MemberIndex members = 3;
  std::chrono::days validity{90};              // of the members' certificates, from now on
  std::chrono::days authority_validity{3650};  // of the authority's
  bool is_elastic = false;
};

// Writes ca.pem, ca.key and the files of all members. Throws Error if one exists or cannot be
// written, or if the list of an elastic cluster is too long; then no file is left.
void write_cluster(const NewCluster& cluster);

struct MemberFiles {
  std::filesystem::path folder;
  Identity member;
  std::vector<Seat> members;         // all, this one included
  std::string authority = "ca.pem";  // as the configuration names it
  bool is_elastic = false;
  std::uint64_t identity = 0;      // of the cluster
  std::optional<Timing> timing{};  // none: the default, which is not written down
};

// Renews the certificate in the file, for the same key, in its place. Throws Error.
void renew_certificate(const std::filesystem::path& certificate, const Authority& authority,
                       const Validity& validity);

// A new authority for the cluster: its certificate comes before those in FOLDER/ca.pem, which stay
// trusted, and its key takes the place of FOLDER/ca.key, which is kept as ca.key.old. Throws Error.
void exchange_authority(const std::filesystem::path& folder, const std::string& cluster,
                        const Validity& validity);

// Files that are removed by the destructor, unless they are kept.
class FreshFiles {
 public:
  FreshFiles() = default;
  FreshFiles(const FreshFiles&) = delete;
  FreshFiles& operator=(const FreshFiles&) = delete;
  ~FreshFiles();

  // From now on the destructor removes this file, too.
  void add(std::filesystem::path path) { paths_.push_back(std::move(path)); }
  void keep() { paths_.clear(); }

 private:
  std::vector<std::filesystem::path> paths_;
};

// Writes member-N.pem, member-N.key and member-N.toml, and returns the path of the last. Throws
// Error if one exists. Adds the files it has written to `fresh`, even if it throws.
std::filesystem::path write_member_files(const MemberFiles& files, const Authority& authority,
                                         const Validity& validity, FreshFiles& fresh);

}  // namespace conclave::election
