#include "election/detail/introduction.hpp"

#include <fmt/format.h>

#include "election/agreement.hpp"
#include "election/system.hpp"

namespace conclave::election::detail {

Introduction::Introduction(const Membership& membership, std::optional<MemberIndex> expected,
                           bool insists)
    : membership_(&membership),
      expected_(expected),
      nonce_(unforeseeable_number()),
      insists_(insists) {}

Hello Introduction::hello(MemberIndex receiver) const {
  return {.sender = membership_->self.member,
          .receiver = receiver,
          .incarnation = membership_->incarnation,
          .nonce = nonce_,
          .insists = insists_,
          .agreement = membership_->agreement,
          .cluster = membership_->self.cluster};
}

std::optional<Verdict> Introduction::on_hello(const Hello& hello,
                                              const std::optional<Identity>& certified) {
  if (peer_) return Verdict{Refusal::out_of_order, "a second hello"};
  if (auto objection = objection_to(hello, certified)) return objection;
  peer_ = hello;
  return {};
}

std::optional<Verdict> Introduction::on_ready(const Ready& ready) {
  if (!peer_ || is_ready_) return Verdict{Refusal::out_of_order, "a ready that is not due"};
  if (ready.echo != nonce_)
    return Verdict{Refusal::replayed, "its ready echoes the nonce of another connection"};
  is_ready_ = true;
  return {};
}

std::optional<Verdict> Introduction::on_message() const {
  if (is_ready_) return {};
  return Verdict{Refusal::out_of_order, "a message before the introduction"};
}

std::optional<Verdict> Introduction::objection_to(const Hello& hello,
                                                  const std::optional<Identity>& certified) const {
  const Identity& self = membership_->self;
  if (hello.cluster != self.cluster || (certified && certified->cluster != self.cluster))
    return Verdict{Refusal::foreign_cluster, "it is of another cluster"};
  if (std::string what = difference(hello.agreement, membership_->agreement); !what.empty())
    return Verdict{Refusal::other_configuration, fmt::format("{} (configuration)", what)};
  if (hello.receiver != self.member)
    return Verdict{Refusal::wrong_identity, fmt::format("it expects member {}", hello.receiver)};
  if (hello.sender >= membership_->members || hello.sender == self.member)
    return Verdict{Refusal::wrong_identity, fmt::format("it says it is member {}", hello.sender)};
  if (expected_ && hello.sender != *expected_)
    return Verdict{Refusal::wrong_identity,
                   fmt::format("member {} answers at the address of {}", hello.sender, *expected_)};
  if (certified && certified->member != hello.sender)
    return Verdict{Refusal::wrong_identity,
                   fmt::format("it says it is member {}, its certificate says {}", hello.sender,
                               certified->member)};
  return {};
}

}  // namespace conclave::election::detail
