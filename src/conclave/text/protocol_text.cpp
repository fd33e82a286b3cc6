#include "conclave/text/protocol_text.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/printable.hpp"
#include "conclave/text/cursor.hpp"

namespace conclave::text {
namespace {

// "A=60,B{x=1}=40%" as "60 of A, 40% of B{x=1}". Throws Error.
std::string start_text(const std::string& shares) {
  std::string text;
  int depth = 0;
  std::size_t begin = 0;
  std::size_t equals = std::string::npos;
  for (std::size_t i = 0; i <= shares.size(); ++i) {
    const char c = i < shares.size() ? shares[i] : ',';
    depth += c == '{' || c == '(' ? 1 : c == '}' || c == ')' ? -1 : 0;
    if (c == '=' && depth == 0) equals = i;
    if (c != ',' || (depth != 0 && i < shares.size())) continue;
    const std::string count = equals < i ? shares.substr(equals + 1, i - equals - 1) : "";
    if (equals == begin || count.empty()) {
      throw Error(fmt::format("--init takes a name of the file, or how many agents begin in each "
                              "state, such as A=60,B=40 or A=60%,B=rest, not '{}'",
                              excerpt(shares)));
    }
    text += fmt::format("{}{} of {}", begin == 0 ? "" : ", ", count,
                        shares.substr(begin, equals - begin));
    begin = i + 1;
    equals = std::string::npos;
  }
  return text;
}

// FNV-1a, not cryptographic: it detects accidental differences between files, not attacks.
std::string fingerprint(std::string_view content) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : content) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return fmt::format("{:016x}", hash);
}

Dialect dialect_of(std::string_view name) {
  if (name.ends_with(".crn")) return Dialect::network;
  return name.ends_with(".rules") ? Dialect::rule_list : Dialect::protocol;
}

}  // namespace

ProtocolText::ProtocolText(std::string name, std::string_view content)
    : ProtocolText(std::move(name), Sources(content)) {}

ProtocolText::ProtocolText(std::string name, Sources sources)
    : name_(std::move(name)), files_{{name_, sources.main()}} {
  try {
    document_ = joined_with_imports(dialect_of(name_), sources, files_);
    complete();
  } catch (const Mistake& mistake) {
    object(mistake);
  }
  content_ = sources.bundle();
  files_read_ = sources.files_read();
  hash_ = fingerprint(content_);
}

void ProtocolText::complete() {
  if (document_.fields.empty()) {
    throw Mistake({}, document_.is_network
                          ? "there are no reactions: add a line such as A + B -> B + B rate 1"
                          : "there are no states: add a line such as states A, B");
  }
  if (document_.is_network && document_.fields.size() > 1) {
    throw Mistake(document_.fields[0].name.place,
                  "the molecules of a network have no fields, only species, and an import brings "
                  "fields");
  }
  if (document_.starts.empty() && document_.is_network) {
    throw Mistake({}, "there is no start: add lines such as init A = 1000 and init B = 10");
  }
  if (document_.starts.empty()) {
    throw Mistake({}, "there is no start: add a line such as start clean: 1 of A, rest of B");
  }
  if (!document_.stop) {
    document_.stop_text = document_.leader ? "count(leader) == 1" : "silent";
    Cursor cursor(document_.stop_text);
    document_.stop = parse_expression(cursor);
  }
  complete_computations(document_);
  if (document_.title.empty()) {
    document_.title = document_.is_network ? "a reaction network" : "a protocol of your own";
  }
  list_names();
}

void ProtocolText::list_names() {
  observables_.clear();
  starts_.clear();
  for (const Definition& each : document_.observables) {
    observables_.push_back({each.name.text, each.meaning});
  }
  for (const StartText& each : document_.starts) {
    const bool uniform = each.items.size() == 1 && (each.items[0].kind == StartItem::Kind::all ||
                                                    each.items[0].kind == StartItem::Kind::rest);
    starts_.push_back({each.name.text, each.meaning, uniform});
  }
}

ProtocolText::ProtocolText(const ProtocolText& other)
    : name_(other.name_),
      content_(other.content_),
      files_(other.files_),
      files_read_(other.files_read_),
      hash_(other.hash_),
      document_(other.document_) {}

std::shared_ptr<const ProtocolText> ProtocolText::with_start(const std::string& shares) const {
  const std::string label = fmt::format("--init {}", excerpt(shares));
  const std::string text = start_text(shares);
  try {
    Document added =
        parse("start given: " + text, Dialect::protocol, static_cast<std::uint32_t>(files_.size()));
    if (added.starts.size() != 1) throw Mistake({}, "this is more than one start");
    added.starts.front().name.text = shares;
    const std::shared_ptr<ProtocolText> result(new ProtocolText(*this));
    result->files_.push_back({label, {}});
    result->document_.starts.push_back(std::move(added.starts.front()));
    result->list_names();
    return result;
  } catch (const Mistake& mistake) {
    throw Error(fmt::format("{}: {}", label, mistake.what()));
  }
}

std::shared_ptr<const ProtocolText> ProtocolText::with_checks() const {
  const std::shared_ptr<ProtocolText> result(new ProtocolText(*this));
  std::optional<Expression>& fail = result->document_.fail;
  for (const PropertyText& each : document_.properties) {
    Expression broken{.form = Form::operation,
                      .place = each.condition.place,
                      .operation = Operator::negation,
                      .parts = {each.condition}};
    fail = !fail ? broken
                 : Expression{.form = Form::operation,
                              .place = broken.place,
                              .operation = Operator::disjunction,
                              .parts = {std::move(*fail), std::move(broken)}};
  }
  result->list_names();
  return result;
}

std::shared_ptr<const ProtocolText> ProtocolText::read(const std::string& path) {
  return std::shared_ptr<const ProtocolText>(new ProtocolText(
      std::filesystem::path(path).filename().string(), Sources::in_folder_of(path)));
}

bool ProtocolText::is_path(std::string_view word) {
  return word.ends_with(".pp") || word.ends_with(".crn") || word.ends_with(".rules") ||
         word.find('/') != word.npos;
}

std::string ProtocolText::placed(Place place, std::string_view sentence) const {
  const bool is_option = place.file > 0 && files_[place.file].content.empty();
  if (is_option) return fmt::format("{}: {}", files_[place.file].name, sentence);
  return fmt::format("{}:{}:{}: {}{}", files_[place.file].name, place.line, place.column, sentence,
                     marked(place));
}

void ProtocolText::object(const Mistake& mistake) const {
  throw Error(placed(mistake.place(), mistake.what()));
}

// Nothing if the line is long, or holds what a terminal should not see.
std::string ProtocolText::marked(Place place) const {
  std::string_view rest = files_[place.file].content;
  for (std::uint32_t line = 1; line < place.line; ++line) {
    rest.remove_prefix(std::min(rest.find('\n'), rest.size() - 1) + 1);
  }
  std::string line(rest.substr(0, rest.find('\n')));
  if (line.ends_with('\r')) line.pop_back();
  std::ranges::replace(line, '\t', ' ');
  constexpr std::size_t longest = 200;
  if (line.empty() || line.size() > longest || !is_printable(line)) return {};
  return fmt::format("\n  {}\n  {:>{}}", line, '^', place.column);
}

}  // namespace conclave::text
