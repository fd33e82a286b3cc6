// Plain lists of rules (x.rules), as other tools write them, read as protocol texts.
#pragma once

#include "conclave/text/syntax.hpp"

namespace conclave::text {

// Lines that name the same two states add up: `a,b -> a,a : 1/2` and `a,b -> b,b : 1/2` are one
// rule with two outcomes; a line about both orders stands for two. Unless the text declares its
// states, they are those that the rules name, in the order of their first appearance.
void complete_rule_list(Document& document);

}  // namespace conclave::text
