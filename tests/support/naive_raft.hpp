// Raft's election a second time, written from its description without the engine or the protocol: a
// list of events, searched for the earliest, and servers that are numbers in arrays. And the law of
// the same election with timeouts of whole units, computed from the numbers of servers alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "conclave/base/random.hpp"

namespace conclave::tests::naive {

struct RaftCase {
  std::size_t alive = 3;
  std::size_t down = 0;
  double low = 10;
  double spread = 10;
  bool has_random_delays = false;   // uniform on (0, 1); otherwise 1
  bool has_different_logs = false;  // server 0 has the shortest, the last one the longest
  bool restarts_on_vote = true;     // false: a mistake
};

struct RaftRun {
  double election_time = 0;
  std::size_t terms = 0;
  std::size_t messages = 0;
  bool is_first_split = false;
};

class Raft {
 public:
  Raft(const RaftCase& given, Stream& coins)
      : given_(given),
        coins_(coins),
        term_(given.alive),
        ballot_(given.alive, nobody),
        yes_(given.alive),
        deadline_(given.alive, never),
        last_arrival_(given.alive * given.alive) {}

  RaftRun run() {
    for (std::size_t server = 0; server < given_.alive; ++server) restart(server, 0);
    for (;;) {
      const auto letter = std::ranges::min_element(letters_, {}, &Letter::at);
      const auto server = std::ranges::min_element(deadline_);
      const double next_letter = letter == letters_.end() ? never : letter->at;
      if (next_letter == never && *server == never) return result();
      if (next_letter <= *server) {
        const Letter read = *letter;
        letters_.erase(letter);
        receive(read);
      } else {
        stand(static_cast<std::size_t>(server - deadline_.begin()), *server);
      }
    }
  }

 private:
  static constexpr std::size_t nobody = std::numeric_limits<std::size_t>::max();
  static constexpr double never = std::numeric_limits<double>::infinity();
  enum class Says : std::uint8_t { vote_for_me, yes, no, i_lead };
  struct Letter {
    double at;
    std::size_t from;
    std::size_t to;
    Says says;
    std::size_t term;
  };

  double fraction() { return static_cast<double>(coins_.word() >> 11) * 0x1p-53; }
  void restart(std::size_t server, double now) {
    deadline_[server] = now + given_.low + given_.spread * fraction();
  }

  void write(double now, std::size_t from, std::size_t to, Says says, std::size_t term) {
    double& last = last_arrival_[from * given_.alive + to];
    last = std::max(last, now + (given_.has_random_delays ? fraction() : 1.0));
    letters_.push_back({last, from, to, says, term});
    ++messages_;
  }
  void write_all(double now, std::size_t from, Says says) {
    for (std::size_t to = 0; to < given_.alive; ++to) {
      if (to != from) write(now, from, to, says, term_[from]);
    }
  }

  void stand(std::size_t server, double now) {
    const std::size_t term = ++term_[server];
    ballot_[server] = server;
    yes_[server] = 1;
    if (winner_.size() < term) winner_.resize(term, nobody);
    restart(server, now);
    write_all(now, server, Says::vote_for_me);
  }

  void receive(const Letter& letter) {
    const auto [now, from, me, says, term] = letter;
    const bool is_idle = deadline_[me] == never;
    if (term > term_[me]) {
      term_[me] = term;
      ballot_[me] = nobody;
      if (is_idle) restart(me, now);
    }
    if (says == Says::vote_for_me) return vote(letter);
    if (term != term_[me]) return;
    if (says == Says::i_lead) deadline_[me] = never;
    const bool is_candidate = ballot_[me] == me && winner_[term - 1] == nobody;
    if (says == Says::yes && is_candidate && ++yes_[me] == majority()) win(me, now);
  }

  void vote(const Letter& letter) {
    const std::size_t me = letter.to;
    const bool is_behind = given_.has_different_logs && letter.from < me;
    const bool is_given = letter.term == term_[me] && ballot_[me] == nobody && !is_behind;
    if (is_given) ballot_[me] = letter.from;
    if (is_given && given_.restarts_on_vote) restart(me, letter.at);
    write(letter.at, me, letter.from, is_given ? Says::yes : Says::no, term_[me]);
  }

  void win(std::size_t server, double now) {
    winner_[term_[server] - 1] = server;
    if (election_time_ == 0) election_time_ = now;
    deadline_[server] = never;
    write_all(now, server, Says::i_lead);
  }

  std::size_t majority() const { return (given_.alive + given_.down) / 2 + 1; }
  RaftRun result() const {
    return {election_time_, winner_.size(), messages_, winner_.front() == nobody};
  }

  const RaftCase& given_;
  Stream& coins_;
  std::vector<std::size_t> term_;
  std::vector<std::size_t> ballot_;  // in this term
  std::vector<std::size_t> yes_;
  std::vector<double> deadline_;
  std::vector<double> last_arrival_;
  std::vector<Letter> letters_;
  std::vector<std::size_t> winner_;  // by term
  std::size_t messages_ = 0;
  double election_time_ = 0;
};

// The law of an election whose timeouts are low + 0, 1, ..., spread - 1 units, each equally likely,
// where every message takes a unit and requests of the same time arrive in the same order
// everywhere. All that matters is how many servers have stood in the term before: their timers were
// set one unit before those of the voters.
class TickLaw {
 public:
  TickLaw(std::size_t alive, std::size_t down, std::size_t low, std::size_t spread)
      : alive_(alive), majority_((alive + down) / 2 + 1), low_(low), spread_(spread) {}

  // With `stood` servers whose timers run since 0 and the others' since 1, the probability that the
  // first timers run out at `time`, and that they are `count`.
  double first(std::size_t stood, std::size_t time, std::size_t count) const {
    double sum = 0;
    for (std::size_t i = 0; i <= std::min(stood, count); ++i) {
      if (count - i > alive_ - stood) continue;
      sum += of_group(stood, i, time, 0) * of_group(alive_ - stood, count - i, time, 1);
    }
    return sum;
  }

  bool wins(std::size_t candidates) const { return alive_ - candidates + 1 >= majority_; }

  double first_split() const {
    double sum = 0;
    for_each_first(alive_,
                   [&](std::size_t, std::size_t count, double p) { sum += wins(count) ? 0 : p; });
    return sum;
  }
  double first_conflict() const {
    double sum = 0;
    for_each_first(alive_,
                   [&](std::size_t, std::size_t count, double p) { sum += count > 1 ? p : 0; });
    return sum;
  }

  // P(election time = t) for t = 0 ... longest.
  std::vector<double> times(std::size_t longest) const {
    std::vector<double> law(longest + 1);
    std::vector<std::vector<double>> begins(longest + 1, std::vector<double>(alive_ + 1));
    begins[0][alive_] = 1;
    for (std::size_t now = 0; now <= longest; ++now) {
      for (std::size_t stood = 1; stood <= alive_; ++stood) {
        const double weight = begins[now][stood];
        if (weight == 0) continue;
        for_each_first(stood, [&](std::size_t time, std::size_t count, double p) {
          if (wins(count) && now + time + 2 <= longest) law[now + time + 2] += weight * p;
          if (!wins(count) && now + time <= longest) begins[now + time][count] += weight * p;
        });
      }
    }
    return law;
  }

 private:
  // `count` of a group's timers run out at `time`, the others later.
  double of_group(std::size_t size, std::size_t count, std::size_t time, std::size_t since) const {
    const std::size_t begin = low_ + since;
    const std::size_t passed = time < begin ? 0 : std::min(time - begin + 1, spread_);
    const double later = static_cast<double>(spread_ - passed) / static_cast<double>(spread_);
    const bool can_fire = time >= begin && time < begin + spread_;
    double p = can_fire || count == 0 ? 1 : 0;
    for (std::size_t i = 0; i < count; ++i) {
      p *= static_cast<double>(size - i) / static_cast<double>((i + 1) * spread_);
    }
    for (std::size_t i = count; i < size; ++i) p *= later;
    return p;
  }

  void for_each_first(std::size_t stood, const auto& visit) const {
    for (std::size_t time = low_; time <= low_ + spread_; ++time) {
      for (std::size_t count = 1; count <= alive_; ++count) {
        const double p = first(stood, time, count);
        if (p > 0) visit(time, count, p);
      }
    }
  }

  std::size_t alive_;
  std::size_t majority_;
  std::size_t low_;
  std::size_t spread_;
};

}  // namespace conclave::tests::naive
