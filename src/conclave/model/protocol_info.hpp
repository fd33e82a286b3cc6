// What a protocol says about itself: the text behind `conclave list` and `conclave describe`.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace conclave {

// A named initial configuration.
struct Start {
  std::string_view name;
  std::string_view meaning;
};

struct Variable {
  std::string_view name;
  std::string_view domain;
  std::string_view meaning;
};

// A named quantity reported with every trial.
struct Observable {
  std::string_view name;
  std::string_view meaning;
};

// Where the paper's text and the reading implemented here differ, or where it is easily misread.
struct Erratum {
  std::string_view id;
  std::string_view place;
  std::string_view remark;
};

struct ProtocolInfo {
  std::string_view name;
  std::string_view title;        // one line: what it does
  std::string_view paper;        // authors, title, venue
  std::string_view network;      // who can meet whom
  std::string_view convergence;  // the event whose time is reported
  std::string_view bound;        // the paper's bound on that time
  std::string_view states;       // states per agent, as a formula
  std::uint64_t demo_n;          // a size that elects within some seconds
  std::span<const Variable> variables;
  std::span<const Observable> observables;
  std::span<const Erratum> errata;
};

}  // namespace conclave
