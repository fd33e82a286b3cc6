// Imports: finds the files, renames what they bring, and joins all into one document.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/base/join_parts.hpp"
#include "conclave/text/sources.hpp"

namespace conclave::text {
namespace {

constexpr std::size_t most_files = 64;
constexpr std::size_t most_levels = 8;

// "sub/clock.pp" of "folder/my.pp" is "folder/sub/clock.pp".
std::string beside(const std::string& importing, const std::string& path) {
  const std::size_t slash = importing.rfind('/');
  return slash == importing.npos ? path : importing.substr(0, slash + 1) + path;
}

std::string stem_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string file = slash == path.npos ? path : path.substr(slash + 1);
  return file.substr(0, file.find('.'));
}

void check_path(const ImportText& import) {
  std::string_view left = import.path;
  bool is_fine = !left.empty() && left.find('\\') == left.npos;
  while (is_fine && !left.empty()) {
    const std::size_t slash = std::min(left.find('/'), left.size());
    const std::string_view part = left.substr(0, slash);
    is_fine = !part.empty() && !part.starts_with('.');
    left.remove_prefix(std::min(slash + 1, left.size()));
  }
  if (is_fine && import.path.ends_with(".pp")) return;
  throw Mistake(import.place,
                fmt::format("'{}' is no path to a .pp file in this folder or below", import.path));
}

// Gives the names of an imported file other names, as the import says: single names by its renames,
// all others by its alias and an underscore. Throws Mistake for a name that the module does not
// have, and for a list of states with an alias, whose names rules use as they are.
class Renaming {
 public:
  Renaming(const Document& module, const ImportText& import) {
    for (const ParameterText& each : module.parameters) add(each.name.text, import);
    for (const Definition& each : module.definitions) add(each.name.text, import);
    for (const FieldText& each : module.fields) add_field(each, import);
    for (const StepText& each : module.steps) add(each.name.text, import);
    for (const auto& [from, to] : import.renames) {
      if (!names_.contains(from.text)) refuse(import, from);
      names_[from.text] = to.text;
    }
  }

  void apply(Document& module) {
    for (ParameterText& each : module.parameters) {
      rename(each.name);
      rename(each.fallback);
      rename(each.low);
      rename(each.high);
    }
    for (Definition& each : module.definitions) {
      rename(each.name);
      hidden_ = &each.parameters;
      rename(each.value);
      hidden_ = nullptr;
    }
    for (FieldText& each : module.fields) {
      rename(each.name);
      rename(each.low);
      rename(each.high);
    }
    for (StepText& each : module.steps) {
      rename(each.name);
      rename(each.body);
    }
    for (RuleText& each : module.rules) rename(each);
  }

 private:
  void add(const std::string& name, const ImportText& import) {
    names_[name] = import.alias.empty() ? name : import.alias + '_' + name;
  }

  void add_field(const FieldText& field, const ImportText& import) {
    if (field.name.text != state_field) return add(field.name.text, import);
    if (import.alias.empty()) return;
    throw Mistake(import.place,
                  fmt::format("{} has a list of states, which keeps its names: import it without "
                              "'as', or make it a field such as mode: {{A, B}}",
                              import.path));
  }

  [[noreturn]] void refuse(const ImportText& import, const Name& name) const {
    std::vector<std::string_view> known;
    for (const auto& [each, to] : names_) known.push_back(each);
    throw Mistake(name.place,
                  unknown_name(fmt::format("name of {}", import.path), name.text, known));
  }

  void rename(std::string& name) const {
    const auto is_hidden = [&](const Name& each) { return each.text == name; };
    if (hidden_ != nullptr && std::ranges::any_of(*hidden_, is_hidden)) return;
    if (const auto found = names_.find(name); found != names_.end()) name = found->second;
  }
  void rename(Name& name) const { rename(name.text); }
  void rename(std::optional<Expression>& expression) const {
    if (expression) rename(*expression);
  }

  // The depth of an expression is bounded by its parser.
  void rename(Expression& expression) const {
    if (expression.form == Form::name || expression.form == Form::member ||
        expression.form == Form::call) {
      rename(expression.name);
    }
    for (Expression& part : expression.parts) rename(part);
  }

  void rename(Assignment& assignment) const {
    rename(assignment.field);
    rename(assignment.value);
  }
  void rename(Pattern& pattern) const {
    for (Expression& each : pattern.conditions) rename(each);
  }
  void rename(Target& target) const {
    for (Assignment& each : target.assignments) rename(each);
  }

  void rename(RuleText& rule) const {
    rename(rule.initiator);
    rename(rule.responder);
    rename(rule.guard);
    for (OutcomeText& each : rule.outcomes) {
      rename(each.initiator);
      rename(each.responder);
      rename(each.probability);
    }
    rename(rule.block);
  }

  void rename(std::vector<Statement>& block) const {
    for (Statement& each : block) {
      if (each.kind == Statement::Kind::call) rename(each.name);
      for (Expression& value : each.values) rename(value);
      for (Statement::Change& change : each.changes) rename(change.assignment);
      for (RuleText& rule : each.rules) rename(rule);
      rename(each.body);
      rename(each.otherwise);
    }
  }

  std::map<std::string, std::string, std::less<>> names_;
  const std::vector<Name>* hidden_ = nullptr;  // the arguments of the function at work
};

class Joiner {
 public:
  Joiner(Sources& sources, std::vector<NamedText>& files) : sources_(sources), files_(files) {}

  // Modules come first, each with its own before it.
  Document joined(Document document, std::string name) {
    open_.push_back(std::move(name));
    Document all;
    for (const ImportText& import : document.imports) add(import, open_.back(), all);
    open_.pop_back();
    append(std::move(document), all);
    return all;
  }

 private:
  void add(const ImportText& import, const std::string& importing, Document& all) {
    check_path(import);
    const std::string name = beside(importing, import.path);
    refuse_cycles(import, name);
    std::string key = name + ' ' + import.alias;
    for (const auto& [from, to] : import.renames) key += ' ' + from.text + ' ' + to.text;
    if (!imported_.insert(key).second) return;
    Document module = joined(parsed(import, name), name);
    if (module.is_network) {
      throw Mistake(import.place,
                    fmt::format("'{}' has reactions, which cannot be imported", import.path));
    }
    if (!import.alias.empty() || !import.renames.empty()) Renaming(module, import).apply(module);
    add_rules_as_step(module, import);
    append(std::move(module), all);
  }

  void refuse_cycles(const ImportText& import, const std::string& name) const {
    const auto begin = std::ranges::find(open_, name);
    if (begin != open_.end()) {
      const std::vector<std::string> circle(begin, open_.end());
      throw Mistake(import.place, fmt::format("{} imports itself: {} -> {}", name,
                                              join_parts(circle, " -> "), name));
    }
    if (open_.size() > most_levels) {
      throw Mistake(import.place, fmt::format("imports are nested more than {} deep", most_levels));
    }
  }

  Document parsed(const ImportText& import, const std::string& name) {
    if (files_.size() >= most_files) {
      throw Mistake(import.place, fmt::format("there are more than {} files", most_files));
    }
    const std::optional<std::string> content = sources_.find(name);
    if (!content) {
      throw Mistake(import.place,
                    fmt::format("cannot read '{}': no file of at most 1 MiB beside this one, nor "
                                "among the shipped files",
                                import.path));
    }
    files_.push_back({name, *content});
    return parse(*content, Dialect::protocol, static_cast<std::uint32_t>(files_.size() - 1));
  }

  // A list of rules is run by a step that is called like the file, or by the new name.
  static void add_rules_as_step(Document& module, const ImportText& import) {
    if (module.rules.empty()) return;
    const std::string name = import.alias.empty() ? stem_of(import.path) : import.alias;
    StepText step{.name = {name, import.place}};
    Statement list{.kind = Statement::Kind::rules, .place = import.place};
    list.rules = std::move(module.rules);
    module.rules.clear();
    step.body.push_back(std::move(list));
    module.steps.push_back(std::move(step));
  }

  template <class Item>
  static void move_into(std::vector<Item>& from, std::vector<Item>& to) {
    std::ranges::move(from, std::back_inserter(to));
  }

  // The importing file's own statements replace what else there is.
  static void append(Document part, Document& all) {
    std::vector<ParameterText> parameters = std::move(all.parameters);
    std::vector<Definition> definitions = std::move(all.definitions);
    std::vector<FieldText> fields = std::move(all.fields);
    std::vector<StepText> steps = std::move(all.steps);
    move_into(part.parameters, parameters);
    move_into(part.definitions, definitions);
    move_into(part.fields, fields);
    move_into(part.steps, steps);
    all = std::move(part);
    all.parameters = std::move(parameters);
    all.definitions = std::move(definitions);
    all.fields = std::move(fields);
    all.steps = std::move(steps);
  }

  Sources& sources_;
  std::vector<NamedText>& files_;
  std::vector<std::string> open_;
  std::set<std::string> imported_;
};

}  // namespace

Document joined_with_imports(Dialect dialect, Sources& sources, std::vector<NamedText>& files) {
  Document document = parse(files.front().content, dialect);
  if (document.imports.empty()) return document;
  return Joiner(sources, files).joined(std::move(document), files.front().name);
}

}  // namespace conclave::text
