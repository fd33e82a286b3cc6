// The part of compiling a text that only networks of reactions need.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "conclave/text/compiled.hpp"
#include "conclave/text/uniformized.hpp"

namespace conclave::text {

// Only the parameters; nothing else may be asked for.
Compiled::Compiled(std::shared_ptr<const ProtocolText> text, const std::vector<Given>& given)
    : text_(std::move(text)), n_(0) {
  set_parameters(given);
}

std::optional<AgentCount> Compiled::fixed_population(
    const std::shared_ptr<const ProtocolText>& text, const std::vector<Given>& given) {
  if (!text->document().is_network) return std::nullopt;
  try {
    return Compiled(text, given).init_population();
  } catch (const Mistake&) {  // n has no value here
    return std::nullopt;
  }
}

AgentCount Compiled::init_population() const {
  const StartText& init = text_->document().starts.front();
  Resolver resolver(text_->document(), constants_);
  AgentCount sum = 0;
  for (const StartItem& item : init.items) {
    if (item.kind != StartItem::Kind::number) throw Mistake(item.place, "this depends on n");
    const AgentCount count = item_count(item, 0, resolver);
    if (count > (AgentCount{1} << 62) - sum) throw Mistake(item.place, "too many molecules");
    sum += count;
  }
  return sum;
}

void Compiled::make_network(Resolver& resolver) {
  const Document& document = text_->document();
  if (space_->size() > Uniformized::most_species) {
    throw Mistake(document.reactions.front().place,
                  fmt::format("there are {} species; a network has at most {}", space_->size(),
                              Uniformized::most_species));
  }
  const Number n(static_cast<std::int64_t>(n_));
  volume_ = document.volume ? resolver.constant(*document.volume) : n;
  if (compare(volume_, 0) <= 0) {
    throw Mistake(document.volume->place,
                  fmt::format("the volume is {}, which is not positive", to_string(volume_)));
  }
  reactions_ = resolved_reactions(resolver);
  const Uniformized network = uniformized(reactions_, space_->size(), n_, volume_);
  ticks_per_time_ = network.ticks_per_molecule * n;
  channels_ = text::channels(reactions_, n_, volume_, network.ticks_per_molecule);
  transitions_.emplace(network.reactions, *space_);
  jump_scale_ = text::jump_scale(n_);
  for (const Reaction& each : network.reactions) {
    jump_weights_.push_back(jump_weight(each, jump_scale_));
  }
}

std::vector<MassAction> Compiled::resolved_reactions(Resolver& resolver) const {
  std::vector<MassAction> all;
  for (const ReactionText& text : text_->document().reactions) {
    MassAction reaction{.place = text.place, .is_pair = text.reactants.size() == 2};
    for (std::size_t i = 0; i < text.reactants.size(); ++i) {
      reaction.reactants[i] = static_cast<StateIndex>(resolver.state_value(text.reactants[i]));
      reaction.products[i] = static_cast<StateIndex>(resolver.state_value(text.products[i]));
    }
    reaction.rate = resolver.constant(text.rate);
    if (compare(reaction.rate, 0) < 0) {
      throw Mistake(text.rate.place,
                    fmt::format("the rate {} is negative", to_string(reaction.rate)));
    }
    all.push_back(std::move(reaction));
  }
  return all;
}

}  // namespace conclave::text
