// Statements that only networks of reactions have. All others are those of protocol files.
#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "conclave/text/cursor.hpp"

namespace conclave::text {
namespace {

constexpr const char* start_name = "init";
constexpr std::size_t most_on_a_side = 16;
constexpr std::array<std::string_view, 3> own_words{"rate", "init", "volume"};

void check_sides(const ReactionText& reaction) {
  const std::size_t before = reaction.reactants.size();
  if (before > 2) {
    throw Mistake(reaction.place,
                  fmt::format("a reaction has at most two reactants, this one has {}", before));
  }
  if (before == 0 && reaction.products.empty()) {
    throw Mistake(reaction.place, "this reaction has neither reactants nor products");
  }
}

class NetworkParser {
 public:
  NetworkParser(Cursor& cursor, Document& document) : cursor_(cursor), document_(document) {}

  bool statement() {
    const Token& first = cursor_.here();
    if (first.is_name("volume")) return volume(), true;
    if (first.is_name("init")) return init(), true;
    const Token& next = cursor_.next();
    const bool begins_side = first.kind == TokenKind::number || next.is("+");
    if (!begins_side && !next.is("->") && !next.is("<->") && !first.is("->")) return false;
    reaction();
    return true;
  }

  void block() {
    cursor_.need("{", "and reactions such as A + B -> B + B rate 1, up to a '}'");
    while (!cursor_.take_if("}")) {
      cursor_.is_word("volume") ? volume() : reaction();
      while (cursor_.take_if(";")) {
      }
    }
  }

 private:
  void volume() {
    const Place place = cursor_.take().place;
    if (document_.volume) throw Mistake(place, "the volume was given before");
    cursor_.take_if("=");
    document_.volume = parse_sum(cursor_);
  }

  void init() {
    const Place place = cursor_.take().place;
    auto found = std::ranges::find(document_.starts, start_name,
                                   [](const StartText& each) { return each.name.text; });
    if (found == document_.starts.end()) {
      found = document_.starts.insert(document_.starts.begin(),
                                      {.name = {start_name, place}, .meaning = "the init lines"});
    }
    do {
      found->items.push_back(init_item());
    } while (cursor_.take_if(","));
  }

  StartItem init_item() {
    StartItem item{.place = cursor_.place()};
    item.target = {.place = cursor_.place(), .state = species("the name of a species")};
    cursor_.need("=", "and how many molecules there are, such as 1000, n/2 or rest");
    if (cursor_.take_word_if("rest")) {
      item.kind = StartItem::Kind::rest;
      return item;
    }
    item.count = parse_sum(cursor_);
    if (cursor_.take_if("%")) item.kind = StartItem::Kind::percentage;
    return item;
  }

  Name species(const char* wanted) {
    Name name = cursor_.need_name(wanted);
    if (std::ranges::find(own_words, name.text) == own_words.end()) return name;
    throw Mistake(name.place, fmt::format("expected {}, found the word '{}'", wanted, name.text));
  }

  // A + B, 2 A, A; "nothing" and 0 are no molecules: of a birth or a death.
  std::vector<Name> side(const char* where) {
    std::vector<Name> all;
    if (cursor_.is_word("nothing") || cursor_.here().text == "0") return cursor_.take(), all;
    do {
      std::size_t times = 1;
      if (cursor_.here().kind == TokenKind::number) {
        const std::string_view digits = cursor_.here().text;
        if (digits.size() != 1 || digits == "0") {
          throw Mistake(
              cursor_.place(),
              fmt::format("a reaction has 1 to 9 molecules of a species on the {}", where));
        }
        times = static_cast<std::size_t>(digits[0] - '0');
        cursor_.take();
      }
      const Name name = species("the name of a species");
      all.insert(all.end(), times, name);
    } while (all.size() < most_on_a_side && cursor_.take_if("+"));
    return all;
  }

  void reaction() {
    ReactionText forth{.place = cursor_.place()};
    if (!cursor_.is("->") && !cursor_.is("<->")) forth.reactants = side("left");
    const bool is_reversible = cursor_.take_if("<->");
    if (!is_reversible) cursor_.need("->", "or '<->', and what the reaction makes");
    const bool makes_nothing = cursor_.is_word("rate") || cursor_.is("}") || cursor_.is(";") ||
                               cursor_.here().kind == TokenKind::end_of_statement;
    if (!makes_nothing) forth.products = side("right");
    ReactionText back{
        .place = forth.place, .reactants = forth.products, .products = forth.reactants};
    check_sides(forth);
    if (is_reversible) check_sides(back);
    const bool has_rate = cursor_.take_word_if("rate");
    forth.rate = back.rate =
        has_rate ? parse_sum(cursor_) : Expression{.place = forth.place, .number = 1};
    if (is_reversible && has_rate) {
      cursor_.need(",", "and the rate of the reaction from right to left");
      back.rate = parse_sum(cursor_);
    }
    document_.reactions.push_back(std::move(forth));
    if (is_reversible) document_.reactions.push_back(std::move(back));
  }

  Cursor& cursor_;
  Document& document_;
};

void collect_species(Document& document) {
  FieldText field{.name = {state_field, {}}};
  std::set<std::string> known;
  const auto add = [&](const Name& name) {
    if (known.insert(name.text).second) field.values.push_back(name);
  };
  for (const FieldText& given : document.fields) std::ranges::for_each(given.values, add);
  for (const ReactionText& reaction : document.reactions) {
    std::ranges::for_each(reaction.reactants, add);
    std::ranges::for_each(reaction.products, add);
  }
  for (const StartText& start : document.starts) {
    if (start.name.text != start_name) continue;
    for (const StartItem& item : start.items) add(*item.target.state);
  }
  document.fields.clear();
  if (!document.reactions.empty()) document.fields.push_back(std::move(field));
}

}  // namespace

bool is_state(const Document& document, const std::string& name) {
  return std::ranges::any_of(document.fields, [&](const FieldText& field) {
    return field.name.text == state_field &&
           std::ranges::find(field.values, name, &Name::text) != field.values.end();
  });
}

// B == 0 is count(B) == 0. Inside of count(...) a name is already a condition on an agent.
void read_as_counts(const Document& document, Expression& expression) {
  if (expression.form == Form::count) return;
  for (Expression& part : expression.parts) read_as_counts(document, part);
  const bool names_one = expression.form == Form::name && is_state(document, expression.name);
  if (!names_one && expression.form != Form::one_of) return;
  Expression counted{.form = Form::count, .place = expression.place, .name = "count"};
  counted.parts.push_back(std::move(expression));
  expression = std::move(counted);
}

bool parse_network_statement(Cursor& cursor, Document& document) {
  return NetworkParser(cursor, document).statement();
}

void parse_reactions(Cursor& cursor, Document& document) {
  NetworkParser(cursor, document).block();
}

void complete_network(Document& document, Dialect dialect) {
  document.is_network = true;
  if (!document.rules.empty()) {
    throw Mistake(document.rules[0].place,
                  dialect != Dialect::network
                      ? "a file has either rules or reactions, and this one has reactions"
                      : "a network has reactions between species, such as A + B -> B + B "
                        "rate 1; rules with conditions belong into a .pp file");
  }
  for (const FieldText& field : document.fields) {
    if (field.name.text == state_field) continue;
    throw Mistake(field.name.place, "the molecules of a network have no fields, only species");
  }
  collect_species(document);
  if (document.stop) read_as_counts(document, *document.stop);
  if (document.fail) read_as_counts(document, *document.fail);
  if (document.hold) {
    throw Mistake(document.hold->place, "'hold while' is for protocol files, not for reactions");
  }
  for (Definition& each : document.observables) read_as_counts(document, each.value);
  for (PropertyText& each : document.properties) read_as_counts(document, each.condition);
  for (PropertyText& each : document.goals) read_as_counts(document, each.condition);
}

}  // namespace conclave::text
