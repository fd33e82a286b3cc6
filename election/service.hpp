// A member at work: the pure `Member` on real sockets, clock and disk. It lives on a loop, on which
// many may live.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "election/log_limit.hpp"
#include "election/member.hpp"
#include "election/promise_file.hpp"
#include "election/surroundings.hpp"
#include "election/transport.hpp"

namespace conclave::election {

struct ServiceOptions {
  TransportOptions transport;
  Timing timing{};
  // Where the member's state survives a restart. It must have been made with the cluster
  // (write_founding_file below): a file that is missing, or that is not provably the one that the
  // last process of this member left, is recovered from other members before this one takes part.
  // Empty: nowhere; then it is the caller's duty that there is one process of this member at a
  // time, and a start may lead in a term in which an earlier one has led.
  std::string state_file{};
  bool always_recovers = false;  // trusts no file, wherever it lies
  std::uint64_t identity = 0;    // of the cluster; members with another one are refused
  // The caller knows that no process has ever been this member of this cluster, for example because
  // it has just invented the cluster: then there is nothing to wait for. Never true for a member
  // that an operator or a supervisor may start again.
  bool is_first_start = false;
  // The list of members may change while the cluster runs. Then the state file holds it, and must
  // have been made with the cluster; a member without its file asks those of transport.members
  // until a leader sends it the list.
  bool is_elastic = false;
  std::optional<std::uint64_t> seed{};  // none: the operating system's randomness
};

// Whose promises the state file of such a member holds.
PromiseOwner promise_owner(const ServiceOptions& options);

// Writes the state file of a member of a new cluster, before its first start and any promise:
// nothing but the founding of a cluster begins without a memory. Throws Error if there is one.
void write_founding_file(const ServiceOptions& options, Disk& disk = posix_disk());

// Throws Error unless these times make sense together.
void check_timing(const Timing& timing);

// A term and how long its leader may act, by the clock of Service::now().
struct Lease {
  Term term = 0;
  Instant until{};  // 0: this member does not lead

  bool holds(Instant now) const { return now < until; }
};

// The lease of a member, for queries from other threads. The loop's thread writes it, before any
// note that follows from the change leaves the process; whoever asks compares it with the clock at
// that moment, so an answer is right also while the loop is late or has been stopped. A lock,
// because term and end must belong together; it is held for the time of a copy.
class SharedLease {
 public:
  void set(const Lease& lease) {
    const std::lock_guard lock(mutex_);
    lease_ = lease;
  }
  Lease get() const {
    const std::lock_guard lock(mutex_);
    return lease_;
  }

 private:
  mutable std::mutex mutex_;
  Lease lease_;
};

class Service final : public TransportEvents {
 public:
  // Called from the loop.
  struct Callbacks {
    std::function<void()> changed{};                      // leader, term or lease
    std::function<void(std::string_view line)> log{};     // for people
    std::function<void(std::string_view line)> warn{};    // of what ends the service if it goes on
    std::function<void(const std::exception&)> failed{};  // the promise cannot be stored
    std::function<void()> removed{};  // this member has no seat any more, and has ended
    std::function<void(std::string_view why)> replaced{};  // another process is this member now
  };

  // Listens at once; what arrives is handled when the loop runs. Throws Error. The first is defined
  // beside the surroundings on a loop, which tests of a service in others do without.
  Service(Loop& loop, ServiceOptions options, Callbacks callbacks);
  Service(std::unique_ptr<Surroundings> around, ServiceOptions options, Callbacks callbacks);
  ~Service() override;
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // As Member::wake does: starts an election unless there is one or a leader. From the loop only.
  void wake();
  // Hands leadership over to another member and stays; nothing happens where it does not lead.
  // Leads on until the heir is ready, timing.renewal at most; `changed` is called before any other
  // member hears that it has resigned.
  void resign();
  // Sends what is still to be sent, leaves and calls back. A leader leaves at once: the others
  // elect when its lease is over.
  void leave(std::function<void()> left);
  // Changes the list of an elastic cluster, if this member leads. Empty: it has begun, and is done
  // when configuration() has the change and is_settled(); otherwise why not.
  std::string change(const Change& change);
  // The same after handing over.
  void resign_and_leave(std::function<void()> left);

  // Other credentials from now on, and certificates that are no longer accepted, by serial number:
  // see Transport. Throws Error and changes nothing where they are bad.
  void reload(const std::optional<Credentials>& credentials,
              const std::vector<std::string>& revoked);

  const std::string& cluster() const { return options_.transport.cluster; }
  MemberIndex self() const { return options_.transport.self; }
  bool is_elastic() const { return options_.is_elastic; }
  const Configuration& configuration() const { return member_->configuration(); }
  bool is_settled() const { return member_->is_settled(); }
  std::size_t members() const { return member_->configuration().seats.size(); }
  Endpoint address_of(MemberIndex member) const;  // without a host where it is not known
  MemberView view() const { return member_->view(); }
  // These three may be called from any thread, also while the loop runs.
  bool holds_lease() const { return lease_.get().holds(now()); }
  milliseconds lease_left() const;  // rounded down; 0 unless it holds the lease
  Lease lease() const { return lease_.get(); }
  const NoteCounts& sent() const { return member_->sent(); }
  const TransportCounters& counters() const { return transport_->counters(); }
  std::uint64_t malformed() const { return malformed_; }
  const IncarnationTable& table() const { return member_->table(); }
  std::vector<MemberIndex> recorded_by() const { return member_->recorded_by(); }
  // When its certificate or its authority's expires; nothing without TLS.
  std::optional<std::chrono::system_clock::time_point> expiry() const { return expiry_; }
  bool was_file_missing() const { return file_ && !file_->has_existed(); }
  std::uint16_t port() const { return transport_->port(); }

  const Member& member() const { return *member_; }
  Instant now() const { return around_->now(); }  // from any thread

 private:
  // The state whose changes callers are notified of.
  struct Known {
    MemberIndex leader = nobody;
    Term term = 0;
    bool holds = false;

    friend bool operator==(const Known&, const Known&) = default;
  };

  void on_message(MemberIndex from, std::span<const std::byte> bytes) override;
  void on_unreachable(MemberIndex peer, std::string_view why) override;
  void on_restarted(MemberIndex peer) override;
  void on_disconnected(MemberIndex peer, std::string_view why) override;
  void on_log(std::string_view line) override;

  void open_file();
  void lose(MemberIndex peer);
  void after_step();
  void send(const OutgoingNote& outgoing);
  void arm();
  void announce();
  void publish();
  void store();
  void meet();
  void leave_if_removed();
  void leave_if_replaced();
  void report_recovery();
  void report_replacements();
  void leave_if_resigned();
  void watch_expiry();

  std::unique_ptr<Surroundings> around_;
  ServiceOptions options_;
  Callbacks callbacks_;
  std::optional<PromiseFile> file_;
  std::unique_ptr<Member> member_;
  std::unique_ptr<Messenger> transport_;
  Surroundings::TimerId timer_ = 0;
  Surroundings::TimerId daily_ = 0;
  std::optional<std::chrono::system_clock::time_point> expiry_;
  LogLimit log_limit_;
  Instant armed_for_{};  // when the timer fires, if there is one
  Known known_;
  std::vector<Seat> met_;  // addresses that the transport knows
  SharedLease lease_;
  std::function<void()> left_;  // to be called when it has resigned and left
  bool is_leaving_ = false;
  std::uint64_t malformed_ = 0;
  bool was_waiting_ = false;
  std::string last_wait_;  // the last sentence about what this member waits for
  Instant next_wait_report_{};
  IncarnationTable reported_;    // incarnations of others, as last reported
  std::shared_ptr<bool> alive_;  // shared with calls posted to the loop, which may come too late
};

}  // namespace conclave::election
