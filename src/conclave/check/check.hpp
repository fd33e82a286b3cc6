// conclave-check: accepts a certificate of `conclave prove`, or says why not. It shares with the
// prover the reader of protocol files (src/conclave/text) and nothing else: it rebuilds every
// obligation itself and asks a solver, a process of its own, which must answer "unsat" to each.
// Nothing of a certificate but numbers reaches the solver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "conclave/base/json.hpp"

namespace conclave::check {

// Thrown with one sentence on what is wrong with a certificate.
struct Rejected : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws Rejected with this sentence unless the condition holds.
inline void require(bool condition, std::string_view sentence) {
  if (!condition) throw Rejected(std::string(sentence));
}

// The member of an object, which must be there.
const Json& member(const Json& object, std::string_view name);
// A whole number from 0 up to `most`; a text.
std::uint64_t count(const Json& value, std::uint64_t most);
const std::string& word(const Json& value);

// A solver that reads SMT-LIB 2 text on its standard input: "cvc5" or "z3", found in PATH and
// started without a shell.
class SolverProcess {
 public:
  // Throws Error where it cannot be started.
  explicit SolverProcess(const std::string& name);
  SolverProcess(const SolverProcess&) = delete;
  SolverProcess& operator=(const SolverProcess&) = delete;
  ~SolverProcess();

  void send(std::string_view commands);
  // Throws Rejected with the name of the obligation unless the formula, with all that was asserted
  // before, has no solution.
  void refute(std::string_view formula, std::string_view obligation);
  std::size_t queries() const { return queries_; }

 private:
  std::string answer();

  int child_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string name_;
  std::string unread_;
  std::size_t queries_ = 0;
};

// Check a certificate of their kind, and return in one line what is proved. Throw Rejected.
std::string check_counts(const Json& certificate, SolverProcess& solver);
std::string check_pairs(const Json& certificate, SolverProcess& solver);

}  // namespace conclave::check
