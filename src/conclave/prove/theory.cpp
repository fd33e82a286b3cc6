#include "conclave/prove/theory.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conclave/base/error.hpp"

namespace conclave::prove {

namespace {

std::vector<std::string> words_of(const Expression& list) {
  std::vector<std::string> words;
  for (const Expression& item : list.items) words.push_back(item.word);
  return words;
}

void demand_size(const Expression& form, std::size_t size) {
  if (form.size() != size)
    throw Error("`" + form.text().substr(0, 60) + "` of a theory should have " +
                std::to_string(size) + " parts");
}

void add_form(Theory& theory, const Expression& form) {
  if (form.head() == "parameter" || form.head() == "ghost") {
    demand_size(form, 3);
    if (form.head() == "ghost") theory.ghosts.insert(form[1].word);
    theory.parameters.emplace_back(form[1].word, form[2]);
  } else if (form.head() == "range") {
    demand_size(form, 4);
    theory.ranges[form[1].word] = {std::stoll(form[2].word), std::stoll(form[3].word)};
  } else if (form.head() == "define") {
    demand_size(form, 4);
    theory.vocabulary[form[1].word] = {words_of(form[2]), form[3]};
  } else if (form.head() == "start" || form.head() == "domain") {
    demand_size(form, 3);
    theory.vocabulary[std::string(form.head())] = {words_of(form[1]), form[2]};
  } else if (form.head() == "lemma" && form.size() >= 4) {
    theory.lemmas.push_back(
        {form[1].word, form[2].word, {form.items.begin() + 3, form.items.end()}});
  } else {
    throw Error("a theory does not know `" + form.text().substr(0, 60) + "`");
  }
}

}  // namespace

Theory parse_theory(std::string_view text) {
  Theory theory;
  for (const Expression& form : parse_expressions(text)) add_form(theory, form);
  const auto domain = theory.vocabulary.find("domain");
  if (domain == theory.vocabulary.end()) throw Error("a theory needs a domain");
  std::string limits;
  for (const auto& [field, range] : theory.ranges) {
    const std::string name = domain->second.agents.at(0) + '.' + field;
    limits += fmt::format("(<= {} {}) (<= {} {}) ", range.first, name, name, range.second);
  }
  domain->second.body =
      parse_expressions("(and " + limits + domain->second.body.text() + ")").front();
  return theory;
}

}  // namespace conclave::prove
