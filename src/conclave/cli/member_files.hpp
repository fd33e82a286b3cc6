// The files of a member of a cluster: certificate, key, configuration, and where the list may
// change its first state file. `cluster init` and `cluster add` write them.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "conclave/election/certificates.hpp"
#include "conclave/election/configuration.hpp"

namespace conclave::cli {

struct MemberFiles {
  std::filesystem::path folder;
  election::Identity member;
  std::vector<election::Seat> members;  // all, this one included
  std::string authority = "ca.pem";     // as the configuration names it
  bool is_elastic = false;
  std::chrono::milliseconds lease{0};  // 0: the default, which the configuration does not name
};

// Writes NAME.pem, NAME.key and NAME.toml, and returns the last. Throws Error where one exists;
// those that were written before stay.
std::filesystem::path write_member_files(const MemberFiles& files,
                                         const election::Authority& authority,
                                         const election::Validity& validity);

// The name of its files, without their endings.
std::string member_name(election::MemberIndex member);

// As Output does, but never in the place of another file.
void write_new_file(const std::filesystem::path& path, const std::string& text);

}  // namespace conclave::cli
