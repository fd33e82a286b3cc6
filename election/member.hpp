// One member of a cluster that elects a leader, without any input or output: its caller passes in
// events with the time on the member's own clock, and gets back notes to send, the time of the next
// call, and what the member knows. The election itself is the paper's algorithm, the very code that
// the simulator and the exhaustive checker run. Everything else is beyond the paper:
//
//   terms      elections are numbered; one that does not end in time is given up for the next
//   promises   a claimant leads only while a majority has promised not to support anybody else;
//              a member makes promises to at most one claimant per term, and to no other while
//              one lasts. Therefore at most one leader per term and one holder of the lease. A
//              claim begins with the claimant's own promise, so that a process that is started
//              later knows that its term has been used
//   failures   who does not answer, and does not answer a probe either, is suspected. The paper
//              needs answers from everybody; those of the suspected are filled in: a suspected
//              referee approves, a suspected candidate loses. This can let two candidates win an
//              election, of which the promises let one lead at most
//   latecomers whoever hears from a leader tells those who ask for another
//   changes    where the list of members may change, each has a configuration, which orders by a
//              stamp; no member supports a claimant with an older one. A leader changes one seat at
//              a time, once a majority has its last configuration, confirmed in its own term. A new
//              member is a learner, without a seat, until the leader has heard of its process
//   pace       patience grows with the measured times of messages and of the disk, and shrinks
//              with them; promises and leases do not
//   recovery   a process whose state file may not be the newest of its member takes no part before
//              enough others have stored its incarnation and told what they have promised
//              (incarnation.hpp); promises count between members with equal tables only
//   handover   a leader that resigns gives up its lease first and says so; only then do the others
//              end their promises to it, and promise to the heir it names, which leads one round
//              trip later
//
// docs/how-to/elections.md states what is guaranteed under which assumption.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conclave/base/distinct_draws.hpp"
#include "conclave/base/random.hpp"
#include "election/configuration.hpp"
#include "election/incarnation.hpp"
#include "election/note.hpp"

namespace conclave::election {

using Instant = std::chrono::nanoseconds;  // since any moment, by the member's own steady clock
using std::chrono::milliseconds;

struct Timing {
  milliseconds lease{3000};      // how long a promise lasts
  milliseconds renewal{1000};    // between two requests of the leader to prolong it
  milliseconds patience{3000};   // without a sign of the leader, before it is suspected
  milliseconds answer{2000};     // for an answer, before a probe; as long again for the probe
  milliseconds election{10000};  // for a whole election; doubled with each that fails, up to 32
  double clock_drift = 0.01;     // the rates of clocks differ from true time by at most this
};

// All of them in the proportions of the defaults.
Timing timing_for(milliseconds lease);

// A term so large has not been reached by elections, of which each takes a millisecond at least,
// but by damage.
inline constexpr Term most_term = Term{1} << 62;
// A member believes terms up to so far beyond the newest of which a majority has spoken. Honest
// members never are so far apart, not even one without memory: at ten elections a second so many
// take thirteen years. Whoever says more is ill, and takes no part until it is repaired.
inline constexpr Term term_leap = Term{1} << 32;

// The newest promise, which must survive a restart. `lease` is how long it is kept from the moment
// it was made, so that a process started later, perhaps with another Timing, knows how long to
// wait.
struct Promise {
  Term term = 0;
  MemberIndex to = nobody;
  milliseconds lease{0};

  friend bool operator==(const Promise&, const Promise&) = default;
};

struct MemberOptions {
  MemberIndex self = 0;
  MemberIndex n = 1;  // members 0 to n - 1, for ever; not used where `configuration` has seats
  // Where the list may change: the one that is remembered. Without seats, and with `is_blank`, it
  // has been forgotten or never been known; then the member asks those of `hints` for it, and
  // recovers by it.
  Configuration configuration{};
  bool is_blank = false;
  std::vector<MemberIndex> hints{};
  Timing timing{};
  // The table of incarnations that is remembered, its own included.
  IncarnationTable table{};
  // Draws a new incarnation and takes no part before enough other members have stored it: unless
  // what is remembered is known to be all that any process of this member has stored.
  bool recovers = false;
  bool has_file = true;    // false: what this member has stored is lost
  std::uint64_t salt = 0;  // random, another one for each process: the bits of its incarnation
  Promise remembered{};    // term 0: nothing is remembered
  // An earlier process may have made a promise that still lasts: none is made before it must be
  // over, which is remembered.lease after the start, or timing.lease where nothing is remembered.
  // False only where no process of this cluster has ever had this position: a file that is missing
  // is no proof of that.
  bool may_have_promised = true;
  StreamName coins{};
};

// A note for one other member; see Member::take_outgoing.
struct OutgoingNote {
  MemberIndex to = nobody;
  Note note{};
};

struct MemberView {
  Term term = 0;
  MemberIndex leader = nobody;    // confirmed by a majority, as far as this member has heard
  bool leads = false;             // itself, confirmed by a majority in this term
  std::uint32_t suspected = 0;    // members
  std::uint64_t elections = 0;    // that this member has joined
  Term promised = 0;              // in which it has made its newest promise
  std::uint64_t disbelieved = 0;  // notes of terms that cannot be: beyond term_leap
  bool is_blank = false;          // it has no configuration yet
  bool is_dismissed = false;      // it has been removed from the cluster
  bool is_waiting = false;        // for answers of other members, before it takes part
  bool is_outdated = false;       // another process of this member has taken its place
  Incarnation incarnation{};
  MemberIndex needed = 0;        // so many are needed; nobody: none can be enough
  std::uint64_t replaced = 0;    // larger incarnations of others that it has heard of
  MemberIndex learner = nobody;  // is to get a seat when the leader, this member, hears of it
  Instant sync{};                // how long the disk takes to store a promise, lately at most
  Instant round_trip{};          // how long others take to answer, lately at most
};

class Member {
 public:
  // Times never run backwards from call to call.
  Member(const MemberOptions& options, Instant now);

  void wake(Instant now);  // by the environment: starts an election unless there is one or a leader
  // `from` must be authenticated: the note is taken for that member's.
  void receive(Instant now, MemberIndex from, const Note& note);
  // Its process has ended, has been started anew or cannot be reached: what it has not answered, it
  // never will.
  void lose(Instant now, MemberIndex peer);
  // Hands leadership over; does nothing on a member that does not lead. It goes on leading until
  // its heir is ready, `renewal` at most, and never acts in this term again afterwards.
  void resign(Instant now);
  // Begins a change of the list; empty, or why not. It is done when configuration() has the change
  // and is_settled(); it has failed when the member has ceased to lead before that, and then it may
  // or may not come about under the next leader. A member that is to be added is a learner until
  // this one has heard of its process; until then another request takes the place of this one.
  std::string request(Instant now, const Change& change);
  void pass(Instant now);        // to be called at deadline(), or later; earlier does no harm
  void note_sync(Instant took);  // the host has needed so long to store what it must

  Instant deadline() const;  // Instant::max(): never

  // To be sent in this order, after promise(), configuration() and table() have been stored where
  // they changed.
  std::vector<OutgoingNote> take_outgoing() { return std::exchange(outgoing_, {}); }
  const Promise& promise() const { return promise_; }
  const Configuration& configuration() const { return config_; }
  const IncarnationTable& table() const { return table_; }
  // Whether the three are to be stored: a process without a file has none before its admission.
  bool has_file() const { return !is_blank() && (options_.has_file || !is_waiting_); }
  // Addresses that a member without a configuration has heard of; not to be trusted otherwise.
  const std::vector<Seat>& rumours() const { return rumours_; }
  // Whether this member leads, and a majority has its configuration, with nothing left to change
  // but for a learner that has not been heard of.
  bool is_settled() const { return is_committed() && (!wanted_ || awaits_learner()); }

  // A copy, for people and for the status page.
  MemberView view() const;
  // The members whose answers count, while this one waits; for people.
  std::vector<MemberIndex> recorded_by() const;
  // Whether this member may act as the leader now: no other member does.
  bool holds_lease(Instant now) const { return is_confirmed_ && now < lease_until_; }
  Instant lease_until() const { return lease_until_; }
  // Whether this member leads or tries to, in this term: resign() has not come to its end yet.
  bool is_claimant() const { return claimed_at_.has_value(); }
  const NoteCounts& sent() const { return sent_; }

 private:
  friend struct MemberState;  // the check of all schedules: compares members field by field

  // To this process, while it waits.
  struct Answer {
    Incarnation own{};  // of the sender
    Term promised = 0;
    bool takes_part = false;  // the sender does not wait itself
    Stamp stamp{};
  };

  // Knowledge about another member.
  struct Peer {
    Instant asked{};           // when it was asked for what it owes
    Instant heard{};           // when it was last heard of
    Instant supports_until{};  // by its promise, on our clock
    Term spoken = 0;           // the newest term it has spoken of
    Stamp stamp{};             // of the configuration in its last note
    std::uint64_t table = 0;   // the fingerprint in its last note
    IncarnationTable told{};   // all entries it has ever told of
    std::optional<Answer> answer{};
    std::uint8_t phase = 0;  // of the request it was asked to answer
    bool owes_answer = false;
    bool owes_verdict = false;
    bool is_probed = false;
    bool is_suspected = false;

    bool owes() const { return owes_answer || owes_verdict; }
  };

  struct Effects;  // what the algorithm's node does to the world

  MemberIndex n() const { return static_cast<MemberIndex>(config_.seats.size()); }
  MemberIndex member_at(Port port) const {
    return config_.seats[(position_of(options_.self) + 1 + port) % n()].member;
  }
  Port port_to(MemberIndex member) const {
    return (position_of(member) + n() - position_of(options_.self) - 1) % n();
  }
  MemberIndex position_of(MemberIndex member) const {
    return static_cast<MemberIndex>(config_.find(member) - config_.seats.data());
  }
  bool is_blank() const { return config_.seats.empty(); }
  bool is_out() const { return is_dismissed_ || is_outdated_; }
  bool is_fixed() const { return !is_blank() && config_.stamp.list == 0; }
  MemberIndex majority() const { return n() / 2 + 1; }
  bool sees_majority() const { return n() - suspected_ >= majority(); }
  bool hears_leader(Instant now) const;
  bool believes(MemberIndex from, Term term);
  bool is_believable(Term term) const;
  Term spoken_by_majority() const;
  bool is_done() const { return is_confirmed_ || leader_ != nobody; }

  void send(MemberIndex to, const Note& note);
  void send_to_all(const Note& note);
  void refuse(MemberIndex to);

  void enter(Instant now, Term term);
  bool knows_newer() const;
  void start_election(Instant now);
  void leave_election();
  void forget_debts();
  void follow(Instant now, Term term, MemberIndex leader);

  void take(Instant now, MemberIndex from, const Note& note);
  void on_algorithm(Instant now, MemberIndex from, const Note& note);
  void on_renewal(Instant now, MemberIndex from, const Note& note);
  void on_promise(Instant now, MemberIndex from, const Note& note);
  void on_standing(Instant now, const Note& note);
  void on_refused(Instant now, MemberIndex from);
  void on_prepare(Instant now, MemberIndex from);
  void on_recall(Instant now, MemberIndex from, const Note& note);
  void on_table(Instant now, MemberIndex from, const Note& note);
  void on_answer(Instant now, MemberIndex from, const Note& note);
  void answer_waiting(MemberIndex from, const Note& note);
  void learn(Instant now, const IncarnationTable& entries);
  void draw(std::uint32_t above);
  void ask_again(Instant when);
  void send_recoveries(Instant now);
  void send_table(MemberIndex to, NoteKind kind);
  bool counts(MemberIndex member) const;
  MemberIndex needed_answers() const;
  void try_admission(Instant now);
  void admit(Instant now);
  void on_configuration(Instant now, MemberIndex from, const Note& note);
  bool ignores_stranger(MemberIndex from, const Note& note);
  void remember(Instant now, MemberIndex from, const Note& note);
  void send_configuration(MemberIndex to, std::uint64_t echo);
  void send_recalls(Instant now);
  void install(const Configuration& configuration);
  void look_at_stamp(MemberIndex from, const Note& note);
  void advance_change(Instant now);
  bool is_committed() const;
  bool awaits_learner() const;
  void make_room(MemberIndex member);
  void on_resigned(Instant now, MemberIndex from, const Note& note);
  MemberIndex likely_heir(Instant now) const;
  void step_down(Instant now, MemberIndex heir, std::uint64_t stamp);
  void inherit(Instant now, const Note& note);
  void tell_standing(Instant now, MemberIndex to);

  bool is_due(MemberIndex from, const Algorithm::Message& message);
  void act(Instant now, MemberIndex from, const Note& note);
  void note_debt(MemberIndex to, const Algorithm::Message& message);
  void after_step(Instant now);
  void fill_in_answers();
  void fill_in(MemberIndex which);

  bool may_promise(Instant now, MemberIndex to, const Note& claim) const;
  bool make_promise(Instant now, MemberIndex to, const Note& claim);
  Note own_claim() const;
  void answer_claim(Instant now, MemberIndex from, const Note& note);
  void claim(Instant now);
  void renew(Instant now);
  void support(Instant now, MemberIndex from, Instant since, milliseconds promised);
  void support_oneself(Instant now);
  Instant supported_until(const Configuration& configuration) const;

  void suspect(MemberIndex which);
  void hear(Instant now, MemberIndex which);
  void check_debts(Instant now);
  void give_up(Instant now);
  milliseconds jitter(milliseconds longest);
  milliseconds usable(milliseconds promised) const;
  milliseconds slack() const;
  Instant allowance() const;
  void note_answer(Instant now, MemberIndex from, const Note& note);

  MemberOptions options_;
  Configuration config_;
  IncarnationTable table_;
  std::uint64_t fingerprint_ = 0;  // of the table
  bool is_waiting_ = false;
  bool is_woken_ = false;  // while it waited
  bool is_outdated_ = false;
  std::uint64_t replaced_ = 0;
  Instant recover_at_ = Instant::max();
  Instant claims_after_{};  // a lease after its admission
  Algorithm algorithm_;
  Stream coins_;
  DistinctDraws draws_;

  Term term_ = 0;
  Term newest_ = 0;     // the newest term in a note that was believed
  Term confirmed_ = 0;  // at most the newest of which a majority has spoken, or the one remembered
  std::uint64_t disbelieved_ = 0;
  Algorithm::Node node_;
  bool abstains_ = true;     // from the election of this term: before the first, or after a restart
  std::vector<Peer> peers_;  // by number, also of those without a seat
  std::vector<MemberIndex> silent_;  // suspected ones that have been asked
  std::uint32_t suspected_ = 0;
  std::uint32_t debtors_ = 0;
  std::uint32_t failures_ = 0;  // elections in a row
  std::uint64_t elections_ = 0;

  MemberIndex leader_ = nobody;
  Instant heard_leader_until_{};  // at first hand: until then no other is supported
  std::optional<Instant> claimed_at_;
  Instant renewed_at_{};
  Instant step_down_at_{};
  bool is_confirmed_ = false;  // as the leader of this term, by a majority
  Term led_ = 0;               // the newest term in which this process has known a leader
  Instant lease_until_{};
  Instant kept_until_{};       // the lease by promises that were asked for with an older table
  Term retired_ = 0;           // inherits no term up to this one, in which it has resigned
  MemberIndex heir_ = nobody;  // has been asked whether it is ready to lead
  Instant resign_at_ = Instant::max();  // without it, if it does not answer
  std::optional<Instant> prepared_at_;  // when this member has told a leader that it is ready
  Promise departed_;                    // the last leader known to have resigned, and its term

  std::optional<Change> wanted_;          // by an operator, while this member leads
  std::optional<Instant> learner_heard_;  // of the one that is to be added
  MemberIndex parting_ = nobody;          // has lost its seat, and hears of it when that is settled
  bool is_dismissed_ = false;
  std::uint64_t nonce_ = 0;  // of recalls; 0: none has been sent
  Instant recall_at_ = Instant::max();
  std::vector<Seat> rumours_;

  Promise promise_;
  MemberIndex bound_to_ = nobody;  // until then; nobody: to someone unknown, before a restart
  Incarnation bound_incarnation_{};
  Instant promised_until_{};

  Instant patience_until_ = Instant::max();
  Instant election_until_ = Instant::max();
  Instant check_at_ = Instant::max();

  Instant sync_{};
  Instant round_trip_{};
  std::vector<OutgoingNote> outgoing_;
  NoteCounts sent_{};
  Instant now_{};
};

}  // namespace conclave::election
