// The steps of a member. Order matters in one respect: what the algorithm sends within a step may
// be owed by members that are suspected already, so answers are filled in after the step, until
// none is missing. The file is long because it is one state machine, read from top to bottom:
// election, promises, following, handover, changes of the list, recovery, suspicion.
#include "election/member.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "conclave/base/check.hpp"

namespace conclave::election {

using Kind = Algorithm::Kind;

Timing timing_for(milliseconds lease) {
  return {.lease = lease,
          .renewal = lease / 3,
          .patience = lease,
          .answer = lease * 2 / 3,
          .election = lease * 10 / 3};
}

struct Member::Effects {
  Member& member;

  void send(Port port, const Algorithm::Message& message) {
    const MemberIndex to = member.member_at(port);
    member.note_debt(to, message);
    member.send(to, {.kind = NoteKind::algorithm, .term = member.term_, .message = message});
  }
  void broadcast(const Algorithm::Message& message) {
    for (Port port = 0; port + 1 < member.n(); ++port) send(port, message);
  }
  void send_to_some(std::uint32_t count, const Algorithm::Message& message, Choice auto& choice) {
    for (const Port port : member.draws_(count, member.n() - 1, choice)) send(port, message);
  }
};

namespace {

Configuration first_configuration(const MemberOptions& options) {
  if (options.is_blank) return {};
  if (!options.configuration.seats.empty()) return options.configuration;
  Configuration fixed{.next_member = options.n};
  for (MemberIndex each = 0; each < options.n; ++each) fixed.seats.push_back({each, {}});
  return fixed;
}

}  // namespace

Member::Member(const MemberOptions& options, Instant now)
    : options_(options),
      config_(first_configuration(options)),
      table_(options.table),
      is_waiting_(options.recovers || options.is_blank),
      algorithm_({}, std::max<MemberIndex>(n(), 1)),
      coins_(options.coins),
      term_(options.remembered.term),
      newest_(options.remembered.term),
      confirmed_(options.remembered.term),
      node_(algorithm_.asleep(options.self + 1)),
      peers_(options.self + 1, Peer{.heard = now}),
      retired_(options.remembered.term),
      promise_(options.remembered),
      now_(now) {
  CONCLAVE_CHECK(is_blank() || config_.has(options.self));
  options_.has_file = options.has_file && !options.is_blank;
  if (!is_blank()) make_room(config_.seats.back().member);
  // Supports no member: this process does not know whom the last one promised to, if anybody.
  const milliseconds last_lease =
      options.remembered.term > 0 ? options.remembered.lease : options.timing.lease;
  if (options.may_have_promised) promised_until_ = now + last_lease;
  if (is_waiting_) {
    draw(table_.of(options.self).number);
    (is_blank() ? recall_at_ : recover_at_) = now;
    return;
  }
  fingerprint_ = table_.fingerprint();
  const bool is_back = options.may_have_promised || options.remembered.term > 0;
  if (is_back) patience_until_ = now + options.timing.patience + jitter(options.timing.patience);
}

namespace {

// Grows at once and shrinks by an eighth with each smaller sample.
Instant recent_most(Instant before, Instant sample) {
  return std::max(sample, before - before / 8);
}

}  // namespace

void Member::note_sync(Instant took) { sync_ = recent_most(sync_, took); }

// Waits for others grow by this: a store of theirs before an answer, one of their own before the
// question, each as slow as those seen lately, and the way there and back. Bounded, so that one
// late message does not silence this member for long.
Instant Member::allowance() const {
  return std::min<Instant>(4 * sync_ + 2 * round_trip_, 10 * options_.timing.lease);
}

// Late answers count as well, of members that have been suspected meanwhile.
void Member::note_answer(Instant now, MemberIndex from, const Note& note) {
  const Kind kind = note.message.kind;
  const bool is_answer =
      kind == Kind::approved || kind == Kind::declined || kind == Kind::wins || kind == Kind::loses;
  if (is_answer && peers_[from].asked != Instant{})
    round_trip_ = recent_most(round_trip_, now - peers_[from].asked);
}

MemberView Member::view() const {
  return {.term = term_,
          .leader = is_confirmed_ ? options_.self : leader_,
          .leads = is_confirmed_,
          .suspected = suspected_,
          .elections = elections_,
          .promised = promise_.term,
          .disbelieved = disbelieved_,
          .is_blank = is_blank(),
          .is_dismissed = is_dismissed_,
          .is_waiting = is_waiting_,
          .is_outdated = is_outdated_,
          .incarnation = table_.of(options_.self),
          .needed = needed_answers(),
          .replaced = replaced_,
          .learner = is_confirmed_ && awaits_learner() ? wanted_->member : nobody,
          .sync = sync_,
          .round_trip = round_trip_};
}

std::vector<MemberIndex> Member::recorded_by() const {
  std::vector<MemberIndex> result;
  for (const Seat& seat : config_.seats) {
    if (is_waiting_ && counts(seat.member)) result.push_back(seat.member);
  }
  return result;
}

Instant Member::deadline() const {
  if (is_out()) return Instant::max();
  if (is_waiting_) return is_blank() ? recall_at_ : recover_at_;
  Instant next = std::min({patience_until_, election_until_, check_at_, resign_at_});
  if (is_claimant()) next = std::min({next, renewed_at_ + options_.timing.renewal, step_down_at_});
  if (holds_lease(now_)) next = std::min(next, lease_until_);  // the host may want to know
  return next;
}

bool Member::hears_leader(Instant now) const {
  return holds_lease(now) || (leader_ != nobody && now < heard_leader_until_);
}

void Member::send(MemberIndex to, const Note& note) {
  ++sent_[count_index(note)];
  outgoing_.push_back({to, note});
  outgoing_.back().note.configuration = config_.stamp;
  outgoing_.back().note.table = fingerprint_;
}

// A leader that is refused because somebody has known one of a newer term does not go on: the newer
// one had a majority, so the older leader cannot keep one, unless that majority has lost its files;
// and then the terms must not go on below those that have been used.
void Member::refuse(MemberIndex to) {
  send(to, {.kind = NoteKind::refused, .term = promise_.term, .next = led_});
}

void Member::send_to_all(const Note& note) {
  for (Port port = 0; port + 1 < n(); ++port) send(member_at(port), note);
}

// Uniform, so that not everybody wakes up at once.
milliseconds Member::jitter(milliseconds longest) {
  const auto most = static_cast<std::uint32_t>(std::max<milliseconds::rep>(longest.count(), 1));
  return milliseconds(coins_.below(most));
}

// The part of a promise that the leader may rely on, on its own clock, if its clock is as slow and
// the other as fast as the bound on drift allows.
milliseconds Member::usable(milliseconds promised) const {
  const double drift = options_.timing.clock_drift;
  const double share = (1 - drift) / (1 + drift);
  return milliseconds(static_cast<std::int64_t>(static_cast<double>(promised.count()) * share));
}

// How long after its own promise has ended a member takes those of the others to have ended too:
// what clocks may differ over a lease, and a twentieth of it for messages on their way. A member
// that asks earlier would hear of the leader that has gone.
milliseconds Member::slack() const {
  const milliseconds lease = options_.timing.lease;
  return lease - usable(lease) + lease / 20;
}

// Joins the election of a newer term, asleep. Whoever led before does so no more.
void Member::enter(Instant now, Term term) {
  term_ = term;
  newest_ = std::max(newest_, term);
  leave_election();
  abstains_ = false;
  node_ = algorithm_.asleep(options_.self + 1);
  leader_ = nobody;
  patience_until_ = Instant::max();
  const milliseconds longest = options_.timing.election * (1 << std::min(failures_, 5u));
  election_until_ = now + allowance() + longest + jitter(longest / 2);
  ++elections_;
}

// Whether somebody who seems to be alive has a newer configuration: it would refuse this member,
// and perhaps no majority is to be had without it.
bool Member::knows_newer() const {
  return std::ranges::any_of(config_.seats, [&](const Seat& seat) {
    const Peer& peer = peers_[seat.member];
    const bool has_told = peer.stamp != Stamp{} && !peer.is_suspected;
    return has_told && !config_.stamp.is_at_least(peer.stamp);
  });
}

void Member::start_election(Instant now) {
  if (now < claims_after_) {
    election_until_ = claims_after_ + jitter(options_.timing.renewal / 2);
    return;
  }
  if (knows_newer()) {
    election_until_ = now + options_.timing.lease + jitter(options_.timing.lease);
    for (const Seat& seat : config_.seats) peers_[seat.member].stamp = {};
    return send_to_all({.kind = NoteKind::probe, .term = term_});
  }
  enter(now, std::max(term_, newest_) + 1);
  Effects effects{*this};
  algorithm_.on(node_, WakeUp{}, effects, coins_);
  after_step(now);
}

void Member::wake(Instant now) {
  now_ = now;
  if (is_waiting_) is_woken_ = true;
  if (is_waiting_ || is_out() || is_done() || !abstains_) return;
  start_election(now);
}

void Member::receive(Instant now, MemberIndex from, const Note& note) {
  now_ = now;
  if (from == options_.self || from >= most_member_numbers || is_out()) return;
  const bool has_seat = config_.has(from);
  if (is_fixed() && !has_seat) return;
  make_room(from);
  // A list of a term that cannot be would count as newer than all others, for ever.
  if (!is_blank() && !believes(from, note.configuration.term)) return on_refused(now, from);
  peers_[from].stamp = note.configuration;
  peers_[from].table = note.table;
  if (note.kind == NoteKind::recover || note.kind == NoteKind::recorded)
    return on_table(now, from, note);
  if (note.kind == NoteKind::configuration) return on_configuration(now, from, note);
  if (note.kind == NoteKind::recall) return on_recall(now, from, note);
  if (is_blank()) {  // whoever has a seat for this member can tell it more
    if (std::ranges::find(options_.hints, from) == options_.hints.end())
      options_.hints.push_back(from);
    return;
  }
  if (is_waiting_) return answer_waiting(from, note);
  if (has_seat || !ignores_stranger(from, note)) take(now, from, note);
  look_at_stamp(from, note);
  advance_change(now);
}

void Member::take(Instant now, MemberIndex from, const Note& note) {
  hear(now, from);
  const bool has_known_newer = note.kind == NoteKind::refused && note.next > term_;
  if (is_confirmed_ && has_known_newer && note.next <= confirmed_ + term_leap) {
    newest_ = std::max(newest_, note.next);
    return step_down(now, nobody, 0);
  }
  const Term spoken = std::max(note.term, note.next);
  if (!believes(from, spoken)) return on_refused(now, from);
  newest_ = std::max(newest_, spoken);
  switch (note.kind) {
    case NoteKind::algorithm:
      note_answer(now, from, note);
      return on_algorithm(now, from, note);
    case NoteKind::renewal:
      return on_renewal(now, from, note);
    case NoteKind::seconded:
    case NoteKind::granted:
      return on_promise(now, from, note);
    case NoteKind::standing:
      return on_standing(now, note);
    case NoteKind::probe:
      return send(from, {.kind = NoteKind::alive, .term = term_});
    case NoteKind::refused:
      return on_refused(now, from);
    case NoteKind::prepare:
      return on_prepare(now, from);
    case NoteKind::prepared:
      if (from == heir_) {
        const bool is_equal = note.configuration == config_.stamp && note.table == fingerprint_;
        step_down(now, is_equal ? from : nobody, note.stamp);
      }
      return;
    case NoteKind::resigned:
      return on_resigned(now, from, note);
    case NoteKind::alive:
    case NoteKind::recall:
    case NoteKind::configuration:
    case NoteKind::recover:
    case NoteKind::recorded:
      return;
  }
}

// One member whose term has been damaged must not carry all others to the end of the terms.
bool Member::believes(MemberIndex from, Term term) {
  peers_[from].spoken = std::max(peers_[from].spoken, term);
  if (term <= confirmed_ + term_leap) return true;
  confirmed_ = std::max(confirmed_, spoken_by_majority());
  if (is_believable(term)) return true;
  ++disbelieved_;
  return false;
}

bool Member::is_believable(Term term) const { return term <= confirmed_ + term_leap; }

Term Member::spoken_by_majority() const {
  std::vector<Term> terms;
  terms.reserve(n());
  for (const Seat& seat : config_.seats) {
    terms.push_back(seat.member == options_.self ? newest_ : peers_[seat.member].spoken);
  }
  const auto last = terms.begin() + (majority() - 1);
  std::ranges::nth_element(terms, last, std::greater{});
  return *last;
}

void Member::on_algorithm(Instant now, MemberIndex from, const Note& note) {
  const bool asks = note.message.kind == Kind::request || note.message.kind == Kind::leader;
  if (hears_leader(now) && from != leader_) {
    if (asks && note.term != term_) tell_standing(now, from);
    return;
  }
  if (note.term < term_) {
    if (asks) tell_standing(now, from);
    return;
  }
  if (note.term == term_ && abstains_) {
    const bool is_question = asks || note.message.kind == Kind::decide;
    if (is_question) refuse(from);
    return;
  }
  if (note.term > term_) enter(now, note.term);
  // The algorithm of another list has other ports and phases; only the claim is of interest then.
  if (!note.configuration.has_list_of(config_.stamp)) {
    if (note.message.kind == Kind::leader) return answer_claim(now, from, note);
    if (asks || note.message.kind == Kind::decide) refuse(from);
    return;
  }
  if (is_due(from, note.message)) act(now, from, note);
}

// Whether the algorithm expects such a message: with all alive and nothing lost, always. Answers
// that were filled in come too late, and restarted members may speak out of turn.
bool Member::is_due(MemberIndex from, const Algorithm::Message& message) {
  Peer& peer = peers_[from];
  const bool is_own = message.id == from + 1 && message.rank != 0;
  switch (message.kind) {
    case Kind::request:
      return is_own && message.phase >= 1 && message.phase <= algorithm_.last_phase();
    case Kind::leader:
      return is_own;
    case Kind::approved:
    case Kind::declined:
      return peer.owes_answer && peer.phase == message.phase;
    case Kind::decide:
      return algorithm_.expects(node_, message);
    case Kind::wins:
    case Kind::loses:
      return peer.owes_verdict;
  }
  return false;
}

void Member::act(Instant now, MemberIndex from, const Note& note) {
  const Algorithm::Message& message = note.message;
  Peer& peer = peers_[from];
  const bool did_owe = peer.owes();
  if (message.kind == Kind::approved || message.kind == Kind::declined) peer.owes_answer = false;
  if (message.kind == Kind::wins || message.kind == Kind::loses) peer.owes_verdict = false;
  if (did_owe && !peer.owes()) --debtors_;
  Effects effects{*this};
  algorithm_.on(node_, Received<Algorithm::Message>{port_to(from), message}, effects, coins_);
  after_step(now);
  if (message.kind == Kind::leader) answer_claim(now, from, note);
}

void Member::answer_claim(Instant now, MemberIndex from, const Note& note) {
  if (make_promise(now, from, note)) {
    send(from, {.kind = NoteKind::seconded,
                .term = term_,
                .stamp = note.message.rank,
                .promise_ms = static_cast<std::uint32_t>(options_.timing.lease.count())});
  } else {
    refuse(from);
  }
}

void Member::note_debt(MemberIndex to, const Algorithm::Message& message) {
  const bool asks = message.kind == Kind::request || message.kind == Kind::decide;
  if (!asks) return;
  Peer& peer = peers_[to];
  if (!peer.owes()) {
    ++debtors_;
    peer.asked = now_;
    peer.is_probed = false;
  }
  if (message.kind == Kind::request) {
    peer.owes_answer = true;
    peer.phase = message.phase;
  } else {
    peer.owes_verdict = true;
  }
  if (peer.is_suspected) silent_.push_back(to);
  if (check_at_ == Instant::max()) check_at_ = now_ + options_.timing.answer;
}

void Member::after_step(Instant now) {
  fill_in_answers();
  const bool has_won = node_.standing == Standing::elected && !abstains_;
  if (has_won && !is_claimant()) claim(now);
}

void Member::fill_in_answers() {
  while (!silent_.empty()) {
    const MemberIndex peer = silent_.back();
    silent_.pop_back();
    fill_in(peer);
  }
}

void Member::fill_in(MemberIndex which) {
  Peer& peer = peers_[which];
  if (!peer.owes()) return;
  --debtors_;
  const bool answers = std::exchange(peer.owes_answer, false);
  const bool decides = std::exchange(peer.owes_verdict, false);
  const Port port = port_to(which);
  Effects effects{*this};
  using Event = Received<Algorithm::Message>;
  if (answers) algorithm_.on(node_, Event{port, {Kind::approved, peer.phase}}, effects, coins_);
  if (decides) algorithm_.on(node_, Event{port, {Kind::wins, 0}}, effects, coins_);
}

// A claimant with another table may be an older process of its member, or count on one.
bool Member::may_promise(Instant now, MemberIndex to, const Note& claim) const {
  if (claim.table != fingerprint_) return false;
  if (!claim.configuration.is_at_least(config_.stamp)) return false;
  if (claim.term < promise_.term) return false;
  if (claim.term == promise_.term && promise_.to != to) return false;
  const bool is_bound_to_it = bound_to_ == to && bound_incarnation_ == table_.of(to);
  return now >= promised_until_ || is_bound_to_it;
}

bool Member::make_promise(Instant now, MemberIndex to, const Note& claim) {
  if (!may_promise(now, to, claim)) {
    if (claim.table != fingerprint_) send_table(to, NoteKind::recorded);
    return false;
  }
  promise_ = {claim.term, to, options_.timing.lease};
  bound_to_ = to;
  bound_incarnation_ = table_.of(to);
  promised_until_ = now + options_.timing.lease;
  return true;
}

Note Member::own_claim() const {
  return {.kind = NoteKind::renewal,
          .term = term_,
          .configuration = config_.stamp,
          .table = fingerprint_};
}

// The paper's LEADER is on its way to everybody; it counts as the first request for a lease.
void Member::claim(Instant now) {
  claimed_at_ = renewed_at_ = now;
  step_down_at_ = now + options_.timing.election + allowance();
  support_oneself(now);
}

void Member::renew(Instant now) {
  renewed_at_ = now;
  send_to_all({.kind = NoteKind::renewal,
               .term = term_,
               .stamp = static_cast<std::uint64_t>(now.count()),
               .holds = holds_lease(now)});
  support_oneself(now);
}

// While an older promise lasts, perhaps of a process before this one, the own promise counts for
// nothing yet. It is made all the same, and so stored before anybody is asked: otherwise a leader
// that is killed and started again could lead a second time in the same term, since the others have
// promised to it.
void Member::support_oneself(Instant now) {
  if (make_promise(now, options_.self, own_claim())) {
    support(now, options_.self, now, options_.timing.lease);
  } else if (promise_.term < term_) {
    promise_ = {term_, options_.self, std::max(promise_.lease, options_.timing.lease)};
  }
}

void Member::on_promise(Instant now, MemberIndex from, const Note& note) {
  if (!is_claimant() || note.term != term_) return;
  if (note.table != fingerprint_) return;
  const milliseconds promised(note.promise_ms);
  if (note.kind == NoteKind::seconded) {
    if (note.stamp == node_.rank) support(now, from, *claimed_at_, promised);
    return;
  }
  const Instant since(static_cast<Instant::rep>(note.stamp));
  if (since < *claimed_at_ || since > renewed_at_) return;
  round_trip_ = recent_most(round_trip_, now - since);
  support(now, from, since, promised);
}

// A promise that was asked for at `since` began later, so it is still kept when that much time has
// passed since then.
void Member::support(Instant now, MemberIndex from, Instant since, milliseconds promised) {
  Instant& until = peers_[from].supports_until;
  until = std::max(until, since + usable(promised));
  lease_until_ = std::max(kept_until_, supported_until(config_));
  if (now >= lease_until_) return;
  step_down_at_ = lease_until_ + options_.timing.election + allowance();
  if (std::exchange(is_confirmed_, true)) return;
  led_ = term_;
  failures_ = 0;
  election_until_ = Instant::max();
  renew(now);
}

// Until when a majority of these keeps its promises.
Instant Member::supported_until(const Configuration& configuration) const {
  std::vector<Instant> ends;
  ends.reserve(configuration.seats.size());
  for (const Seat& seat : configuration.seats) {
    ends.push_back(seat.member < peers_.size() ? peers_[seat.member].supports_until : Instant{});
  }
  const auto last = ends.begin() + static_cast<std::ptrdiff_t>(configuration.majority() - 1);
  std::ranges::nth_element(ends, last, std::greater{});
  return *last;
}

void Member::on_renewal(Instant now, MemberIndex from, const Note& note) {
  if (from == departed_.to && note.term <= departed_.term) return;  // on its way for long
  const bool is_rival = hears_leader(now) && from != leader_;
  if (is_rival && !(note.holds && note.term > term_)) return tell_standing(now, from);
  if (note.term < led_) return refuse(from);
  if (note.holds) {
    follow(now, note.term, from);
    heard_leader_until_ = now + options_.timing.lease;
  } else if (note.term < term_) {
    return tell_standing(now, from);
  } else if (note.term > term_) {
    enter(now, note.term);
  }
  if (make_promise(now, from, note)) {
    if (note.holds && note.configuration.has_list_of(config_.stamp))
      config_.stamp = note.configuration;  // the same list, confirmed in a newer term
    send(from, {.kind = NoteKind::granted,
                .term = note.term,
                .stamp = note.stamp,
                .promise_ms = static_cast<std::uint32_t>(options_.timing.lease.count())});
  } else {
    refuse(from);
  }
}

// The election is over: somebody leads. The term may be older than this member's own, if that was
// an election no other member wanted, but never than that of a leader it has known: that one had
// promises of a majority, which makes none in older terms.
void Member::follow(Instant now, Term term, MemberIndex leader) {
  leave_election();
  led_ = std::max(led_, term);
  if (leader != leader_) heard_leader_until_ = {};
  term_ = term;
  leader_ = leader;
  failures_ = 0;
  patience_until_ =
      now + options_.timing.patience + slack() + allowance() + jitter(options_.timing.patience / 2);
}

void Member::leave_election() {
  abstains_ = true;
  is_confirmed_ = false;
  claimed_at_.reset();
  heir_ = nobody;
  resign_at_ = Instant::max();
  election_until_ = Instant::max();
  wanted_.reset();
  parting_ = nobody;
  kept_until_ = {};
  forget_debts();
}

void Member::forget_debts() {
  for (Peer& peer : peers_) {
    peer.owes_answer = peer.owes_verdict = peer.is_probed = false;
    peer.supports_until = Instant{};
  }
  debtors_ = 0;
  silent_.clear();
  check_at_ = Instant::max();
}

void Member::on_standing(Instant now, const Note& note) {
  if (hears_leader(now)) return;
  const bool is_past = note.leader == departed_.to && note.term <= departed_.term;
  const bool names_leader = config_.has(note.leader) && note.leader != options_.self && !is_past;
  if (names_leader && note.term >= led_) return follow(now, note.term, note.leader);
  if (note.term > term_) enter(now, note.term);
}

// Only what was heard at first hand is passed on: rumours of a dead leader would keep it alive.
void Member::tell_standing(Instant now, MemberIndex to) {
  const MemberIndex known = is_confirmed_ ? options_.self : leader_;
  send(to,
       {.kind = NoteKind::standing, .term = term_, .leader = hears_leader(now) ? known : nobody});
}

// It takes no part in the election of this term, or cannot be believed: it will not answer.
void Member::on_refused(Instant now, MemberIndex from) {
  silent_.push_back(from);
  fill_in_answers();
  after_step(now);
}

void Member::resign(Instant now) {
  now_ = now;
  if (!is_claimant() || heir_ != nobody) return;
  const MemberIndex heir = likely_heir(now);
  if (!holds_lease(now) || heir == nobody) return step_down(now, nobody, 0);
  heir_ = heir;
  resign_at_ = now + options_.timing.renewal;
  send(heir, {.kind = NoteKind::prepare, .term = term_});
}

// Whoever has promised last is most likely to be there.
MemberIndex Member::likely_heir(Instant now) const {
  MemberIndex best = nobody;
  for (const Seat& seat : config_.seats) {
    const MemberIndex each = seat.member;
    const Peer& peer = peers_[each];
    const bool is_ready = peer.supports_until > now && peer.stamp == config_.stamp;
    if (each == options_.self || peer.is_suspected || !is_ready) continue;
    if (best == nobody || peer.supports_until > peers_[best].supports_until) best = each;
  }
  return best;
}

void Member::on_prepare(Instant now, MemberIndex from) {
  if (from != leader_ || now < claims_after_) return;
  prepared_at_ = now;
  send(from, {.kind = NoteKind::prepared,
              .term = newest_,
              .stamp = static_cast<std::uint64_t>(now.count())});
}

// The order is what makes a handover safe: first this member ceases to act, for ever in this term,
// and then the others hear of it. It supports its heir like everybody else.
void Member::step_down(Instant now, MemberIndex heir, std::uint64_t stamp) {
  const Note note{.kind = NoteKind::resigned,
                  .term = term_,
                  .stamp = stamp,
                  .leader = heir,
                  .next = std::max(term_, newest_) + 1,
                  .configuration = config_.stamp,
                  .table = fingerprint_};
  leave_election();
  retired_ = term_;
  send_to_all(note);
  on_resigned(now, options_.self, note);
}

// The sender never acts by the promise that ends here: it was made in the term in which the sender
// has resigned, or in an older one, and to this very process, since the tables are equal. From then
// on it is as if the promise had run out.
void Member::on_resigned(Instant now, MemberIndex from, const Note& note) {
  const bool is_same_process = note.table == fingerprint_ && bound_incarnation_ == table_.of(from);
  if (bound_to_ == from && promise_.term <= note.term && is_same_process)
    promised_until_ = std::min(promised_until_, now);
  if (note.term >= departed_.term) departed_ = {note.term, from};
  const bool is_ours = from == options_.self || (leader_ == from && term_ <= note.term);
  if (!is_ours) return;
  leader_ = nobody;
  heard_leader_until_ = {};
  const milliseconds rest = from == options_.self ? options_.timing.patience : milliseconds(0);
  patience_until_ = now + rest + jitter(options_.timing.renewal / 2);
  if (!config_.has(note.leader) || note.next <= std::max(term_, retired_)) return;
  if (note.leader == options_.self && now < claims_after_) return;
  if (note.leader == options_.self) return inherit(now, note);
  enter(now, note.next);
  election_until_ = now + options_.timing.lease + jitter(options_.timing.lease / 2);
  Note claim = note;
  claim.term = note.next;
  if (!make_promise(now, note.leader, claim)) return;
  send(note.leader, {.kind = NoteKind::granted,
                     .term = note.next,
                     .stamp = note.stamp,
                     .promise_ms = static_cast<std::uint32_t>(options_.timing.lease.count())});
}

// Promises to the heir began after it said that it was ready, so its lease counts from then. Those
// who have not heard of the handover are asked again.
void Member::inherit(Instant now, const Note& note) {
  const bool was_ready =
      prepared_at_ && static_cast<std::uint64_t>(prepared_at_->count()) == note.stamp;
  const Instant since = was_ready ? *prepared_at_ : now;
  enter(now, note.next);
  claimed_at_ = since;
  step_down_at_ = now + options_.timing.election + allowance();
  renew(now);
}

// Whoever has no seat in the configuration of this member has one in a newer one, or none any more,
// or none yet. The leader tells the last two, when that is settled.
bool Member::ignores_stranger(MemberIndex from, const Note& note) {
  if (note.configuration.is_at_least(config_.stamp)) return false;
  if (is_committed()) {
    send_configuration(from, 0);
  } else if (is_confirmed_) {
    return true;
  } else if (note.kind == NoteKind::renewal || note.kind == NoteKind::algorithm ||
             note.kind == NoteKind::probe) {
    refuse(from);  // so that it learns of the newer configuration, and lets others go first
  }
  return true;
}

// A leader sees to it that all who have promised to it, or nothing in its term, have its
// configuration.
void Member::look_at_stamp(MemberIndex from, const Note& note) {
  const Stamp& theirs = note.configuration;
  if (!is_confirmed_ || theirs == config_.stamp || !config_.has(from)) return;
  if (theirs != Stamp{} && !config_.stamp.is_at_least(theirs)) return;
  const bool has_answered = note.kind == NoteKind::granted || note.kind == NoteKind::seconded ||
                            note.kind == NoteKind::refused;
  if (has_answered && note.term == term_ && !theirs.has_list_of(config_.stamp))
    send_configuration(from, 0);
}

std::string Member::request(Instant now, const Change& change) {
  now_ = now;
  if (is_fixed())
    return "the list of members is fixed: it can change where cluster init --elastic has made it";
  if (!holds_lease(now) || heir_ != nobody) return "this member does not lead";
  if (wanted_ && !awaits_learner()) return "another change waits";
  if (std::string sentence = objection_to(change, config_); !sentence.empty()) return sentence;
  if (change.kind == Change::Kind::remove && change.member == options_.self)
    return "a leader cannot remove itself: end its process first, and ask the next leader";
  if (supported_until(changed(config_, change)) <= now)
    return "too few members support the leader for that: start or remove those that are missing";
  wanted_ = change;
  learner_heard_.reset();
  advance_change(now);
  return {};
}

// One seat at a time: a majority must have the configuration that is to be changed, with a stamp of
// this very term, so that no older proposal can find a majority any more; a leader confirms the one
// that it has found as soon as it leads. The new one counts at
// once, for lease and majorities; so the change waits for a moment at which it does not
// shorten a lease that was announced.
void Member::advance_change(Instant now) {
  if (!is_confirmed_ || !holds_lease(now) || is_fixed()) return;
  const bool is_stamped = config_.stamp.term == term_;
  if (!is_stamped) {
    config_.stamp.term = term_;
    renew(now);
  }
  if (!is_committed()) return;
  if (parting_ != nobody) send_configuration(std::exchange(parting_, nobody), 0);
  if (!wanted_ || awaits_learner()) return;
  const Configuration next = changed(config_, *wanted_);
  if (supported_until(next) < lease_until_) return;
  if (wanted_->kind == Change::Kind::remove) parting_ = wanted_->member;
  wanted_.reset();
  install(next);
  lease_until_ = supported_until(config_);
  renew(now);
}

bool Member::is_committed() const {
  if (!is_confirmed_ || config_.stamp.term != term_) return false;
  const auto has_it = [&](const Seat& seat) {
    const Peer& peer = peers_[seat.member];
    const bool shows_it = peer.stamp == config_.stamp && peer.table == fingerprint_;
    return seat.member == options_.self || shows_it;
  };
  return std::ranges::count_if(config_.seats, has_it) >= majority();
}

// A process that has no seat yet asks for the list again and again.
bool Member::awaits_learner() const {
  if (!wanted_ || wanted_->kind != Change::Kind::add) return false;
  return !learner_heard_ || now_ > *learner_heard_ + options_.timing.lease;
}

void Member::send_configuration(MemberIndex to, std::uint64_t echo) {
  send(to, {.kind = NoteKind::configuration,
            .term = term_,
            .stamp = echo,
            .next = config_.next_member,
            .holds = is_confirmed_,
            .seats = config_.seats});
}

void Member::on_recall(Instant now, MemberIndex from, const Note& note) {
  if (is_blank() || is_fixed()) return;
  if (wanted_ && wanted_->member == from) learner_heard_ = now;
  advance_change(now);
  send_configuration(from, note.stamp);
}

// Only a leader's word counts. Whoever has promised to it in its term takes its configuration; so
// does a member that has recovered, and promises nothing up to this term. A process that waits
// takes every newer one, and counts the answers by it.
void Member::on_configuration(Instant now, MemberIndex from, const Note& note) {
  if (is_blank()) return remember(now, from, note);
  const bool is_newer =
      note.configuration.is_at_least(config_.stamp) && note.configuration != config_.stamp;
  if (!is_newer || (!note.holds && !is_waiting_)) return;
  const Configuration theirs{note.configuration, note.seats, static_cast<MemberIndex>(note.next)};
  if (!theirs.has(options_.self)) {
    is_dismissed_ = note.holds && options_.self < note.next;
    if (is_dismissed_) leave_election();
    return;
  }
  if (is_waiting_) {
    install(theirs);
    return ask_again(now);
  }
  const bool supports_no_other = promise_.to == from || promise_.to == nobody;
  if (promise_.term != note.term || !supports_no_other) return;
  install(theirs);
  send(from, {.kind = NoteKind::alive, .term = term_});
}

// A member that knows nothing takes the list that it is told first, and recovers by it like all
// others that wait: a newer one of any that answer takes its place.
void Member::remember(Instant now, MemberIndex from, const Note& note) {
  const bool is_answer = nonce_ != 0 && note.stamp == nonce_;
  if (!is_answer) {
    if (note.seats.size() >= rumours_.size()) rumours_ = note.seats;
    return;
  }
  const Configuration theirs{note.configuration, note.seats, static_cast<MemberIndex>(note.next)};
  if (!theirs.has(options_.self)) {
    is_dismissed_ = note.holds && options_.self < note.next;  // otherwise still to be added
    return;
  }
  install(theirs);
  peers_[from].spoken = std::max(peers_[from].spoken, note.term);
  ask_again(now);
}

// Larger than all incarnations of this member that it knows of.
void Member::draw(std::uint32_t above) {
  Stream bits({.seed = options_.salt, .trial = above});
  table_.raise(options_.self, {above + 1, bits.below64(UINT64_MAX)});
  fingerprint_ = table_.fingerprint();
}

void Member::ask_again(Instant when) {
  for (Peer& peer : peers_) peer.answer.reset();
  recover_at_ = when;
}

void Member::send_recoveries(Instant now) {
  for (const Seat& seat : config_.seats) {
    if (seat.member != options_.self) send_table(seat.member, NoteKind::recover);
  }
  recover_at_ = now + options_.timing.renewal;
  try_admission(now);  // a cluster of one has nobody to ask
}

void Member::send_table(MemberIndex to, NoteKind kind) {
  Note note{.kind = kind, .term = term_, .next = promise_.term, .holds = !is_waiting_};
  if (kind == NoteKind::recover) note.next = 0, note.holds = false;
  for (const auto& [member, incarnation] : table_.entries()) {
    if (note.entries.entries().size() == most_entries) {
      send(to, note);
      note.entries = {};
    }
    note.entries.raise(member, incarnation);
  }
  send(to, note);
}

// While it waits, a process makes no promise and no claim; who asks for one is told so.
void Member::answer_waiting(MemberIndex from, const Note& note) {
  const bool is_request = note.kind == NoteKind::renewal || note.kind == NoteKind::algorithm;
  if (is_request) refuse(from);
  if (note.kind == NoteKind::probe) send(from, {.kind = NoteKind::alive, .term = term_});
}

// A table goes to whoever has a smaller one, so that all have the same in the end. Who has no file
// stores nothing, and therefore answers nothing.
void Member::on_table(Instant now, MemberIndex from, const Note& note) {
  if (is_blank() || !config_.has(from)) return;
  hear(now, from);
  Peer& peer = peers_[from];
  peer.told.merge(note.entries);
  const bool is_whole = peer.told.fingerprint() == note.table;
  learn(now, note.entries);
  if (is_outdated_) return;
  const bool is_answer = note.kind == NoteKind::recorded && is_whole;
  if (is_answer && is_waiting_) return on_answer(now, from, note);
  const bool is_due = is_answer && table_.has_larger_than(peer.told);
  if ((is_due || note.kind == NoteKind::recover) && has_file())
    send_table(from, NoteKind::recorded);
}

// Takes over the larger incarnations. A larger one of this very member belongs to another process
// of it: one that waits draws a larger one still, one that takes part ends.
void Member::learn(Instant now, const IncarnationTable& entries) {
  const Incarnation rival = entries.of(options_.self);
  if (rival > table_.of(options_.self)) {
    is_outdated_ = !is_waiting_;
    if (is_outdated_) return leave_election();
    draw(rival.number);
    ask_again(now + jitter(options_.timing.renewal));  // two that wait do not outbid each other
  }
  bool has_grown = false;
  for (const auto& [member, incarnation] : entries.entries()) {
    if (member == options_.self || !table_.raise(member, incarnation)) continue;
    has_grown = true;
    ++replaced_;
  }
  if (!has_grown) return;
  fingerprint_ = table_.fingerprint();
  if (!is_claimant()) return;
  // Promises of members with different tables are not added up; those it has run on to their end.
  if (is_confirmed_) kept_until_ = lease_until_;
  for (Peer& peer : peers_) peer.supports_until = Instant{};
  renew(now);
}

void Member::on_answer(Instant now, MemberIndex from, const Note& note) {
  Peer& peer = peers_[from];
  if (peer.told.of(options_.self) != table_.of(options_.self)) return;
  peer.spoken = std::max(peer.spoken, note.next);
  peer.answer = {peer.told.of(from), note.next, note.holds, note.configuration};
  const bool has_newer_list = !note.configuration.has_list_of(config_.stamp) &&
                              note.configuration.is_at_least(config_.stamp);
  if (has_newer_list) send(from, {.kind = NoteKind::recall, .stamp = 1});
  try_admission(now);
}

// Whether the answer of this member counts: the larger tables of others name no newer process of
// it, it has the same list, and it has seen the last of what it answers for. A process that waits
// has not, perhaps; its file has, but for one member at a time.
bool Member::counts(MemberIndex member) const {
  const std::optional<Answer>& answer = peers_[member].answer;
  if (!answer || answer->own != table_.of(member)) return false;
  if (!answer->takes_part && !options_.has_file) return false;
  return answer->stamp.has_list_of(config_.stamp) && is_believable(answer->promised);
}

// A majority of all, of which the asker is not one; all others where there are two members. A
// lost file of the only member is lost: nobody else remembers.
MemberIndex Member::needed_answers() const {
  if (n() == 1 && !options_.has_file) return nobody;
  return std::min(majority(), std::max<MemberIndex>(n(), 1) - 1);
}

void Member::try_admission(Instant now) {
  confirmed_ = std::max(confirmed_, spoken_by_majority());
  const auto has_counted = [&](const Seat& seat) { return counts(seat.member); };
  const auto answers = static_cast<MemberIndex>(std::ranges::count_if(config_.seats, has_counted));
  if (is_waiting_ && answers >= needed_answers()) admit(now);
}

// All that its member has promised, whichever process did, is known to one of those who have
// answered: nothing is promised in these terms, nor before leases by such promises must be over.
void Member::admit(Instant now) {
  Term floor = promise_.term;
  for (const Seat& seat : config_.seats) {
    if (!counts(seat.member)) continue;
    const Answer& answer = *peers_[seat.member].answer;
    floor = std::max(floor, answer.promised);
    config_.stamp.term = std::max(config_.stamp.term, answer.stamp.term);
  }
  const milliseconds lease = std::max(promise_.lease, options_.timing.lease);
  if (floor > promise_.term) promise_ = {floor, nobody, lease};
  promise_.lease = lease;
  is_waiting_ = false;
  term_ = std::max(term_, floor);
  newest_ = std::max(newest_, floor);
  confirmed_ = std::max(confirmed_, floor);
  retired_ = floor;
  promised_until_ = claims_after_ = now + lease;
  const milliseconds rest = is_woken_ ? options_.timing.renewal / 2 : options_.timing.patience;
  patience_until_ = claims_after_ + jitter(rest);
}

void Member::send_recalls(Instant now) {
  if (nonce_ == 0) nonce_ = static_cast<std::uint64_t>(now.count()) | 1;
  std::vector<MemberIndex> asked = options_.hints;
  for (const Seat& seat : rumours_) asked.push_back(seat.member);
  std::ranges::sort(asked);
  asked.erase(std::unique(asked.begin(), asked.end()), asked.end());
  for (const MemberIndex each : asked) {
    if (each != options_.self) send(each, {.kind = NoteKind::recall, .stamp = nonce_});
  }
  recall_at_ = now + options_.timing.renewal + jitter(options_.timing.renewal);
}

void Member::install(const Configuration& configuration) {
  config_ = configuration;
  make_room(config_.seats.back().member);
  algorithm_ = Algorithm({}, n());
  suspected_ = debtors_ = 0;
  for (MemberIndex each = 0; each < peers_.size(); ++each) {
    Peer& peer = peers_[each];
    peer.owes_answer = peer.owes_verdict = peer.is_probed = false;
    peer.is_suspected = peer.is_suspected && config_.has(each);
    suspected_ += peer.is_suspected ? 1 : 0;
  }
  silent_.clear();
  check_at_ = Instant::max();
  if (!is_claimant()) abstains_ = true;
}

void Member::make_room(MemberIndex member) {
  if (member >= peers_.size()) peers_.resize(member + 1, Peer{.heard = now_});
}

// A member that has waited for a majority to come into sight elects soon when it does.
void Member::hear(Instant now, MemberIndex which) {
  Peer& peer = peers_[which];
  peer.heard = now;
  peer.is_probed = false;
  if (!std::exchange(peer.is_suspected, false)) return;
  const bool saw_majority = sees_majority();
  --suspected_;
  const bool waits = abstains_ && leader_ == nobody && election_until_ != Instant::max();
  if (waits && !saw_majority && sees_majority())
    election_until_ = std::min(election_until_, now + jitter(options_.timing.renewal / 2));
}

void Member::suspect(MemberIndex which) {
  if (!config_.has(which)) return;
  Peer& peer = peers_[which];
  if (!std::exchange(peer.is_suspected, true)) ++suspected_;
  if (peer.owes()) silent_.push_back(which);
}

void Member::lose(Instant now, MemberIndex peer) {
  now_ = now;
  if (is_waiting_ || is_out() || peer == options_.self) return;
  suspect(peer);
  fill_in_answers();
  after_step(now);
  if (peer != leader_) return;
  const Instant soon =
      std::max(now, promised_until_ + slack()) + jitter(options_.timing.renewal / 2);
  patience_until_ = std::min(patience_until_, soon);
}

void Member::check_debts(Instant now) {
  // Shorter: whoever is dead is to be taken for dead, and a wrong suspicion ends by itself.
  const Instant answer =
      options_.timing.answer + std::min<Instant>(allowance(), 2 * options_.timing.lease);
  for (const Seat& seat : config_.seats) {
    const MemberIndex which = seat.member;
    Peer& peer = peers_[which];
    if (!peer.owes()) continue;
    const Instant sign = std::max(peer.asked, peer.heard);
    if (now >= sign + 2 * answer) {
      suspect(which);
    } else if (now >= sign + answer && !std::exchange(peer.is_probed, true)) {
      send(which, {.kind = NoteKind::probe, .term = term_});
    }
  }
  check_at_ = debtors_ > 0 ? now + answer / 2 : Instant::max();
  fill_in_answers();
  after_step(now);
}

// Without a majority in sight an election would be in vain, and would only raise the term.
void Member::give_up(Instant now) {
  leave_election();
  leader_ = nobody;
  patience_until_ = Instant::max();
  if (sees_majority()) {
    ++failures_;
    return start_election(now);
  }
  election_until_ = now + options_.timing.answer;
  for (const Seat& seat : config_.seats) {
    if (peers_[seat.member].is_suspected)
      send(seat.member, {.kind = NoteKind::probe, .term = term_});
  }
}

void Member::pass(Instant now) {
  now_ = now;
  if (is_out()) return;
  if (is_waiting_) {
    if (is_blank() && now >= recall_at_) send_recalls(now);
    if (!is_blank() && now >= recover_at_) send_recoveries(now);
    return;
  }
  if (now >= check_at_) check_debts(now);
  if (now >= resign_at_) return step_down(now, nobody, 0);
  if (now >= patience_until_) {
    if (leader_ != nobody) suspect(leader_);
    return give_up(now);
  }
  const bool is_over = now >= election_until_ || (is_claimant() && now >= step_down_at_);
  if (is_over) return give_up(now);
  if (is_claimant() && now >= renewed_at_ + options_.timing.renewal) renew(now);
  advance_change(now);
}

}  // namespace conclave::election
