#!/usr/bin/env python3
"""Writes copies of sources of election/ in which one guard at a time can be switched off.

    break_members.py SOURCE_FOLDER OUTPUT_FOLDER

Each mutant is what it does, a piece of the source in which the guard stands between {{ and }}, what
takes the guard's place while the mutant is chosen, and whether troubled clusters show it. The piece
must occur once. `mutants.hpp`, written beside the copies, lists the mutants and holds the choice.
"""
import sys
from pathlib import Path

CHANGES = "changes"  # only where the list of members changes
TWINS = "twins"  # only where members have a second process, on a copy of the file or without one

MUTANTS = [
    ("seats a member that has not answered",
     "if (!wanted_ || {{awaits_learner()}}) return;",
     "false", CHANGES),
    ("answers questions of an older term",
     "if ({{note.term < term_}}) {\n    if (asks)",
     "note.term < term_ && !asks", True),
    ("takes answers of an older term",
     "if ({{note.term < term_}}) {\n    if (asks)",
     "note.term < term_ && asks", True),
    ("leaves no margin for drift",
     "const double share = {{(1 - drift) / (1 + drift)}};",
     "1.0", True),
    ("counts a renewed lease from the answer",
     "now - since);\n  support(now, from, {{since}}, promised);",
     "now", True),
    ("counts the first lease from the answer",
     "support(now, from, {{*claimed_at_}}, promised);",
     "now", True),
    ("takes half for a majority, which is that of the list before it grew",
     "static_cast<std::ptrdiff_t>({{configuration.majority()}} - 1);",
     "(configuration.seats.size() + 1) / 2", True),
    ("forgets its promise in a restart",
     "promise_({{options.remembered}}),",
     "Promise{}", True),
    ("promises at once after a restart",
     "if ({{options.may_have_promised}}) promised_until_",
     "false", True),
    ("promises at once where nothing is remembered",
     " promised_until_ = {{now + last_lease}};",
     "options.remembered.term > 0 ? now + last_lease : now", False),
    ("waits by its own lease after a restart, not by that of its promise",
     "options.remembered.term > 0 ? {{options.remembered.lease}} : options.timing.lease;",
     "options.timing.lease", True),
    ("claims without a promise of its own",
     "} else if ({{promise_.term < term_}}) {",
     "false", True),
    ("forgets with its claim how long an older promise lasts",
     "std::max({{promise_.lease}}, options_.timing.lease)};",
     "milliseconds(0)", False),
    ("promises twice in a term",
     "claim.term == promise_.term && {{promise_.to != to}}",
     "false", True),
    ("promises in an older term",
     "if ({{claim.term < promise_.term}}) return false;",
     "false", False),
    ("breaks a running promise",
     "return {{now >= promised_until_ || is_bound_to_it}};",
     "true", True),
    ("ends a promise early",
     "promised_until_ = {{now + options_.timing.lease}};\n  return true;",
     "now + options_.timing.lease / 2", True),
    ("leads beyond its lease",
     "return is_confirmed_ && {{now < lease_until_}};",
     "true", True),
    ("leads on in the next term",
     "is_confirmed_ = {{false}};\n  claimed_at_.reset();",
     "is_confirmed_", True),
    ("takes support along into the next term",
     "is_probed = false;\n    peer.supports_until = {{Instant{}}};",
     "peer.supports_until", False),
    ("counts promises of another term",
     "if (!is_claimant() || {{note.term != term_}}) return;",
     "false", False),
    ("counts promises to an older claim",
     "if ({{since < *claimed_at_ || since > renewed_at_}}) return;",
     "false", False),
    ("counts promises to another rank",
     "if ({{note.stamp == node_.rank}}) support",
     "true", False),
    ("goes on acting when it has resigned",
     "{{leave_election()}};\n  retired_ = term_;",
     "void()", True),
    ("claims again in a term in which it has resigned",
     "note.next <= {{std::max(term_, retired_)}}) return;",
     "term_", False),
    ("ends promises to others than the one that has resigned",
     "if ({{bound_to_ == from && promise_.term <= note.term && is_same_process}})",
     "promise_.term <= note.term", False),
    ("ends promises of newer terms than that of the resignation",
     "if ({{bound_to_ == from && promise_.term <= note.term && is_same_process}})",
     "bound_to_ == from && is_same_process", False),
    ("ends promises to another process than the one that has resigned",
     "if ({{bound_to_ == from && promise_.term <= note.term && is_same_process}})",
     "bound_to_ == from && promise_.term <= note.term", False),
    ("counts the lease of an heir from the news of the handover",
     "const Instant since = {{was_ready ? *prepared_at_ : now}};",
     "now", False),
    ("believes any term",
     "bool Member::is_believable(Term term) const { return {{term <= confirmed_ + term_leap}}; }",
     "true", False),
    ("believes a list of any term",
     "if ({{!is_blank() && !believes(from, note.configuration.term)}}) return",
     "false", False),
    ("believes a term of which half have spoken",
     "terms.begin() + {{(majority() - 1)}};",
     "(majority() - 2)", False),
    ("goes back to a leader of an older term",
     "if ({{note.term < led_}}) return refuse(from);",
     "false", True),
    ("believes what it is told of a leader of an older term",
     "names_leader && {{note.term >= led_}}",
     "true", True),
    ("leads on below a term that has been led",
     "if ({{is_confirmed_ && has_known_newer}} &&",
     "false", False),
    ("supports a claimant with an older list",
     "if ({{!claim.configuration.is_at_least(config_.stamp)}}) return false;",
     "false", CHANGES),
    ("changes the list while the last change is not settled",
     "    renew(now);\n  }\n  if ({{!is_committed()}}) return;",
     "false", CHANGES),
    ("changes the list before a majority has confirmed it in this term",
     "config_.stamp.term = term_;\n    {{renew(now)}};",
     "static_cast<void>(std::ranges::for_each(peers_, [&](Peer& peer) { "
     "if (peer.stamp.has_list_of(config_.stamp)) peer.stamp = config_.stamp; }))", False),
    ("settles a change with less than a majority",
     "count_if(config_.seats, has_it) >= {{majority()}};",
     "std::ptrdiff_t{1}", CHANGES),
    ("shortens a lease that was told of by a change",
     "if ({{supported_until(next) < lease_until_}}) return;",
     "false", False),
    ("takes part without having been told the list",
     "is_waiting_({{options.recovers || options.is_blank}}),",
     "options.recovers && !options.is_blank", False),
    ("takes the list of a leader it has not promised to",
     "if ({{promise_.term != note.term || !supports_no_other}}) return;",
     "false", False),
    ("promises while it waits",
     "if ({{is_waiting_}}) return answer_waiting(from, note);",
     "false", False),
    ("recovers from one other member less",
     "return std::min({{majority()}}, std::max<MemberIndex>(n(), 1) - 1);",
     "majority() - 1", False),
    ("does not take over what others have promised",
     "floor = std::max(floor, {{answer.promised}});",
     "Term{0}", False),
    ("forgets the promise of its own file when it recovers",
     "if ({{floor > promise_.term}}) promise_ =",
     "true", False),
    ("waits for a lease from its start",
     "promised_until_ = claims_after_ = {{now + lease}};",
     "std::max(promised_until_, now)", False),
    ("does not wait after its admission",
     "promised_until_ = claims_after_ = {{now + lease}};",
     "now", False),
    ("claims in the lease after its admission",
     "if ({{now < claims_after_}}) {",
     "false", False),
    ("promises to a claimant with another table",
     "if ({{claim.table != fingerprint_}}) return false;",
     "false", False),
    ("counts promises of members with another table",
     "if ({{note.table != fingerprint_}}) return;",
     "false", False),
    ("adds up promises of different tables",
     "peer.supports_until = {{Instant{}}};\n  renew(now);",
     "peer.supports_until", False),
    ("takes two processes of a member for one claimant",
     "bound_to_ == to && {{bound_incarnation_ == table_.of(to)}};",
     "true", False),
    ("counts answers that do not fit",
     "if (!answer || {{answer->own != table_.of(member)}}) return false;",
     "false", False),
    ("answers without a file",
     "note.kind == NoteKind::recover) && {{has_file()}})",
     "true", False),
    ("counts answers of those that wait without a file of its own",
     "if ({{!answer->takes_part && !options_.has_file}}) return false;",
     "false", False),
    ("goes on when another process has taken its place",
     "is_outdated_ = {{!is_waiting_}};",
     "false", False),
    # Mistakes of the service and its file, which clusters alone find.
    ("takes a lost file for a sound one",
     ".recovers = {{file && !is_in_place && !options.is_first_start}},",
     "file && file->has_existed() && !is_in_place", TWINS),
    ("believes a file that was copied or put back",
     "return {{has_births && is_same_machine && same == written && newest != 0 && "
     "count >= newest}};",
     "true", TWINS),
    ("puts a file in place before its contents are on the disk",
     "{{file->sync()}};\n    disk_->rename(fresh, path_);",
     "void()", True),
    ("announces a promise whose name is not on the disk",
     "{{folder_->sync()}};\n  lock_->overwrite",
     "void()", True),
    ("starts a term again",
     "enter(now, {{std::max(term_, newest_)}} + 1);",
     "term_", False),
]

HEADER = """#pragma once

#include <array>
#include <cstddef>

namespace conclave::election::testing {

struct Mutant {
  const char* name;
  bool shows_in_clusters;
  bool shows_in_changes;
  bool shows_in_twins;
  bool is_of_member;
};

inline constexpr std::array mutants{%s
};
inline constexpr std::size_t no_mutant = mutants.size();
inline std::size_t chosen_mutant = no_mutant;

}  // namespace conclave::election::testing
"""


def parts(piece):
    before, rest = piece.split("{{", 1)
    guard, after = rest.rsplit("}}", 1)
    return before, guard, after


def broken(texts):
    """The texts with all mutants in them; several may share a guard."""
    sites = {}
    for index, (name, piece, other, _) in enumerate(MUTANTS):
        sites.setdefault(piece, []).append((index, name, other))
    for piece, mutants in sites.items():
        before, guard, after = parts(piece)
        original = before + guard + after
        places = [file for file in texts for _ in range(texts[file].count(original))]
        if len(places) != 1:
            sys.exit(f"mutant '{mutants[0][1]}': its place is found {len(places)} times, not once")
        choice = f"({guard})"
        for index, _, other in mutants:
            choice = f"(testing::chosen_mutant == {index} ? ({other}) : {choice})"
        texts[places[0]] = texts[places[0]].replace(original, before + choice + after)
    return texts


def main():
    source, output = map(Path, sys.argv[1:])
    files = ["member.hpp", "member.cpp", "service.cpp", "promise_file.cpp"]
    sound = {file: (source / file).read_text() for file in files}
    of_member = [any("".join(parts(piece)) in sound[file] for file in files[:2])
                 for _, piece, _, _ in MUTANTS]
    texts = broken(sound)
    flags = [(shows is True, shows == CHANGES, shows == TWINS, is_of_member)
             for (_, _, _, shows), is_of_member in zip(MUTANTS, of_member)]
    rows = [f'\n    Mutant{{"{name}", {", ".join(str(flag).lower() for flag in row)}}},'
            for (name, _, _, _), row in zip(MUTANTS, flags)]
    texts["mutants.hpp"] = HEADER % "".join(rows)
    texts["member.hpp"] = texts["member.hpp"].replace(
        "#pragma once\n", '#pragma once\n#include "election/mutants.hpp"\n', 1)
    output.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        (output / file).write_text(text)


if __name__ == "__main__":
    main()
