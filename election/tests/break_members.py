#!/usr/bin/env python3
"""Writes copies of sources of election/ in which one guard at a time can be switched off.

    break_members.py SOURCE_FOLDER OUTPUT_FOLDER

Each mutant is what it does, a piece of the source in which the guard stands between {{ and }}, what
takes the guard's place while the mutant is chosen, and, where no cluster shows it, the reason. The
piece must occur once. `mutants.hpp`, written beside the copies, lists the mutants and holds the
choice.
"""
import sys
from pathlib import Path

RARE = "rare: none of the first 3000 clusters of each kind"

MUTANTS = [
    ("seats a member that has not answered",
     "if (!wanted_ || {{awaits_learner()}}) return;",
     "false", ""),
    ("answers questions of an older term",
     "if ({{note.term < term_}}) {\n    if (asks)",
     "note.term < term_ && !asks", ""),
    ("takes answers of an older term",
     "if ({{note.term < term_}}) {\n    if (asks)",
     "note.term < term_ && asks", ""),
    ("leaves no margin for drift",
     "const double share = {{(1 - drift) / (1 + drift)}};",
     "1.0", ""),
    ("counts a renewed lease from the answer",
     "now - since);\n  support(now, from, {{since}}, promised);",
     "now", ""),
    ("counts the first lease from the answer",
     "support(now, from, {{*claimed_at_}}, promised);",
     "now", ""),
    ("takes half for a majority, which is that of the list before it grew",
     "static_cast<std::ptrdiff_t>({{configuration.majority()}} - 1);",
     "(configuration.seats.size() + 1) / 2", ""),
    ("forgets its promise in a restart",
     "promise_({{options.remembered}}),",
     "Promise{}", ""),
    ("promises at once after a restart",
     "if ({{options.may_have_promised}}) promised_until_",
     "false", ""),
    ("promises at once where nothing is remembered",
     " promised_until_ = {{now + last_lease}};",
     "options.remembered.term > 0 ? now + last_lease : now",
     "who has no file recovers, and waits then"),
    ("waits by its own lease after a restart, not by that of its promise",
     "options.remembered.term > 0 ? {{options.remembered.lease}} : options.timing.lease;",
     "options.timing.lease", ""),
    ("claims without a promise of its own",
     "} else if ({{promise_.term < term_}}) {",
     "false", ""),
    ("forgets with its claim how long an older promise lasts",
     "std::max({{promise_.lease}}, options_.timing.lease)};",
     "milliseconds(0)", RARE),
    ("promises twice in a term",
     "claim.term == promise_.term && {{promise_.to != to}}",
     "false", ""),
    ("promises in an older term",
     "if ({{claim.term < promise_.term}}) return false;",
     "false",
     "only late renewals of a leader get so far, and its lease is over then"),
    ("breaks a running promise",
     "return {{now >= promised_until_ || is_bound_to_it}};",
     "true", ""),
    ("ends a promise early",
     "promised_until_ = {{now + options_.timing.lease}};\n  return true;",
     "now + options_.timing.lease / 2", ""),
    ("leads beyond its lease",
     "return is_confirmed_ && {{now < lease_until_}};",
     "true", ""),
    ("leads on in the next term",
     "is_confirmed_ = {{false}};\n  claimed_at_.reset();",
     "is_confirmed_", ""),
    ("takes support along into the next term",
     "is_probed = false;\n    peer.supports_until = {{Instant{}}};",
     "peer.supports_until", RARE),
    ("counts promises of another term",
     "if (!is_claimant() || {{note.term != term_}}) return;",
     "false",
     "they answer an older claim"),
    ("counts promises to an older claim",
     "if ({{since < *claimed_at_ || since > renewed_at_}}) return;",
     "false",
     "they are of another term"),
    ("counts promises to another rank",
     "if ({{note.stamp == node_.rank}}) support",
     "true",
     "a term has one claim of a member, with one rank"),
    ("goes on acting when it has resigned",
     "{{leave_election()}};\n  retired_ = term_;",
     "void()", ""),
    ("claims again in a term in which it has resigned",
     "note.next <= {{std::max(term_, retired_)}}) return;",
     "term_",
     "it follows nobody below the newest term that has been led"),
    ("ends promises to others than the one that has resigned",
     "if ({{bound_to_ == from && promise_.term <= note.term && is_same_process}})",
     "promise_.term <= note.term",
     "a promise to another is of a newer term, or its majority is gone"),
    ("ends promises of newer terms than that of the resignation",
     "if ({{bound_to_ == from && promise_.term <= note.term && is_same_process}})",
     "bound_to_ == from && is_same_process",
     "who hears from a leader supports no other"),
    ("ends promises to another process than the one that has resigned",
     "if ({{bound_to_ == from && promise_.term <= note.term && is_same_process}})",
     "bound_to_ == from && promise_.term <= note.term",
     "its successor leads in newer terms only"),
    ("counts the lease of an heir from the news of the handover",
     "const Instant since = {{was_ready ? *prepared_at_ : now}};",
     "now",
     "promises to it name the moment before, and do not count then"),
    ("believes any term",
     "bool Member::is_believable(Term term) const { return {{term <= confirmed_ + term_leap}}; }",
     "true", ""),
    ("believes a list of any term",
     "if ({{!is_blank() && !believes(from, note.configuration.term)}}) return",
     "false", ""),
    ("believes a term of which half have spoken",
     "terms.begin() + {{(majority() - 1)}};",
     "(majority() - 2)", ""),
    ("goes back to a leader of an older term",
     "if ({{note.term < led_}}) return refuse(from);",
     "false", ""),
    ("believes what it is told of a leader of an older term",
     "names_leader && {{note.term >= led_}}",
     "true", ""),
    ("leads on below a term that has been led",
     "if ({{is_confirmed_ && has_known_newer}} &&",
     "false",
     "takes a majority that has lost its files"),
    ("supports a claimant with an older list",
     "if ({{!claim.configuration.is_at_least(config_.stamp)}}) return false;",
     "false", RARE),
    ("changes the list while the last change is not settled",
     "    renew(now);\n  }\n  if ({{!is_committed()}}) return;",
     "false", ""),
    ("changes the list before a majority has confirmed it in this term",
     "config_.stamp.term = term_;\n    {{renew(now)}};",
     "static_cast<void>(std::ranges::for_each(peers_, [&](Peer& peer) { "
     "if (peer.stamp.has_list_of(config_.stamp)) peer.stamp = config_.stamp; }))", RARE),
    ("does not confirm the list that it has found when it leads",
     "if ({{!is_stamped}}) {",
     "!is_stamped && wanted_", ""),
    ("begins a change that leaves too few that support it",
     "if ({{supported_until(changed(config_, change)) <= now}})",
     "false", "the change waits for that support"),
    ("settles a change with less than a majority",
     "count_if(config_.seats, has_it) >= {{majority()}};",
     "std::ptrdiff_t{1}", ""),
    ("shortens a lease that was told of by a change",
     "if ({{supported_until(next) < lease_until_}}) return;",
     "false", ""),
    ("takes part without having been told the list",
     "is_waiting_({{options.recovers || options.is_blank}}),",
     "options.recovers && !options.is_blank", ""),
    ("takes the list of a leader it has not promised to",
     "if ({{promise_.term != note.term || !supports_no_other}}) return;",
     "false", RARE),
    ("promises while it waits",
     "if ({{is_waiting_}}) return answer_waiting(from, note);",
     "false", ""),
    ("recovers from one other member less",
     "return std::min({{majority()}}, std::max<MemberIndex>(n(), 1) - 1);",
     "majority() - 1", ""),
    ("does not take over what others have promised",
     "floor = std::max(floor, {{answer.promised}});",
     "Term{0}", ""),
    ("forgets the promise of its own file when it recovers",
     "if ({{floor > promise_.term}}) promise_ =",
     "true",
     "the terms that it leaves out begin at its own promise in any case"),
    ("waits for a lease from its start",
     "promised_until_ = claims_after_ = {{now + lease}};",
     "std::max(promised_until_, now)", RARE),
    ("does not wait after its admission",
     "promised_until_ = claims_after_ = {{now + lease}};",
     "now", ""),
    ("claims in the lease after its admission",
     "if ({{now < claims_after_}}) {",
     "false", RARE),
    ("promises to a claimant with another table",
     "if ({{claim.table != fingerprint_}}) return false;",
     "false", ""),
    ("counts promises of members with another table",
     "if ({{note.table != fingerprint_}}) return;",
     "false", RARE),
    ("adds up promises of different tables",
     "peer.supports_until = {{Instant{}}};\n  renew(now);",
     "peer.supports_until", RARE),
    ("takes two processes of a member for one claimant",
     "bound_to_ == to && {{bound_incarnation_ == table_.of(to)}};",
     "true",
     "the second claims nothing in the lease after its admission"),
    ("counts answers that do not fit",
     "if (!answer || {{answer->own != table_.of(member)}}) return false;",
     "false",
     "takes two members in doubt at once"),
    ("answers without a file",
     "note.kind == NoteKind::recover) && {{has_file()}})",
     "true",
     "takes two members in doubt at once"),
    ("counts answers of those that wait without a file of its own",
     "if ({{!answer->takes_part && !options_.has_file}}) return false;",
     "false",
     "takes two members in doubt at once"),
    ("goes on when another process has taken its place",
     "is_outdated_ = {{!is_waiting_}};",
     "false", ""),
    # Mistakes of the service and its file, which clusters alone find.
    ("takes a lost file for a sound one",
     ".recovers = {{file && !is_in_place && !options.is_first_start}},",
     "file && file->has_existed() && !is_in_place", ""),
    ("believes a file that was copied or put back",
     "return {{has_births && is_same_machine && same == written && newest != 0 && "
     "count >= newest}};",
     "true", ""),
    ("puts a file in place before its contents are on the disk",
     "{{file->sync()}};\n    disk_->rename(fresh, path_);",
     "void()", ""),
    ("announces a promise whose name is not on the disk",
     "{{folder_->sync()}};\n  lock_->overwrite",
     "void()", ""),
    ("starts a term again",
     "enter(now, {{std::max(term_, newest_)}} + 1);",
     "term_",
     "nobody promises in a term that it has left"),
]

HEADER = """#pragma once

#include <array>
#include <cstddef>

namespace conclave::election::testing {

struct Mutant {
  const char* name;
  const char* reason;  // why no cluster shows it; empty: one does
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
    rows = [f'\n    Mutant{{"{name}", "{reason}", {str(is_of_member).lower()}}},'
            for (name, _, _, reason), is_of_member in zip(MUTANTS, of_member)]
    texts["mutants.hpp"] = HEADER % "".join(rows)
    texts["member.hpp"] = texts["member.hpp"].replace(
        "#pragma once\n", '#pragma once\n#include "election/mutants.hpp"\n', 1)
    output.mkdir(parents=True, exist_ok=True)
    for file, text in texts.items():
        (output / file).write_text(text)


if __name__ == "__main__":
    main()
