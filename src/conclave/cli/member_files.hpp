// The files of a member of a cluster: certificate, key, configuration, and where the list may
// change its first state file. `cluster init` and `cluster add` write them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "election/certificates.hpp"
#include "election/configuration.hpp"
#include "election/member.hpp"

namespace conclave::cli {

struct MemberFiles {
  std::filesystem::path folder;
  election::Identity member;
  std::vector<election::Seat> members;  // all, this one included
  std::string authority = "ca.pem";     // as the configuration names it
  bool is_elastic = false;
  std::optional<election::Timing> timing{};  // none: the default, which is not written down
};

// Files that are taken back, in the end, unless they are kept.
class FreshFiles {
 public:
  FreshFiles() = default;
  FreshFiles(const FreshFiles&) = delete;
  FreshFiles& operator=(const FreshFiles&) = delete;
  ~FreshFiles();

  void add(std::filesystem::path path) { paths_.push_back(std::move(path)); }
  void keep() { paths_.clear(); }

 private:
  std::vector<std::filesystem::path> paths_;
};

// Writes NAME.pem, NAME.key and NAME.toml, and returns the last. Throws Error if one exists. Adds
// the files it has written to `fresh`, even if it throws.
std::filesystem::path write_member_files(const MemberFiles& files,
                                         const election::Authority& authority,
                                         const election::Validity& validity, FreshFiles& fresh);

// The name of its files, without their endings.
std::string member_name(election::MemberIndex member);

// As Output does, but never in the place of another file; write_new_key for its owner alone. Both
// add the path to `fresh` when it is written.
void write_new_file(const std::filesystem::path& path, const std::string& text, FreshFiles& fresh);
void write_new_key(const std::filesystem::path& path, const std::string& text, FreshFiles& fresh);

}  // namespace conclave::cli
