// A single member, with the test in the place of all others: the guards on which the guarantees of
// docs/how-to/elections.md rest, one by one.
#include "election/member.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace conclave::election {
namespace {

using namespace std::chrono_literals;
using Kind = Algorithm::Kind;

constexpr milliseconds lease = Timing{}.lease;
constexpr milliseconds usable{2940};  // 3000 * 0.99 / 1.01

Note message(Term term, const Algorithm::Message& what) {
  return {.kind = NoteKind::algorithm, .term = term, .message = what};
}
Note request(Term term, MemberIndex from) {
  return message(term, {.kind = Kind::request, .phase = 1, .id = from + 1, .rank = 7});
}
Note approval(Term term, std::uint8_t phase) {
  return message(term, {.kind = Kind::approved, .phase = phase});
}
Note victory(Term term, MemberIndex from) {
  return message(term, {.kind = Kind::leader, .phase = 0, .id = from + 1, .rank = 7});
}
Note renewal(Term term, bool holds) {
  return {.kind = NoteKind::renewal, .term = term, .stamp = 1, .holds = holds};
}
Note promised(NoteKind kind, Term term, std::uint64_t stamp, milliseconds how_long = lease) {
  return {.kind = kind,
          .term = term,
          .stamp = stamp,
          .promise_ms = static_cast<std::uint32_t>(how_long.count())};
}
Note resignation(Term term, MemberIndex heir, Term next, std::uint64_t stamp = 0) {
  return {.kind = NoteKind::resigned, .term = term, .stamp = stamp, .leader = heir, .next = next};
}
std::uint64_t stamp_of(Instant when) { return static_cast<std::uint64_t>(when.count()); }

std::vector<OutgoingNote> told(Member& member, Instant now, MemberIndex from, const Note& note) {
  member.receive(now, from, note);
  return member.take_outgoing();
}

// One that has never run before, and need not wait.
Member newborn(MemberIndex n) { return Member({.n = n, .may_have_promised = false}, 0ms); }

// The kind of the one note that the member answers with.
NoteKind answer(Member& member, Instant now, MemberIndex from, const Note& note) {
  const std::vector<OutgoingNote> notes = told(member, now, from, note);
  EXPECT_EQ(notes.size(), 1u);
  return notes.empty() ? NoteKind::probe : notes.front().note.kind;
}

bool is_of(const OutgoingNote& outgoing, Kind kind) {
  return outgoing.note.kind == NoteKind::algorithm && outgoing.note.message.kind == kind;
}

// Everybody approves at once of whatever the member asks for, until it has won: its rank.
std::uint64_t win(Member& member, Instant now) {
  std::vector<OutgoingNote> notes = member.take_outgoing();
  while (!notes.empty()) {
    const OutgoingNote outgoing = notes.front();
    notes.erase(notes.begin());
    if (is_of(outgoing, Kind::leader)) return outgoing.note.message.rank;
    if (!is_of(outgoing, Kind::request)) continue;
    Note yes = approval(outgoing.note.term, outgoing.note.message.phase);
    yes.configuration = outgoing.note.configuration;
    std::ranges::copy(told(member, now, outgoing.to, yes), std::back_inserter(notes));
  }
  ADD_FAILURE() << "it has not won";
  return 0;
}

std::uint64_t wake_and_win(Member& member, Instant now) {
  member.wake(now);
  return win(member, now);
}

// All others live but say nothing else, until the member begins another term: when that was.
Instant wait_for_next_term(Member& member, MemberIndex n) {
  const Term term = member.view().term;
  Instant now{};
  while (member.view().term == term && now < 1h) {
    member.take_outgoing();
    now = std::max(now, member.deadline());
    for (MemberIndex each = 1; each < n; ++each) {
      member.receive(now, each, {.kind = NoteKind::alive, .term = term});
    }
    member.pass(now);
  }
  return now;
}

TEST(Member, TakesNoAnswersOfAnOlderTerm) {
  Member member = newborn(3);
  member.wake(0ms);
  const Instant now = wait_for_next_term(member, 3);
  member.take_outgoing();
  ASSERT_EQ(member.view().term, 2u);
  for (const MemberIndex each : {1u, 2u}) {
    EXPECT_TRUE(told(member, now, each, approval(1, 1)).empty());
  }
  EXPECT_TRUE(told(member, now, 1, approval(2, 1)).empty());
  EXPECT_FALSE(told(member, now, 2, approval(2, 1)).empty()) << "the next phase";
}

TEST(Member, AnswersNoQuestionsOfAnOlderTerm) {
  Member member = newborn(3);
  EXPECT_EQ(answer(member, 1ms, 1, request(2, 1)), NoteKind::algorithm);
  EXPECT_EQ(answer(member, 2ms, 2, request(1, 2)), NoteKind::standing);
}

TEST(Member, StartsATermThatNobodyHasSpokenOf) {
  Member member = newborn(3);
  member.receive(1ms, 1, {.kind = NoteKind::alive, .term = 7});
  member.wake(2ms);
  EXPECT_EQ(member.view().term, 8u);
}

TEST(Member, CountsItsLeaseFromItsRequestsLessWhatClocksMayDrift) {
  Member member = newborn(3);
  const std::uint64_t rank = wake_and_win(member, 100ms);
  for (const MemberIndex each : {1u, 2u}) {
    member.receive(800ms, each, promised(NoteKind::seconded, 1, rank));
  }
  EXPECT_EQ(member.lease_until(), 100ms + usable);
  for (const MemberIndex each : {1u, 2u}) {
    member.receive(1500ms, each, promised(NoteKind::granted, 1, stamp_of(800ms)));
  }
  EXPECT_EQ(member.lease_until(), 800ms + usable);
}

TEST(Member, ActsUntilTheEndOfItsLeaseOnly) {
  Member member = newborn(2);
  const std::uint64_t rank = wake_and_win(member, 100ms);
  member.receive(100ms, 1, promised(NoteKind::seconded, 1, rank));
  EXPECT_TRUE(member.holds_lease(100ms + usable - 1ns));
  EXPECT_FALSE(member.holds_lease(100ms + usable));
}

TEST(Member, LeadsWithAMajorityOnly) {
  Member member = newborn(4);
  const std::uint64_t rank = wake_and_win(member, 0ms);
  member.receive(1ms, 1, promised(NoteKind::seconded, 1, rank));
  EXPECT_FALSE(member.view().leads);
  member.receive(2ms, 3, promised(NoteKind::seconded, 1, rank));
  EXPECT_TRUE(member.view().leads);
}

TEST(Member, CountsNoPromiseThatItDidNotAskFor) {
  Member member = newborn(2);
  const std::uint64_t rank = wake_and_win(member, 100ms);
  member.receive(101ms, 1, promised(NoteKind::seconded, 2, rank));
  member.receive(101ms, 1, promised(NoteKind::seconded, 1, rank + 1));
  member.receive(101ms, 1, promised(NoteKind::granted, 1, stamp_of(99ms)));
  member.receive(101ms, 1, promised(NoteKind::granted, 1, stamp_of(101ms)));
  EXPECT_FALSE(member.view().leads);
  member.receive(101ms, 1, promised(NoteKind::granted, 1, stamp_of(100ms)));
  EXPECT_TRUE(member.view().leads);
}

TEST(Member, TakesNoSupportAlongIntoTheNextTerm) {
  Member member = newborn(5);
  const std::uint64_t first = wake_and_win(member, 0ms);
  member.receive(1ms, 1, promised(NoteKind::seconded, 1, first, 60s));
  const Instant now = wait_for_next_term(member, 5);
  const std::uint64_t second = win(member, now);
  member.receive(now, 2, promised(NoteKind::seconded, 2, second));
  EXPECT_FALSE(member.view().leads) << "only one other has promised in this term";
  member.receive(now, 3, promised(NoteKind::seconded, 2, second));
  EXPECT_TRUE(member.view().leads);
}

TEST(Member, StepsDownAtOnceForTheLeaderOfANewerTerm) {
  Member member = newborn(3);
  const std::uint64_t rank = wake_and_win(member, 0ms);
  member.receive(0ms, 1, promised(NoteKind::seconded, 1, rank));
  ASSERT_TRUE(member.holds_lease(1ms));
  member.receive(1ms, 2, renewal(9, true));
  EXPECT_FALSE(member.holds_lease(1ms));
  EXPECT_FALSE(member.view().leads);
  EXPECT_EQ(member.view().leader, 2u);
}

TEST(Member, PromisesToOneClaimantPerTerm) {
  Member member = newborn(5);
  const std::vector<OutgoingNote> notes = told(member, 0ms, 1, victory(5, 1));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes.front().note.kind, NoteKind::seconded);
  EXPECT_EQ(answer(member, 2 * lease, 2, renewal(5, false)), NoteKind::refused);
  EXPECT_EQ(answer(member, 2 * lease, 1, renewal(5, false)), NoteKind::granted);
}

TEST(Member, KeepsAPromiseToItsEnd) {
  Member member = newborn(5);
  EXPECT_EQ(answer(member, 0ms, 1, renewal(5, false)), NoteKind::granted);
  EXPECT_EQ(answer(member, lease - 1ns, 2, renewal(6, false)), NoteKind::refused);
  EXPECT_EQ(answer(member, lease, 2, renewal(6, false)), NoteKind::granted);
}

TEST(Member, PromisesNothingInOlderTerms) {
  Member member = newborn(5);
  EXPECT_EQ(answer(member, 0ms, 1, renewal(6, false)), NoteKind::granted);
  EXPECT_EQ(answer(member, 2 * lease, 2, renewal(5, true)), NoteKind::refused);
}

// Messages of a leader that was stopped or cut off may arrive when there is another one.
TEST(Member, KnowsNoLeaderOfAnOlderTermThanOneItHasKnown) {
  Member member = newborn(5);
  EXPECT_EQ(answer(member, 0ms, 1, renewal(5, true)), NoteKind::granted);
  EXPECT_EQ(answer(member, lease, 2, renewal(7, true)), NoteKind::granted);
  told(member, lease + 1ms, 2, resignation(7, nobody, 0));
  const std::vector<OutgoingNote> notes = told(member, lease + 2ms, 1, renewal(5, true));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes.front().note, (Note{.kind = NoteKind::refused, .term = 7, .next = 7}));
  told(member, lease + 3ms, 3, {.kind = NoteKind::standing, .term = 6, .leader = 1});
  EXPECT_EQ(member.view().leader, nobody);
  told(member, lease + 4ms, 3, {.kind = NoteKind::standing, .term = 7, .leader = 4});
  EXPECT_EQ(member.view().leader, 4u);
}

// Terms go on above those that have been used, also where a majority has lost its files.
TEST(Member, StepsDownWhereALeaderOfANewerTermHasBeenKnown) {
  Member member = newborn(3);
  const std::uint64_t rank = wake_and_win(member, 0ms);
  told(member, 1ms, 1, promised(NoteKind::seconded, 1, rank));
  ASSERT_TRUE(member.holds_lease(1ms));
  told(member, 1ms, 2, {.kind = NoteKind::refused, .term = 7, .next = 1});
  EXPECT_TRUE(member.holds_lease(1ms)) << "it has promised to somebody who never led";
  told(member, 1ms, 2, {.kind = NoteKind::refused, .term = 7, .next = 7});
  EXPECT_FALSE(member.holds_lease(1ms));
  EXPECT_GT(wait_for_next_term(member, 3), 1ms);
  EXPECT_GT(member.view().term, 7u);
}

TEST(Member, KeepsPromisesThroughARestart) {
  const Promise remembered{.term = 5, .to = 1, .lease = lease};
  Member member({.n = 5, .remembered = remembered}, 0ms);
  EXPECT_EQ(answer(member, lease - 1ns, 1, renewal(5, false)), NoteKind::refused);
  EXPECT_EQ(answer(member, lease, 2, renewal(5, false)), NoteKind::refused);
  EXPECT_EQ(answer(member, lease, 1, renewal(5, false)), NoteKind::granted);
}

// A leader without a promise of its own, killed and started again, would not know that its term has
// been used: others that have promised to it would promise to it again, in the same term.
TEST(Member, ClaimsWithAPromiseOfItsOwnAlsoWhileItCannotSupportItself) {
  Member member({.n = 3}, 0ms);  // a process before it may have promised
  const std::uint64_t rank = wake_and_win(member, 1ms);
  EXPECT_EQ(member.promise(), (Promise{.term = 1, .to = 0, .lease = lease}));
  member.receive(2ms, 1, promised(NoteKind::seconded, 1, rank));
  EXPECT_FALSE(member.view().leads) << "its own promise does not count before its wait is over";
  member.receive(2ms, 2, promised(NoteKind::seconded, 1, rank));
  EXPECT_TRUE(member.view().leads);
  Member again({.n = 3, .remembered = member.promise()}, 0ms);
  again.wake(1ms);
  EXPECT_EQ(again.view().term, 2u);
}

TEST(Member, ClaimsNothingThatShortensAnOlderPromise) {
  Member member({.n = 3, .remembered = {.term = 5, .to = 1, .lease = 4 * lease}}, 0ms);
  wake_and_win(member, 1ms);
  EXPECT_EQ(member.promise(), (Promise{.term = 6, .to = 0, .lease = 4 * lease}));
}

TEST(Member, HasAPromiseOfItsOwnForATermThatItInherits) {
  Member member({.n = 3}, 0ms);
  EXPECT_EQ(answer(member, 1ms, 1, renewal(5, true)), NoteKind::refused);
  told(member, 2ms, 1, resignation(5, 0, 6));
  ASSERT_TRUE(member.is_claimant());
  EXPECT_EQ(member.promise().term, 6u);
}

// Member 0 of three leads in term 1 and has 1 and 2 for supporters.
Member leader_of_three() {
  Member member = newborn(3);
  const std::uint64_t rank = wake_and_win(member, 0ms);
  for (const MemberIndex each : {1u, 2u}) {
    member.receive(1ms, each, promised(NoteKind::seconded, 1, rank));
  }
  member.take_outgoing();
  return member;
}

TEST(Member, GivesUpItsLeaseBeforeItSaysThatItHasResigned) {
  Member member = leader_of_three();
  member.resign(2ms);
  const std::vector<OutgoingNote> question = member.take_outgoing();
  ASSERT_EQ(question.size(), 1u);
  EXPECT_EQ(question.front().note.kind, NoteKind::prepare);
  EXPECT_TRUE(member.holds_lease(2ms)) << "until its heir is ready";
  member.receive(3ms, question.front().to,
                 {.kind = NoteKind::prepared, .term = 7, .stamp = stamp_of(2500us)});
  EXPECT_FALSE(member.holds_lease(3ms));
  EXPECT_FALSE(member.view().leads);
  const std::vector<OutgoingNote> notes = member.take_outgoing();
  ASSERT_EQ(notes.size(), 3u) << "two resignations, and its own promise";
  EXPECT_EQ(notes.front().note, resignation(1, question.front().to, 8, stamp_of(2500us)));
  EXPECT_EQ(notes.back().note.kind, NoteKind::granted);
  EXPECT_EQ(notes.back().to, question.front().to);
}

TEST(Member, ResignsWithoutAnHeirWhereNoneAnswers) {
  Member member = leader_of_three();
  member.resign(2ms);
  member.take_outgoing();
  const Instant end = 2ms + Timing{}.renewal;
  member.pass(end - 1ns);
  EXPECT_TRUE(member.view().leads);
  member.take_outgoing();
  EXPECT_EQ(member.deadline(), end);
  member.pass(end);
  EXPECT_FALSE(member.view().leads);
  EXPECT_EQ(member.take_outgoing().front().note.leader, nobody);
}

TEST(Member, NeverLeadsAgainInATermInWhichItHasResigned) {
  Member member = newborn(3);
  EXPECT_EQ(answer(member, 0ms, 1, renewal(5, true)), NoteKind::granted);
  told(member, 1ms, 1, resignation(5, 0, 6));
  ASSERT_TRUE(member.is_claimant());
  member.resign(2ms);
  ASSERT_FALSE(member.is_claimant());
  told(member, 2 * lease, 1, renewal(5, true));
  ASSERT_EQ(member.view().leader, 1u);
  told(member, 2 * lease + 1ms, 1, resignation(5, 0, 6));  // the old one, a second time
  EXPECT_FALSE(member.is_claimant());
}

TEST(Member, EndsThePromiseToALeaderThatHasResigned) {
  Member member = newborn(5);
  EXPECT_EQ(answer(member, 0ms, 1, renewal(5, true)), NoteKind::granted);
  EXPECT_EQ(answer(member, 1ms, 2, renewal(6, false)), NoteKind::standing);
  told(member, 2ms, 1, resignation(5, nobody, 0));
  EXPECT_EQ(answer(member, 3ms, 2, renewal(6, false)), NoteKind::granted);
}

TEST(Member, KeepsPromisesThatAResignationIsNotAbout) {
  Member member = newborn(5);
  EXPECT_EQ(answer(member, 0ms, 1, renewal(5, false)), NoteKind::granted);
  told(member, 1ms, 2, resignation(5, nobody, 0));
  EXPECT_EQ(answer(member, 2ms, 2, renewal(6, false)), NoteKind::refused) << "another's";
  told(member, 3ms, 1, resignation(4, nobody, 0));
  EXPECT_EQ(answer(member, 4ms, 2, renewal(6, false)), NoteKind::refused) << "of a newer term";
}

TEST(Member, PromisesToTheHeirOnTheWordOfTheLeaderThatHasResigned) {
  Member member = newborn(5);
  EXPECT_EQ(answer(member, 0ms, 1, renewal(5, true)), NoteKind::granted);
  const std::vector<OutgoingNote> notes = told(member, 1ms, 1, resignation(5, 3, 6, 77));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes.front().to, 3u);
  EXPECT_EQ(notes.front().note, promised(NoteKind::granted, 6, 77));
  EXPECT_EQ(answer(member, 2ms, 2, renewal(7, false)), NoteKind::refused);
  EXPECT_TRUE(told(member, 3ms, 1, renewal(5, true)).empty()) << "what was on its way for long";
}

TEST(Member, CountsALeaseItInheritsFromTheMomentItWasReady) {
  Member member = newborn(3);
  EXPECT_EQ(answer(member, 0ms, 1, renewal(5, true)), NoteKind::granted);
  EXPECT_EQ(answer(member, 10ms, 1, {.kind = NoteKind::prepare, .term = 5}), NoteKind::prepared);
  told(member, 30ms, 1, resignation(5, 0, 6, stamp_of(10ms)));
  member.receive(31ms, 2, promised(NoteKind::granted, 6, stamp_of(10ms)));
  EXPECT_TRUE(member.holds_lease(31ms));
  EXPECT_EQ(member.lease_until(), 10ms + usable);
}

// Three members and a network on which every message takes ten milliseconds.
class TenMilliseconds {
 public:
  TenMilliseconds() {
    for (MemberIndex each = 0; each < 3; ++each) {
      members_.emplace_back(
          MemberOptions{.self = each, .n = 3, .may_have_promised = false, .coins = {.part = each}},
          0ms);
    }
  }
  Member& operator[](MemberIndex who) { return members_[who]; }

  void pass_until(Instant end) {
    for (; now_ < end; now_ += 1ms) {
      for (MemberIndex each = 0; each < 3; ++each) {
        if (now_ >= members_[each].deadline()) members_[each].pass(now_);
        for (const OutgoingNote& outgoing : members_[each].take_outgoing()) {
          mail_.push_back({now_ + 10ms, each, outgoing});
        }
      }
      while (!mail_.empty() && mail_.front().at <= now_) {
        const Mail mail = mail_.front();
        mail_.erase(mail_.begin());
        members_[mail.outgoing.to].receive(now_, mail.from, mail.outgoing.note);
      }
    }
  }
  MemberIndex holder() const {
    for (MemberIndex each = 0; each < 3; ++each) {
      if (members_[each].holds_lease(now_)) return each;
    }
    return nobody;
  }
  Instant now() const { return now_; }

 private:
  struct Mail {
    Instant at;
    MemberIndex from;
    OutgoingNote outgoing;
  };
  Instant now_{};
  std::vector<Member> members_;
  std::vector<Mail> mail_;
};

TEST(Member, HandsOverWithinOneRoundTrip) {
  TenMilliseconds cluster;
  cluster[0].wake(0ms);
  cluster.pass_until(1s);
  const MemberIndex first = cluster.holder();
  ASSERT_NE(first, nobody);
  cluster[first].resign(cluster.now());
  while (cluster.holder() == first) cluster.pass_until(cluster.now() + 1ms);
  const Instant gone = cluster.now();
  while (cluster.holder() == nobody && cluster.now() < gone + 1s) {
    cluster.pass_until(cluster.now() + 1ms);
  }
  ASSERT_NE(cluster.holder(), nobody);
  EXPECT_NE(cluster.holder(), first);
  EXPECT_LE(cluster.now() - gone, 22ms) << "two messages of 10 ms, and the clock's 1 ms each";
}

// The lease may have been made shorter, or longer, since the promise was made.
TEST(Member, WaitsAsLongAsItsOldPromiseLasts) {
  for (const milliseconds old : {lease / 3, 3 * lease}) {
    Member member({.n = 5, .remembered = {.term = 5, .to = 1, .lease = old}}, 0ms);
    EXPECT_EQ(answer(member, old - 1ns, 2, renewal(6, false)), NoteKind::refused);
    EXPECT_EQ(answer(member, old, 2, renewal(6, false)), NoteKind::granted);
    EXPECT_EQ(member.promise(), (Promise{.term = 6, .to = 2, .lease = lease}));
  }
}

TEST(Member, DisbelievesTermsFarBeyondWhatAMajorityHasSpokenOf) {
  Member member = newborn(5);
  const Note far{.kind = NoteKind::alive, .term = term_leap + 8};
  for (const MemberIndex each : {1u, 2u}) told(member, 1ms, each, far);
  EXPECT_EQ(member.view().disbelieved, 2u);
  told(member, 2ms, 3, {.kind = NoteKind::alive, .term = term_leap});
  EXPECT_EQ(member.view().disbelieved, 2u);
  member.wake(3ms);
  EXPECT_EQ(member.view().term, term_leap + 1) << "the newest that was believed, and one";
  told(member, 4ms, 4, {.kind = NoteKind::resigned, .term = 1, .next = most_term});
  EXPECT_EQ(member.view().disbelieved, 3u);
}

TEST(Member, BelievesAnyTermOfWhichAMajorityHasSpoken) {
  Member member = newborn(5);
  for (const MemberIndex each : {1u, 2u}) {
    EXPECT_TRUE(told(member, 1ms, each, request(term_leap + 9, each)).empty());
  }
  EXPECT_EQ(answer(member, 2ms, 3, request(term_leap + 9, 3)), NoteKind::algorithm);
}

// One of five comes back with a damaged term, and answers all that it is asked.
TEST(Member, ElectsWithoutTheMemberThatItDisbelieves) {
  Member member = newborn(5);
  member.wake(0ms);
  const std::vector<OutgoingNote> questions = member.take_outgoing();
  told(member, 1ms, 4, {.kind = NoteKind::standing, .term = most_term});
  EXPECT_EQ(member.view().term, 1u);
  std::vector<OutgoingNote> next;
  for (const OutgoingNote& outgoing : questions) {
    if (outgoing.to == 4) continue;
    next = told(member, 2ms, outgoing.to, approval(1, outgoing.note.message.phase));
  }
  EXPECT_FALSE(next.empty()) << "it does not wait for an answer of member 4";
}

// Where nothing is remembered, there may still have been a promise: its file may be lost.
TEST(Member, WaitsALeaseWhereNothingIsRemembered) {
  Member member({.n = 5}, 0ms);
  EXPECT_EQ(answer(member, lease - 1ns, 1, renewal(5, false)), NoteKind::refused);
  EXPECT_EQ(answer(member, lease, 1, renewal(5, false)), NoteKind::granted);
}

// ---- Where the list may change.

Configuration list_of(MemberIndex n) {
  std::vector<Endpoint> addresses;
  for (MemberIndex each = 0; each < n; ++each)
    addresses.push_back({"10.0.0.7", static_cast<std::uint16_t>(7000 + each)});
  return founded_by(addresses);
}
const Change addition{.kind = Change::Kind::add, .member = 3, .endpoint = {"10.0.0.7", 7003}};

Note with(Note note, const Stamp& stamp) {
  note.configuration = stamp;
  return note;
}

// Member 0 of three leads in term 1, by the promises of all.
Member leader_of_elastic_three() {
  Member member({.configuration = list_of(3), .may_have_promised = false}, 0ms);
  const std::uint64_t rank = wake_and_win(member, 0ms);
  const Stamp stamp = member.configuration().stamp;
  for (const MemberIndex each : {1u, 2u}) {
    told(member, 1ms, each, with(promised(NoteKind::seconded, 1, rank), stamp));
    told(member, 1ms, each, with(promised(NoteKind::granted, 1, stamp_of(1ms)), stamp));
  }
  return member;
}
Note consent(const Member& member, Instant asked) {
  return with(promised(NoteKind::granted, 1, stamp_of(asked)), member.configuration().stamp);
}

// The process of the new member asks for the list.
void start_learner(Member& member, Instant at) {
  told(member, at, 3, {.kind = NoteKind::recall, .stamp = 77});
}

TEST(Member, GivesNoSeatToAMemberThatHasNotAnswered) {
  Member member = leader_of_elastic_three();
  told(member, 2ms, 1, consent(member, 1ms));
  ASSERT_EQ(member.request(2ms, addition), "");
  EXPECT_EQ(member.view().learner, 3u);
  EXPECT_EQ(member.configuration().seats.size(), 3u);
  EXPECT_TRUE(member.is_settled()) << "nobody waits for a process that may never come";
  told(member, 3ms, 4, {.kind = NoteKind::recall, .stamp = 77});
  EXPECT_EQ(member.configuration().seats.size(), 3u) << "another one has answered";
  ASSERT_EQ(member.request(4ms, {.kind = Change::Kind::remove, .member = 2}), "");
  EXPECT_EQ(member.configuration().seats.size(), 2u) << "a learner stands in nobody's way";
}

TEST(Member, SeatsALearnerThatAnswers) {
  Member member = leader_of_elastic_three();
  told(member, 2ms, 1, consent(member, 1ms));
  ASSERT_EQ(member.request(2ms, addition), "");
  start_learner(member, 3ms);
  EXPECT_EQ(member.configuration().seats.size(), 4u);
  EXPECT_EQ(member.view().learner, nobody);
}

TEST(Member, IsPatientWhereOthersOrItsDiskAreSlow) {
  Member quick = newborn(3), slow = newborn(3);
  slow.note_sync(1s);
  for (Member* const each : {&quick, &slow}) {
    each->wake(0ms);
    each->take_outgoing();
  }
  EXPECT_LT(quick.deadline(), 3s);
  EXPECT_GT(slow.view().sync, quick.view().sync);
  for (int i = 0; i < 60; ++i) slow.note_sync(1ms);
  EXPECT_LT(slow.view().sync, 2ms) << "what was slow once is forgotten";
}

TEST(Member, ChangesTheListWhenAMajorityHasConfirmedItInThisTerm) {
  Member member = leader_of_elastic_three();
  EXPECT_EQ(member.configuration().stamp.term, 1u) << "a leader confirms the list at once";
  EXPECT_EQ(member.request(2ms, addition), "");
  start_learner(member, 2ms);
  EXPECT_EQ(member.configuration().seats.size(), 3u) << "not before it is confirmed";
  EXPECT_NE(member.request(2ms, addition), "") << "one at a time";
  told(member, 3ms, 1, consent(member, 1ms));
  EXPECT_EQ(member.configuration().seats.size(), 4u);
  EXPECT_EQ(member.configuration().stamp.version, 1u);
  EXPECT_FALSE(member.is_settled());
  told(member, 4ms, 1, consent(member, 3ms));
  EXPECT_FALSE(member.is_settled()) << "two of four are no majority";
  told(member, 4ms, 2, consent(member, 3ms));
  EXPECT_TRUE(member.is_settled());
  EXPECT_TRUE(member.holds_lease(4ms));
}

TEST(Member, ConfirmsTheListBeforeItChangesIt) {
  Member member({.configuration = list_of(3), .may_have_promised = false}, 0ms);
  const std::uint64_t rank = wake_and_win(member, 0ms);
  const Stamp found = member.configuration().stamp;
  for (const MemberIndex each : {1u, 2u})
    told(member, 1ms, each, with(promised(NoteKind::seconded, 1, rank), found));
  EXPECT_EQ(member.request(2ms, addition), "");
  start_learner(member, 2ms);
  EXPECT_EQ(member.configuration().seats.size(), 3u) << "nobody has shown the new stamp";
}

TEST(Member, ChangesTheListOneSeatAtATime) {
  Member member = leader_of_elastic_three();
  ASSERT_EQ(member.request(2ms, addition), "");
  start_learner(member, 2ms);
  told(member, 3ms, 1, consent(member, 1ms));
  ASSERT_EQ(member.configuration().stamp.version, 1u);
  EXPECT_EQ(member.request(3ms, {.kind = Change::Kind::remove, .member = 2}), "");
  EXPECT_EQ(member.configuration().stamp.version, 1u) << "the first is not settled";
  told(member, 4ms, 1, consent(member, 3ms));
  told(member, 4ms, 2, consent(member, 3ms));
  EXPECT_EQ(member.configuration().stamp.version, 2u);
}

TEST(Member, LetsNoLeaseThatWasToldOfGetShorterByAChange) {
  Member member = leader_of_elastic_three();
  ASSERT_EQ(member.request(2ms, addition), "");
  member.pass(1s + 2ms);
  start_learner(member, 1s + 2ms);
  told(member, 1s + 3ms, 1, consent(member, 1s + 2ms));
  const Instant until = member.lease_until();
  EXPECT_EQ(until, 1s + 2ms + usable);
  EXPECT_EQ(member.configuration().seats.size(), 3u) << "a majority of four ends earlier";
  told(member, 1s + 4ms, 2, consent(member, 1s + 2ms));
  EXPECT_EQ(member.configuration().seats.size(), 4u);
  EXPECT_GE(member.lease_until(), until);
}

TEST(Member, BeginsNoChangeThatTooFewSupport) {
  Member member = leader_of_elastic_three();
  member.pass(1s + 2ms);
  told(member, 1s + 3ms, 1, consent(member, 1s + 2ms));
  ASSERT_TRUE(member.holds_lease(3s));
  EXPECT_NE(member.request(3s, addition), "") << "three of four are needed, and one is silent";
}

TEST(Member, RefusesAddressesThatNoMemberCanHave) {
  Member member = leader_of_elastic_three();
  for (const Endpoint& address : {Endpoint{"127.0.0.1", 0}, Endpoint{"0.0.0.0", 1},
                                  Endpoint{"::", 7000}, Endpoint{"0", 7000}}) {
    const Change ghost{.kind = Change::Kind::add, .member = 3, .endpoint = address};
    EXPECT_NE(member.request(2ms, ghost), "") << to_string(address);
  }
}

TEST(Member, RefusesChangesThatMakeNoSense) {
  Member member = leader_of_elastic_three();
  EXPECT_NE(member.request(2ms, {.kind = Change::Kind::remove, .member = 0}), "") << "itself";
  EXPECT_NE(member.request(2ms, {.kind = Change::Kind::remove, .member = 9}), "");
  EXPECT_NE(member.request(2ms, {.kind = Change::Kind::add, .member = 5, .endpoint = {"h", 1}}),
            "");
  EXPECT_NE(member.request(2ms, {.kind = Change::Kind::add, .member = 3, .endpoint = {"a b", 1}}),
            "");
  Member fixed = newborn(3);
  EXPECT_NE(fixed.request(2ms, addition), "");
}

// It will not promise in this term, and would otherwise keep the old list until the next one.
TEST(Member, TakesTheListOfTheLeaderAlsoWhereItHasRecoveredInItsTerm) {
  Member member({.configuration = list_of(3), .remembered = {7, nobody, 3000ms}}, 0ms);
  Configuration newer = changed(list_of(3), addition);
  newer.stamp.term = 7;
  const Note list{.kind = NoteKind::configuration,
                  .term = 7,
                  .next = newer.next_member,
                  .holds = true,
                  .configuration = newer.stamp,
                  .seats = newer.seats};
  told(member, 1ms, 1, list);
  EXPECT_EQ(member.configuration().seats.size(), 4u);
  Member other({.configuration = list_of(3), .remembered = {7, 2, 3000ms}}, 0ms);
  told(other, 1ms, 1, list);
  EXPECT_EQ(other.configuration().seats.size(), 3u) << "it has promised to member 2";
}

TEST(Member, SupportsNobodyWithAnOlderList) {
  Configuration newer = changed(list_of(3), addition);
  newer.stamp.term = 4;
  Member member({.configuration = newer, .may_have_promised = false}, 0ms);
  EXPECT_EQ(answer(member, 1ms, 1, with(renewal(5, false), list_of(3).stamp)), NoteKind::refused);
  EXPECT_EQ(answer(member, 1ms, 1, with(renewal(5, false), newer.stamp)), NoteKind::granted);
}

// A damaged file of one member would keep all others from electing for ever: its list would count
// as newer than theirs.
TEST(Member, DisbelievesAListOfATermThatCannotBe) {
  Member member({.configuration = list_of(5), .may_have_promised = false}, 0ms);
  Stamp spoiled = list_of(5).stamp;
  spoiled.term = most_term;
  const Note sign{.kind = NoteKind::alive, .term = 1};
  EXPECT_TRUE(told(member, 1ms, 4, with(sign, spoiled)).empty());
  EXPECT_EQ(member.view().disbelieved, 1u);
  member.wake(2ms);
  EXPECT_EQ(member.view().term, 1u) << "it lets no other member go first";
  spoiled.term = 7;
  told(member, 3ms, 4, with(sign, spoiled));
  EXPECT_EQ(member.view().disbelieved, 1u) << "such a term can be";
}

TEST(Member, TakesTheListOfTheLeaderItHasPromisedTo) {
  Member member({.self = 2, .configuration = list_of(3), .may_have_promised = false}, 0ms);
  Configuration newer = changed(list_of(3), addition);
  newer.stamp.term = 5;
  const Note list{.kind = NoteKind::configuration,
                  .term = 5,
                  .next = 4,
                  .holds = true,
                  .configuration = newer.stamp,
                  .seats = newer.seats};
  told(member, 1ms, 1, list);
  EXPECT_EQ(member.configuration(), list_of(3)) << "it has promised nothing";
  EXPECT_EQ(answer(member, 2ms, 1, with(renewal(5, true), newer.stamp)), NoteKind::granted);
  told(member, 3ms, 1, list);
  EXPECT_EQ(member.configuration(), newer);
}

TEST(Member, EndsWhenItHasBeenRemoved) {
  Member member({.self = 2, .configuration = list_of(3), .may_have_promised = false}, 0ms);
  Configuration newer = changed(list_of(3), {.kind = Change::Kind::remove, .member = 2});
  newer.stamp.term = 5;
  told(member, 1ms, 1,
       {.kind = NoteKind::configuration,
        .term = 5,
        .next = 3,
        .holds = true,
        .configuration = newer.stamp,
        .seats = newer.seats});
  EXPECT_TRUE(member.view().is_dismissed);
  EXPECT_EQ(member.deadline(), Instant::max());
}

// The answer of another member that has stored the table in this note.
Note recorded(const Note& asked, MemberIndex from, Term promised, bool takes_part = true,
              Incarnation own = {}) {
  Note answer{.kind = NoteKind::recorded, .next = promised, .holds = takes_part};
  answer.configuration = asked.configuration;
  answer.entries = asked.entries;
  if (own != Incarnation{}) answer.entries.raise(from, own);
  answer.table = answer.entries.fingerprint();
  return answer;
}

// A member of three that recovers, and the note with which it asks the others.
struct Recovering {
  explicit Recovering(bool has_file, Promise remembered = {}, IncarnationTable table = {})
      : member({.n = 3,
                .table = std::move(table),
                .recovers = true,
                .has_file = has_file,
                .salt = 7,
                .remembered = remembered},
               0ms) {
    member.pass(0ms);
    const std::vector<OutgoingNote> notes = member.take_outgoing();
    EXPECT_EQ(notes.size(), 2u);
    asked = notes.front().note;
    EXPECT_EQ(asked.kind, NoteKind::recover);
  }

  Member member;
  Note asked;
};

TEST(Member, WithoutItsListTakesPartWhenALeaderHasToldItAndEnoughHaveRecordedIt) {
  Member member({.self = 2, .is_blank = true, .hints = {0, 1}}, 0ms);
  const Configuration list = list_of(3);
  Note told_list{.kind = NoteKind::configuration,
                 .term = 5,
                 .stamp = 1,
                 .next = 3,
                 .holds = true,
                 .configuration = list.stamp,
                 .seats = list.seats};
  EXPECT_TRUE(told(member, 1ms, 1, with(renewal(5, true), list.stamp)).empty());
  told(member, 1ms, 1, told_list);
  EXPECT_TRUE(member.view().is_blank) << "not an answer";
  member.pass(2ms);
  const std::vector<OutgoingNote> notes = member.take_outgoing();
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes.front().note.kind, NoteKind::recall);
  told_list.stamp = notes.front().note.stamp;
  told(member, 3ms, 1, told_list);
  EXPECT_FALSE(member.view().is_blank);
  EXPECT_TRUE(member.view().is_waiting);
  member.pass(4ms);
  const Note asked = member.take_outgoing().front().note;
  ASSERT_EQ(asked.kind, NoteKind::recover);
  told(member, 5ms, 0, recorded(asked, 0, 4));
  EXPECT_TRUE(member.view().is_waiting) << "one of two";
  told(member, 5ms, 1, recorded(asked, 1, 5));
  EXPECT_FALSE(member.view().is_waiting);
  EXPECT_EQ(member.promise().term, 5u);
}

TEST(Member, RecoversWhatItHasPromisedFromAMajorityOfOthers) {
  Recovering blank(false);
  EXPECT_FALSE(blank.member.has_file());
  told(blank.member, 1ms, 1, recorded(blank.asked, 1, 9));
  EXPECT_TRUE(blank.member.view().is_waiting) << "one other is no majority";
  told(blank.member, 2ms, 2, recorded(blank.asked, 2, 4));
  EXPECT_FALSE(blank.member.view().is_waiting);
  EXPECT_TRUE(blank.member.has_file());
  EXPECT_EQ(blank.member.promise(), (Promise{9, nobody, lease}));
}

TEST(Member, KeepsThePromiseOfItsOwnFileWhenItRecovers) {
  const Promise own{9, 2, lease};
  Recovering stale(true, own);
  told(stale.member, 1ms, 1, recorded(stale.asked, 1, 9));
  told(stale.member, 2ms, 2, recorded(stale.asked, 2, 4));
  EXPECT_EQ(stale.member.promise(), own);
}

TEST(Member, PromisesNothingWhileItWaitsAndForALeaseAfterwards) {
  Recovering blank(false);
  const auto claim = [&](Instant now) {
    Note asks = renewal(10, true);
    asks.table = blank.member.table().fingerprint();
    blank.member.receive(now, 1, asks);
    const std::vector<OutgoingNote> notes = blank.member.take_outgoing();
    return notes.empty() ? NoteKind::probe : notes.back().note.kind;
  };
  EXPECT_EQ(claim(2 * lease), NoteKind::refused);
  const Instant admitted = 2 * lease + 50ms;
  for (const MemberIndex each : {1u, 2u})
    told(blank.member, admitted, each, recorded(blank.asked, each, 9));
  ASSERT_FALSE(blank.member.view().is_waiting);
  EXPECT_EQ(claim(admitted + lease - 1ms), NoteKind::refused)
      << "a lease from the start, not from the admission";
  EXPECT_EQ(claim(admitted + lease), NoteKind::granted);
}

TEST(Member, ClaimsNothingForALeaseAfterItsAdmission) {
  Recovering blank(false);
  for (const MemberIndex each : {1u, 2u})
    told(blank.member, 50ms, each, recorded(blank.asked, each, 9));
  blank.member.wake(60ms);
  EXPECT_TRUE(blank.member.take_outgoing().empty());
  EXPECT_EQ(blank.member.view().term, 9u);
}

TEST(Member, WithoutAFileAnswersNothingAndCountsNoAnswersOfThoseThatWait) {
  Recovering blank(false);
  EXPECT_TRUE(told(blank.member, 1ms, 1, {.kind = NoteKind::recover}).empty());
  for (const MemberIndex each : {1u, 2u})
    told(blank.member, 2ms, each, recorded(blank.asked, each, 9, false));
  EXPECT_TRUE(blank.member.view().is_waiting);
  Recovering stale(true);
  EXPECT_EQ(answer(stale.member, 1ms, 1, {.kind = NoteKind::recover}), NoteKind::recorded);
  for (const MemberIndex each : {1u, 2u})
    told(stale.member, 2ms, each, recorded(stale.asked, each, 9, false));
  EXPECT_FALSE(stale.member.view().is_waiting);
}

// Member 2 knows of a newer process of member 1 than the one that has answered.
TEST(Member, CountsOnlyAnswersThatFit) {
  Recovering blank(false);
  told(blank.member, 1ms, 1, recorded(blank.asked, 1, 9));
  Note better = recorded(blank.asked, 2, 4);
  better.entries.raise(1, {3, 5});
  better.table = better.entries.fingerprint();
  told(blank.member, 2ms, 2, better);
  EXPECT_TRUE(blank.member.view().is_waiting);
  told(blank.member, 3ms, 1, recorded(blank.asked, 1, 12, true, {3, 5}));
  EXPECT_FALSE(blank.member.view().is_waiting);
  EXPECT_EQ(blank.member.promise().term, 12u);
  EXPECT_EQ(blank.member.table().of(1), (Incarnation{3, 5})) << "taken over";
}

TEST(Member, DrawsALargerIncarnationWhileItWaitsAndEndsWhereItTakesPart) {
  Recovering blank(false);
  Note larger{.kind = NoteKind::recorded, .next = 9, .holds = true};
  larger.entries.raise(0, {6, 1});
  larger.table = larger.entries.fingerprint();
  told(blank.member, 1ms, 1, larger);
  EXPECT_TRUE(blank.member.view().is_waiting);
  EXPECT_EQ(blank.member.view().incarnation.number, 7u);
  Member old = newborn(3);
  const std::uint64_t rank = wake_and_win(old, 0ms);
  old.receive(1ms, 1, promised(NoteKind::seconded, 1, rank));
  ASSERT_TRUE(old.holds_lease(2ms));
  told(old, 3ms, 2, larger);
  EXPECT_TRUE(old.view().is_outdated);
  EXPECT_FALSE(old.holds_lease(4ms));
  EXPECT_TRUE(told(old, 5ms, 1, renewal(2, true)).empty());
}

TEST(Member, NeverReplacesALargerIncarnationByASmallerOne) {
  Recovering blank(true, {}, [] {
    IncarnationTable table;
    table.raise(2, {5, 5});
    return table;
  }());
  Note smaller{.kind = NoteKind::recover};
  smaller.entries.raise(2, {4, 9});
  smaller.table = smaller.entries.fingerprint();
  const std::vector<OutgoingNote> notes = told(blank.member, 1ms, 2, smaller);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes.front().note.entries.of(2), (Incarnation{5, 5})) << "so that it learns of it";
  EXPECT_EQ(blank.member.table().of(2), (Incarnation{5, 5}));
}

TEST(Member, PromisesToClaimantsWithItsOwnTableAloneAndSendsItsTableToOthers) {
  IncarnationTable table;
  table.raise(2, {1, 1});
  Member member({.n = 3, .table = table, .may_have_promised = false}, 0ms);
  const std::vector<OutgoingNote> notes = told(member, 1ms, 1, renewal(1, true));
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_EQ(notes.front().note.kind, NoteKind::recorded);
  EXPECT_EQ(notes.back().note.kind, NoteKind::refused);
  Note claim = renewal(1, true);
  claim.table = table.fingerprint();
  EXPECT_EQ(answer(member, 2ms, 1, claim), NoteKind::granted);
}

TEST(Member, CountsNoPromiseOfAMemberWithAnotherTable) {
  Member member = newborn(3);
  const std::uint64_t rank = wake_and_win(member, 0ms);
  Note promise = promised(NoteKind::seconded, 1, rank);
  promise.table = 77;
  member.receive(1ms, 1, promise);
  EXPECT_FALSE(member.holds_lease(2ms));
  promise.table = 0;
  member.receive(3ms, 1, promise);
  EXPECT_TRUE(member.holds_lease(4ms));
}

// The lease by promises with the old table runs on; those with the new one are asked for at once.
TEST(Member, AsksAnewWhenItsTableHasGrown) {
  Member member = newborn(3);
  const std::uint64_t rank = wake_and_win(member, 0ms);
  member.receive(1ms, 1, promised(NoteKind::seconded, 1, rank));
  const Instant until = member.lease_until();
  member.take_outgoing();
  Note news{.kind = NoteKind::recover};
  news.entries.raise(2, {1, 1});
  news.table = news.entries.fingerprint();
  std::vector<OutgoingNote> notes = told(member, 100ms, 2, news);
  ASSERT_EQ(notes.size(), 3u) << "two renewals, and the answer";
  EXPECT_EQ(notes.front().note.kind, NoteKind::renewal);
  EXPECT_EQ(notes.front().note.table, news.table);
  EXPECT_EQ(member.lease_until(), until);
  member.receive(200ms, 1, promised(NoteKind::granted, 1, stamp_of(100ms)));
  EXPECT_EQ(member.lease_until(), until) << "a promise with the old table";
  Note granted = promised(NoteKind::granted, 1, stamp_of(100ms));
  granted.table = news.table;
  member.receive(200ms, 1, granted);
  EXPECT_EQ(member.lease_until(), 100ms + usable);
}

// Two of five have promised with the old table and one with the new one.
TEST(Member, AddsUpNoPromisesOfDifferentTables) {
  Member member = newborn(5);
  const std::uint64_t rank = wake_and_win(member, 0ms);
  for (const MemberIndex each : {1u, 2u})
    member.receive(1ms, each, promised(NoteKind::seconded, 1, rank));
  member.pass(1001ms);
  member.receive(1002ms, 1, promised(NoteKind::granted, 1, stamp_of(1001ms)));
  const Instant until = member.lease_until();
  Note news{.kind = NoteKind::recover};
  news.entries.raise(4, {1, 1});
  news.table = news.entries.fingerprint();
  told(member, 1100ms, 4, news);
  Note granted = promised(NoteKind::granted, 1, stamp_of(1100ms));
  granted.table = news.table;
  member.receive(1101ms, 3, granted);
  EXPECT_EQ(member.lease_until(), until);
}

// A promise to one process of a member binds against the next one of it.
TEST(Member, TakesAnotherProcessOfAMemberForAnotherClaimant) {
  Member member = newborn(3);
  ASSERT_EQ(answer(member, 1ms, 1, renewal(1, true)), NoteKind::granted);
  Note news{.kind = NoteKind::recover};
  news.entries.raise(1, {1, 1});
  news.table = news.entries.fingerprint();
  told(member, 2ms, 1, news);
  Note claim = renewal(2, true);
  claim.table = news.table;
  EXPECT_EQ(answer(member, 3ms, 1, claim), NoteKind::refused);
  Note resigned = resignation(1, nobody, 2);
  resigned.table = news.table;
  told(member, 4ms, 1, resigned);
  claim.term = 3;
  EXPECT_EQ(answer(member, 5ms, 1, claim), NoteKind::refused) << "the other has not resigned";
  EXPECT_EQ(answer(member, 1ms + lease, 1, claim), NoteKind::granted);
}

TEST(Member, ThatIsTheOnlyOneNeverRecoversALostFile) {
  Member alone({.recovers = true, .has_file = false}, 0ms);
  alone.pass(0ms);
  EXPECT_TRUE(alone.view().is_waiting);
  Member moved({.recovers = true, .has_file = true}, 0ms);
  moved.pass(0ms);
  EXPECT_FALSE(moved.view().is_waiting);
}

}  // namespace
}  // namespace conclave::election
