// How the two ends of a new connection learn to know each other: each sends a Hello, first the one
// that has opened it, answers the other's with a Ready that echoes its nonce, and only then come
// messages. Pure: frames in, verdicts out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "election/certificates.hpp"
#include "election/frame.hpp"

namespace conclave::election::detail {

// The identity that a member presents on each of its connections, and what it demands of the peer.
struct Membership {
  Identity self;
  MemberIndex members = 0;
  std::uint64_t incarnation = 0;
  Agreement agreement{};
};

struct Verdict {
  Refusal refusal;
  std::string sentence;
};

class Introduction {
 public:
  // `expected`: the member that was dialled, if we did. Membership must outlive this.
  Introduction(const Membership& membership, std::optional<MemberIndex> expected, bool insists);

  Hello hello(MemberIndex receiver) const;

  // Empty: as it should be. `certified` is who the peer is by its certificate, empty if plain.
  std::optional<Verdict> on_hello(const Hello& hello, const std::optional<Identity>& certified);
  std::optional<Verdict> on_ready(const Ready& ready);
  std::optional<Verdict> on_message() const;  // or on its acknowledgement

  bool is_ready() const { return is_ready_; }
  const std::optional<Hello>& peer() const {
    return peer_;
  }  // its hello, once it has been accepted

 private:
  std::optional<Verdict> objection_to(const Hello& hello,
                                      const std::optional<Identity>& certified) const;

  const Membership* membership_;
  std::optional<MemberIndex> expected_;
  std::uint64_t nonce_;
  bool insists_;
  std::optional<Hello> peer_;
  bool is_ready_ = false;
};

}  // namespace conclave::election::detail
