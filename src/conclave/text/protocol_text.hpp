// A protocol as its author wrote it: the file, its name, and its syntax. Parameters and n are still
// open.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conclave/model/protocol_info.hpp"
#include "conclave/text/sources.hpp"
#include "conclave/text/syntax.hpp"

namespace conclave::text {

class ProtocolText {
 public:
  // The name decides the dialect: x.crn is a network of reactions, x.rules a list of rules,
  // anything else a protocol. Throws Error with "name:line:column: ...".
  ProtocolText(std::string name, std::string_view content);
  // Reads a file and what it imports, and names the protocol after it; throws Error if it cannot be
  // read.
  static std::shared_ptr<const ProtocolText> read(const std::string& path);

  // The same with one more start, which has these shares as its name: "A=60,B=40", "A=60%,B=rest".
  // Throws Error if they cannot be read.
  std::shared_ptr<const ProtocolText> with_start(const std::string& shares) const;

  // The same, hopeless as soon as one of its properties fails.
  std::shared_ptr<const ProtocolText> with_checks() const;

  // Whether a user who writes this means a file.
  static bool is_path(std::string_view word);

  const std::string& name() const { return name_; }
  const std::string& hash() const { return hash_; }  // of the content: 16 hexadecimal digits
  // The file with all that it imports; makes the same protocol without a file (text/sources.hpp).
  const std::string& content() const { return content_; }
  // The file it was read from and those that it imports; none for content without a file.
  const std::vector<std::string>& files_read() const { return files_read_; }
  const Document& document() const { return document_; }

  const std::vector<Observable>& observables() const { return observables_; }
  const std::vector<Start>& starts() const { return starts_; }

  // A sentence with its place in its file, and the line with a caret below the place.
  std::string placed(Place place, std::string_view sentence) const;
  // Throws Error with the mistake's sentence, placed.
  [[noreturn]] void object(const Mistake& mistake) const;

 private:
  ProtocolText(std::string name, Sources sources);
  ProtocolText(const ProtocolText& other);  // its names are still to be listed
  void complete();
  void list_names();
  std::string marked(Place place) const;

  std::string name_;
  std::string content_;
  std::vector<NamedText> files_;  // the main one and those it imports
  std::vector<std::string> files_read_;
  std::string hash_;
  Document document_;
  std::vector<Observable> observables_;  // these look into document_
  std::vector<Start> starts_;
};

}  // namespace conclave::text
