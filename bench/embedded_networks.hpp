// The networks of protocols/, as they stand there.
#pragma once

#include <string_view>

namespace conclave::bench {

extern const std::string_view approximate_majority;
extern const std::string_view cascade;
extern const std::string_view lotka_volterra;
extern const std::string_view rock_paper_scissors;

}  // namespace conclave::bench
