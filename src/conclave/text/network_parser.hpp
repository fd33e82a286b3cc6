// Parses the statements that only networks of reactions have: reactions, `init` and `volume` of a
// .crn file, and the block `reactions { ... }` of a protocol text. All other statements are those
// of protocol texts. docs/reactions.md describes them.
#pragma once

#include <vector>

#include "conclave/text/cursor.hpp"
#include "conclave/text/syntax.hpp"

namespace conclave::text {

// Both must outlive it. Everything throws Mistake.
class NetworkParser {
 public:
  NetworkParser(Cursor& cursor, Document& document) : cursor_(cursor), document_(document) {}

  // Reads a statement of a network; false, and nothing is read, if this is another one.
  bool statement();

  // Reads `{ A + B -> B + B rate 2  volume n/2 }`.
  void block();

  // When all is read: species are those that are named, in the order in which they appear; where a
  // condition or an observable names a species, it means how many molecules of it there are.
  void finish();

 private:
  void volume();
  void init();
  StartItem init_item();
  void reaction();
  std::vector<Name> side(const char* where);
  Name species(const char* wanted);
  void collect_species();
  void read_as_counts(Expression& expression) const;
  bool is_species(const std::string& name) const;

  Cursor& cursor_;
  Document& document_;
  bool is_block_ = false;
};

}  // namespace conclave::text
