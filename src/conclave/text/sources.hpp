// The files that a protocol is made of: the one that is named, and those that it imports.
//
// A protocol is read from a folder, or from a bundle: its content followed by the files it imports,
// each behind a line `#:module "clock.pp" 1234` with its name and its size in bytes. A store keeps
// bundles, so that results can be continued where the files are not at hand.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace conclave::text {

struct NamedText {
  std::string name;
  std::string content;
};

class Sources {
 public:
  // A protocol whose imports are all in its own content.
  explicit Sources(std::string_view bundle);
  // The file at this path; its imports are looked for in its folder and below, and then among the
  // files that are shipped. Throws Error if it cannot be read.
  static Sources in_folder_of(const std::string& path);

  const std::string& main() const { return main_; }

  // The content of an imported file by its path from the folder of the main one, with '/' between
  // names; nothing where there is none. Refuses what lies outside, also behind links.
  std::optional<std::string> find(const std::string& path);

  // The main content, and all files that were found.
  std::string bundle() const;

  // The files that were read so far, the main one first; none for a bundle.
  const std::vector<std::string>& files_read() const { return files_read_; }

 private:
  Sources() = default;

  std::string main_;
  std::optional<std::string> folder_;
  std::map<std::string, std::string> modules_;
  std::vector<std::string> files_read_;
};

}  // namespace conclave::text
