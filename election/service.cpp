// The file is long because it is one order of steps: store, tell, send, arm, report, leave.
#include "election/service.hpp"

#include <algorithm>
#include <bit>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "conclave/base/error.hpp"
#include "election/agreement.hpp"

namespace conclave::election {
namespace {

MemberState stored(const std::optional<PromiseFile>& file) {
  return file ? file->state() : MemberState{};
}

// Those of which an address is known.
std::vector<MemberIndex> known_of(const std::vector<Endpoint>& members) {
  std::vector<MemberIndex> result;
  for (MemberIndex each = 0; each < members.size(); ++each) {
    if (!members[each].host.empty()) result.push_back(each);
  }
  return result;
}

Agreement agreement_of(const ServiceOptions& options) {
  Agreement result = options.is_elastic ? agreement_on({}, options.timing)
                                        : agreement_on(options.transport.members, options.timing);
  result.identity = options.identity;
  return result;
}

MemberOptions member_options(const ServiceOptions& options, const std::optional<PromiseFile>& file,
                             Surroundings& around) {
  const MemberState state = stored(file);
  const bool is_in_place = file && file->was_in_place() && !options.always_recovers;
  return {.self = options.transport.self,
          .n = static_cast<MemberIndex>(options.transport.members.size()),
          .configuration = state.configuration,
          .is_blank = options.is_elastic && (!file || !file->has_existed()),
          .hints =
              options.is_elastic ? known_of(options.transport.members) : std::vector<MemberIndex>{},
          .timing = options.timing,
          .table = state.table,
          .recovers = file && !is_in_place && !options.is_first_start,
          .has_file = !file || file->has_existed(),
          .salt = around.unforeseeable_number(),
          .remembered = state.promise,
          .may_have_promised = !options.is_first_start,
          .coins = {.seed = options.seed ? *options.seed : around.unforeseeable_number(),
                    .trial = 0,
                    .purpose = Purpose::node,
                    .part = options.transport.self}};
}

}  // namespace

PromiseOwner promise_owner(const ServiceOptions& options) {
  return {{options.transport.cluster, options.transport.self},
          options.is_elastic ? std::string(elastic_list) : list_name(agreement_of(options)),
          options.identity};
}

void write_founding_file(const ServiceOptions& options, Disk& disk) {
  PromiseOwner owner = promise_owner(options);
  if (!options.is_elastic) owner.list = founding_list;
  PromiseFile file(options.state_file, owner, disk);
  if (file.has_existed()) throw Error(fmt::format("'{}' exists", options.state_file));
  MemberState first{.promise = {.term = 0, .to = nobody, .lease = options.timing.lease}};
  if (options.is_elastic) first.configuration = founded_by(options.transport.members);
  try {
    file.store(first);
  } catch (const std::system_error& error) {
    throw Error(fmt::format("cannot write '{}': {}", options.state_file, error.what()));
  }
}

void check_timing(const Timing& timing) {
  const auto demand = [](bool holds, std::string_view sentence) {
    if (!holds) throw Error(std::string(sentence));
  };
  demand(timing.renewal >= milliseconds(1), "renewal_ms must be at least 1");
  demand(timing.lease >= 2 * timing.renewal, "lease_ms must be at least twice renewal_ms");
  demand(timing.patience >= timing.lease, "patience_ms must be at least lease_ms");
  demand(timing.answer >= milliseconds(1), "answer_ms must be at least 1");
  demand(timing.election > timing.lease, "election_ms must be more than lease_ms");
  demand(timing.election <= std::chrono::hours(24), "election_ms must be at most a day");
  demand(timing.clock_drift >= 0 && timing.clock_drift <= 0.2,
         "clock_drift must be between 0 and 0.2");
}

Service::Service(std::unique_ptr<Surroundings> around, ServiceOptions options, Callbacks callbacks)
    : around_(std::move(around)),
      options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      alive_(std::make_shared<bool>(true)) {
  check_timing(options_.timing);
  if (options_.transport.members.empty()) throw Error("a cluster needs at least one member");
  if (options_.is_elastic && options_.state_file.empty())
    throw Error("a cluster whose list may change needs state files");
  options_.transport.agreement = agreement_of(options_);
  options_.transport.is_elastic = options_.is_elastic;
  const Instant opened = around_->now();
  if (!options_.state_file.empty()) open_file();
  transport_ = around_->connect(options_.transport, *this);
  member_ = std::make_unique<Member>(member_options(options_, file_, *around_), around_->now());
  if (!options_.state_file.empty()) member_->note_sync(around_->now() - opened);
  reported_ = member_->table();
  meet();
  arm();
  watch_expiry();
}

// Says it daily from thirty days on.
void Service::watch_expiry() {
  const auto& credentials = options_.transport.credentials;
  if (!credentials) return;
  expiry_ = expiry_of(*credentials);
  around_->cancel(daily_);
  daily_ = around_->after(std::chrono::hours(24), [this] { watch_expiry(); });
  const auto left = std::chrono::floor<std::chrono::days>(*expiry_ - around_->wall_time());
  if (left < std::chrono::days(30) && callbacks_.warn)
    callbacks_.warn(fmt::format("the certificate of this member, or its authority's, expires in {} "
                                "days: conclave cluster renew",
                                left.count()));
}

// A file that is to be used is written again at once, also to find out now whether the disk can be
// written to. One that is missing stays so until this member has recovered.
void Service::open_file() {
  file_.emplace(options_.state_file, promise_owner(options_), around_->disk());
  try {
    if (file_->has_existed()) file_->store(file_->state(), file_->was_in_place());
    if (!file_->has_existed() && options_.is_first_start)
      file_->store({.promise = {.term = 0, .to = nobody, .lease = options_.timing.lease}});
  } catch (const std::system_error& error) {
    throw Error(fmt::format("cannot write '{}': {}", options_.state_file, error.what()));
  }
}

Service::~Service() {
  *alive_ = false;
  around_->cancel(timer_);
  around_->cancel(daily_);
}

void Service::wake() {
  member_->wake(around_->now());
  after_step();
}

void Service::resign() {
  if (is_leaving_) return;
  member_->resign(around_->now());
  after_step();
}

void Service::resign_and_leave(std::function<void()> left) {
  left_ = std::move(left);
  resign();
  leave_if_resigned();
}

// Resigning ends within timing.renewal, with an heir or without.
void Service::leave_if_resigned() {
  if (left_ && !is_leaving_ && !member_->is_claimant()) leave(std::exchange(left_, nullptr));
}

void Service::leave(std::function<void()> left) {
  is_leaving_ = true;
  lease_.set({.term = member_->view().term});
  around_->cancel(timer_);
  around_->cancel(daily_);
  transport_->close(std::move(left));
}

std::string Service::change(const Change& change) {
  if (is_leaving_) return "this member is leaving";
  std::string objection = member_->request(around_->now(), change);
  after_step();
  return objection;
}

Endpoint Service::address_of(MemberIndex member) const {
  if (const Seat* seat = member_->configuration().find(member);
      seat != nullptr && options_.is_elastic)
    return seat->endpoint;
  const auto& members = options_.transport.members;
  return member < members.size() ? members[member] : Endpoint{};
}

void Service::reload(const std::optional<Credentials>& credentials,
                     const std::vector<std::string>& revoked) {
  transport_->reload(credentials, revoked);
  options_.transport.credentials = credentials;
  watch_expiry();
}

milliseconds Service::lease_left() const {
  const Instant left = lease_.get().until - around_->now();
  return std::chrono::duration_cast<milliseconds>(std::max(left, Instant(0)));
}

void Service::on_message(MemberIndex from, std::span<const std::byte> bytes) {
  if (is_leaving_) return;
  const std::optional<Note> note = decode_note(bytes);
  if (!note) {
    ++malformed_;
    return on_log(fmt::format("member {} has sent a note that makes no sense", from));
  }
  const std::uint64_t disbelieved = view().disbelieved;
  member_->receive(around_->now(), from, *note);
  if (view().disbelieved > disbelieved && std::has_single_bit(disbelieved + 1)) {
    on_log(fmt::format("member {} speaks of term {}, far beyond what a majority has reached: its "
                       "promise may be damaged (conclave cluster repair)",
                       from, std::max(note->term, note->next)));
  }
  after_step();
}

void Service::on_unreachable(MemberIndex peer, std::string_view why) {
  on_log(fmt::format("member {} is unreachable: {}", peer, why));
  lose(peer);
}

void Service::on_restarted(MemberIndex peer) { lose(peer); }

// A process that is killed closes its connections. For the leader's this is reason to elect as soon
// as promises allow, unless it is heard of again; for others it means nothing yet.
void Service::on_disconnected(MemberIndex peer, std::string_view /*why*/) {
  if (peer == member_->view().leader) lose(peer);
}

void Service::on_log(std::string_view line) {
  if (!callbacks_.log) return;
  for (const std::string& each : log_limit_.take(around_->now(), line)) callbacks_.log(each);
}

void Service::lose(MemberIndex peer) {
  if (is_leaving_) return;
  member_->lose(around_->now(), peer);
  after_step();
}

// A promise is on the disk before anybody hears of it, and a lease that has been given up is known
// to all threads and to the caller before anybody else may have it.
void Service::after_step() {
  try {
    store();
  } catch (const std::exception& error) {
    is_leaving_ = true;
    lease_.set({.term = member_->view().term});
    if (callbacks_.failed) callbacks_.failed(error);
    return;
  }
  publish();
  meet();
  const bool has_lost_lease = known_.holds && !holds_lease();
  if (has_lost_lease) announce();
  for (const OutgoingNote& outgoing : member_->take_outgoing()) send(outgoing);
  arm();
  announce();
  report_recovery();
  report_replacements();
  leave_if_resigned();
  leave_if_removed();
  leave_if_replaced();
}

// A file that is written while this member waits proves nothing to the next start: it may be an
// old one that has been put back.
void Service::store() {
  if (!file_ || !member_->has_file()) return;
  MemberState state{.promise = member_->promise(), .configuration = {}, .table = member_->table()};
  if (options_.is_elastic) state.configuration = member_->configuration();
  const bool is_proof = !member_->view().is_waiting;
  if (state == file_->state() && is_proof == file_->is_proof()) return;
  const Instant start = around_->now();
  file_->store(state, is_proof);
  member_->note_sync(around_->now() - start);
}

// Says for whom this member waits, when that changes and once in a lease.
void Service::report_recovery() {
  const MemberView view = member_->view();
  const std::string name = to_string(view.incarnation);
  if (!view.is_waiting) {
    if (std::exchange(was_waiting_, false))
      on_log(fmt::format("admitted as incarnation {}: no promise up to term {}; taking part in {} "
                         "ms",
                         name, view.promised, member_->promise().lease.count()));
    return;
  }
  was_waiting_ = true;
  const std::vector<MemberIndex> members = member_->recorded_by();
  const std::string why = file_->has_existed() ? "the state file is not where it was written"
                                               : "the state file is missing";
  std::string sentence = fmt::format("waiting as incarnation {} ({}): recorded by members {}, {} "
                                     "others are needed",
                                     name, why, fmt::join(members, " "), view.needed);
  if (members.empty())
    sentence = fmt::format("waiting as incarnation {} ({}): {} other members must record it", name,
                           why, view.needed);
  if (view.is_blank)
    sentence = fmt::format("waiting for the list of members ({}) from a leader", why);
  if (view.needed == nobody)
    sentence = "waiting for ever: the only member of this cluster has lost its state file, and "
               "nobody else remembers (conclave cluster restore)";
  const Instant now = around_->now();
  if (sentence == last_wait_ && now < next_wait_report_) return;
  last_wait_ = sentence;
  next_wait_report_ = now + options_.timing.lease;
  on_log(sentence);
}

void Service::report_replacements() {
  for (const auto& [member, incarnation] : member_->table().entries()) {
    const Incarnation before = reported_.of(member);
    if (!reported_.raise(member, incarnation) || member == self()) continue;
    on_log(fmt::format("member {} runs as incarnation {} now: every process of it with incarnation "
                       "{} is refused",
                       member, to_string(incarnation), to_string(before)));
  }
}

// Its file is not to be trusted any more, since the other process has written another one.
void Service::leave_if_replaced() {
  if (is_leaving_ || !member_->view().is_outdated) return;
  const std::string sentence =
      fmt::format("another process of member {} has taken the place of this one (incarnation {})",
                  self(), to_string(member_->view().incarnation));
  if (file_) {
    try {
      file_->store(file_->state(), false);
    } catch (const std::system_error& error) {
      on_log(fmt::format("the state file cannot be marked as outdated: {}", error.what()));
    }
  }
  leave([this, sentence] {
    if (callbacks_.replaced) callbacks_.replaced(sentence);
  });
}

// The transport must know where to reach whom, before the first note goes there.
void Service::meet() {
  if (!options_.is_elastic) return;
  const auto& seats =
      member_->view().is_blank ? member_->rumours() : member_->configuration().seats;
  if (seats == met_) return;
  for (const Seat& seat : seats) {
    if (seat.member != self()) transport_->move_member(seat.member, seat.endpoint);
  }
  met_ = seats;
}

void Service::leave_if_removed() {
  if (is_leaving_ || !member_->view().is_dismissed) return;
  leave([this] {
    if (callbacks_.removed) callbacks_.removed();
  });
}

void Service::publish() {
  const MemberView view = member_->view();
  lease_.set({.term = view.term, .until = view.leads ? member_->lease_until() : Instant{}});
}

// A full queue is a peer that takes nothing.
void Service::send(const OutgoingNote& outgoing) {
  if (transport_->send(outgoing.to, encode(outgoing.note))) return;
  around_->post([this, alive = alive_, peer = outgoing.to] {
    if (*alive) lose(peer);
  });
}

// The timer does not count while the machine is asleep, so one that should have fired is set anew.
void Service::arm() {
  const Instant deadline = member_->deadline();
  if (timer_ != 0 && deadline == armed_for_ && around_->now() < deadline) return;
  around_->cancel(timer_);
  timer_ = 0;
  armed_for_ = deadline;
  if (deadline == Instant::max()) return;
  const Instant wait = std::max(deadline - around_->now(), Instant(0));
  timer_ = around_->after(wait, [this] {
    timer_ = 0;
    member_->pass(around_->now());
    after_step();
  });
}

void Service::announce() {
  const MemberView view = member_->view();
  const Known known{view.leader, view.term, holds_lease()};
  if (std::exchange(known_, known) == known) return;
  if (callbacks_.changed) callbacks_.changed();
}

}  // namespace conclave::election
