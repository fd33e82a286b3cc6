#include "conclave/text/renaming.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::text {
namespace {

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

}  // namespace

void rename(Document& module, const ImportText& import) { Renaming(module, import).apply(module); }

}  // namespace conclave::text
