// The columns that rows of message passing have in place of interactions and parallel time.
#pragma once

#include <string>

#include "conclave/catalog/catalog.hpp"
#include "conclave/model/trial.hpp"

namespace conclave::experiment {

// JSON members from "ids" to the wake-ups, and the problem if it is not election, with a comma
// before each; CSV fields likewise.
std::string network_json_head(const catalog::NetworkSetting& setting);
std::string network_csv_head(const catalog::NetworkSetting& setting);
std::string network_csv_head_names(const catalog::NetworkSetting& setting);

// JSON members from "messages" on; CSV fields likewise.
std::string network_json(const TrialResult& result);
std::string network_csv(const TrialResult& result);
std::string network_csv_names(const catalog::NetworkSetting& setting);

// A trace: one line per event.
std::string network_trace_header();
std::string network_trace(std::uint64_t trial, const NetworkOutcome& outcome);

}  // namespace conclave::experiment
