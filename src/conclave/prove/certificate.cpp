#include "conclave/prove/certificate.hpp"

#include "conclave/prove/prove.hpp"

namespace conclave::prove {
namespace {

Json json_of(const States& set) {
  Json all = Json::array();
  for (std::size_t state = 0; state < set.size(); ++state) {
    if (set[state]) all.push_back(state);
  }
  return all;
}

Json json_of(const Transition& transition) {
  const auto two = [](const auto& agents) {
    return Json(std::vector<std::size_t>{agents[0], agents[1]});
  };
  return std::vector<Json>{two(transition.pre), two(transition.post)};
}

Json json_of(const Invariant& invariant) {
  using enum Invariant::Kind;
  switch (invariant.kind) {
    case linear:
      return {{"kind", "linear"}, {"w", invariant.weights}};
    case trap:
      return {{"kind", "trap"}, {"y", json_of(invariant.y)}};
    case follow:
      return {{"kind", "follow"}, {"z", json_of(invariant.z)}, {"y", json_of(invariant.y)}};
    case modular:
      break;
  }
  return {{"kind", "modular"}, {"p", invariant.modulus}, {"w", invariant.weights}};
}

Json json_of(const Bag& bag) {
  Json json = Json::array();
  for (const auto& [state, count] : bag) {
    json.push_back(std::vector<std::uint64_t>{state, static_cast<std::uint64_t>(count)});
  }
  return json;
}

Json json_of(const Enabling& enabling) {
  return {{"bag", json_of(enabling.bag)}, {"path", enabling.path}};
}

Json json_of(const Stage& stage);

template <class Items>
Json list_of(const Items& items) {
  Json all = Json::array();
  for (const auto& each : items) all.push_back(json_of(each));
  return all;
}

Json json_of(const Stage& stage) {
  static constexpr const char* rules[] = {"terminal", "rank", "split", "weak"};
  Json json{{"rule", rules[static_cast<std::size_t>(stage.rule)]}};
  if (!stage.dead.empty()) json["dead"] = stage.dead;
  if (!stage.weights.empty()) json["weights"] = stage.weights;
  if (!stage.more.empty()) json["more"] = list_of(stage.more);
  if (!is_empty(stage.set)) json["set"] = json_of(stage.set);
  if (!stage.children.empty()) json["children"] = stage.children;
  if (stage.speed != Speed::none && stage.speed != Speed::unknown) {
    json["speed"] = to_string(stage.speed);
    json["factor"] = stage.factor;
    if (!stage.impossible.empty()) json["impossible"] = list_of(stage.impossible);
  }
  return json;
}

}  // namespace

std::string to_string(Proof::Result result) {
  switch (result) {
    case Proof::Result::stays:
      return "stays";
    case Proof::Result::lasts:
      return "lasts";
    case Proof::Result::reached:
      return "reached";
    case Proof::Result::vacuous:
      return "vacuous";
    case Proof::Result::not_proved:
      break;
  }
  return "not proved";
}

Json counts_certificate(const text::CountsQuestion& question, const Verdict& verdict) {
  const text::CountsModel& model = verdict.model;
  const Proof& proof = verdict.proof;
  const bool has_bound = verdict.is_reached() && verdict.speed != Speed::unknown;
  Json params = Json::object();
  for (const text::Given& each : question.given) params[each.name] = each.value;
  Json json{{"format", "conclave-proof 1"},
            {"kind", "counts"},
            {"protocol", Json{{"name", model.text->name()}, {"content", model.text->content()}}},
            {"params", params},
            {"init", model.start},
            {"target", question.target},
            {"result", to_string(proof.result)},
            {"bound", has_bound ? to_string(verdict.speed) : ""},
            {"states", model.states},
            {"transitions", list_of(model.transitions)},
            {"never", proof.never},
            {"invariants", list_of(verdict.invariants)},
            {"stages", list_of(proof.stages)}};
  Json always = Json::array();
  for (std::size_t i = 0; i < verdict.always.size(); ++i) {
    if (verdict.always[i].is_proved) always.push_back(i);
  }
  if (!verdict.always.empty()) json["always"] = always;
  return json;
}

}  // namespace conclave::prove
