// Watches the messages of the paper's algorithm from outside, and holds members to what the
// algorithm takes for granted: an answer in a term is to a question of that term, and whoever wins
// has an answer of that term to each of its requests, unless it took somebody for dead or was
// refused meanwhile. Promises keep leaders apart even where this fails; but then elections end with
// two winners, and in vain.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "election/member.hpp"

namespace conclave::election::testing {

class PaperAudit {
 public:
  explicit PaperAudit(MemberIndex n) : n_(n), unanswered_(std::size_t{n} * n), candidacies_(n) {}

  void delivered(MemberIndex from, MemberIndex to, const Note& note) {
    const bool is_absurd = note.term > term_leap;  // healthy members do not believe it
    if (note.kind == NoteKind::refused || is_absurd) excuse(to);
    if (note.kind != NoteKind::algorithm) return;
    if (is_question(note)) ++unanswered_[edge(from, to)][note.term];
    Candidacy& candidacy = candidacies_[to];
    if (is_vote(note) && note.term == candidacy.term) ++candidacy.votes;
  }

  // After each step, before `sent`.
  void stepped(MemberIndex who, const MemberView& view) {
    Candidacy& candidacy = candidacies_[who];
    if (view.term != candidacy.term) candidacy = {.term = view.term};
    if (view.suspected > 0) excuse(who);
  }

  void sent(MemberIndex from, const OutgoingNote& outgoing) {
    if (outgoing.note.kind != NoteKind::algorithm) return;
    const Kind kind = outgoing.note.message.kind;
    Candidacy& candidacy = candidacies_[from];
    const bool is_current = outgoing.note.term == candidacy.term;
    if (kind == Kind::request && is_current) ++candidacy.requests;
    if (kind == Kind::leader && is_current) check_winner(candidacy);
    if (!is_question(outgoing.note) && kind != Kind::leader) check_answer(from, outgoing);
  }

  void excuse(MemberIndex who) { candidacies_[who].is_excused = true; }
  void restart(MemberIndex who) { candidacies_[who] = {}; }

  const std::string& violation() const { return violation_; }  // empty: none

 private:
  using Kind = Algorithm::Kind;

  // The requests of a member in its present term, and the answers.
  struct Candidacy {
    Term term = 0;
    std::uint64_t requests = 0;
    std::uint64_t votes = 0;
    bool is_excused = false;
  };

  static bool is_question(const Note& note) {
    return note.message.kind == Kind::request || note.message.kind == Kind::decide;
  }
  static bool is_vote(const Note& note) {
    return note.message.kind == Kind::approved || note.message.kind == Kind::declined;
  }
  std::size_t edge(MemberIndex from, MemberIndex to) const { return std::size_t{from} * n_ + to; }

  void check_winner(const Candidacy& candidacy) {
    if (candidacy.is_excused || candidacy.votes >= candidacy.requests) return;
    violation_ = "won without answers";
  }

  void check_answer(MemberIndex from, const OutgoingNote& outgoing) {
    std::uint64_t& unanswered = unanswered_[edge(outgoing.to, from)][outgoing.note.term];
    if (unanswered == 0) {
      violation_ = "an answer without a question";
    } else {
      --unanswered;
    }
  }

  MemberIndex n_;
  std::vector<std::map<Term, std::uint64_t>> unanswered_;  // questions, by edge
  std::vector<Candidacy> candidacies_;
  std::string violation_;
};

}  // namespace conclave::election::testing
