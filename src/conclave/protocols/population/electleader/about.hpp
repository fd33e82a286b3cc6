// The description of ElectLeader_r: the text behind `conclave describe electleader`.
#pragma once

#include <array>
#include <string_view>

#include "conclave/model/protocol_info.hpp"
#include "conclave/protocols/population/electleader/census.hpp"

namespace conclave::protocols::electleader {

inline constexpr const char* paper =
    "H. Austin, P. Berenbrink, T. Friedetzky, T. Goette, L. Hintze: A Space-Time Trade-off for "
    "Fast "
    "Self-Stabilizing Leader Election in Population Protocols. PODC 2025";
inline constexpr const char* why_complete = "all pairs of agents must be able to interact";

inline constexpr std::array variables{
    Variable{"role", "{resetting, ranking, verifying}", "which of the following are in use"},
    Variable{"resetCount", "{0 ... R_max}", "resetting: how far the reset still spreads"},
    Variable{"delayTimer", "{0 ... D_max}", "resetting: time until the agent wakes up"},
    Variable{"countdown", "{0 ... C_max}", "ranking: interactions of rankers until it must verify"},
    Variable{"type", "{electing, sheriff, deputy, recipient, sleeper, ranked}", "ranking"},
    Variable{"Identifier, MinIdentifier", "{1 ... n^3}", "electing: own and smallest seen"},
    Variable{"LECount", "{0 ... c_LE ln n}", "electing: interactions until it decides"},
    Variable{"lowBadge, highBadge", "{1 ... r}", "sheriff: the badges it still has to give away"},
    Variable{"id, counter", "{1 ... r}, {1 ... c_labels n/r}", "deputy: its badge, labels given"},
    Variable{"label", "pairs (id, counter), or none", "recipient and sleeper: what it was given"},
    Variable{"sleep", "{1 ... c_sleep ln n}", "sleeper: how long it has slept"},
    Variable{"channel", "r counters", "sheriff to sleeper: labels given out by each deputy"},
    Variable{"rank", "{1 ... n}", "ranking: 1 until ranked; verifying: the output, 1 leads"},
    Variable{"generation", "{0 ... 5}", "verifying: soft resets so far, modulo 6"},
    Variable{"probationTimer", "{0 ... P_max}", "verifying: while positive, errors are serious"},
    Variable{"signature, counter", "{1 ... m^5}, {1 ... c_S ln m}",
             "verifying, in a group of m ranks: content of the messages it governs, and its age"},
    Variable{"msgs", "2m of 2m^2 IDs of each rank, with contents",
             "verifying: messages that circulate in the group"},
    Variable{"observations", "2m^2 contents", "verifying: what it has written into its messages"},
};

inline constexpr std::array errata{
    Erratum{"1", "Protocol 1",
            "rankers that interact count down; one at 0 or with a verifier becomes a verifier"},
    Erratum{"2", "Protocol 1, line 1", "executed if either agent is resetting"},
    Erratum{"4", "Protocol 4, line 9",
            "delayTimer does not go below 0; as printed, all-dormant agents at 0 sleep for ever "
            "(reading=negative-delay)"},
    Erratum{"10", "Lemma 6.3", "printed O(n log n) interactions; its proof gives O((n^2/r) log n)"},
    Erratum{"11", "Protocol 8, line 4",
            "the agent in leader election becomes a recipient, not the other (other-recipient)"},
    Erratum{"12", "Appendix D.2",
            "losers stay in leader election until one interacts that is not (losers-leave)"},
    Erratum{"13", "Protocol 9", "a sheriff with one badge is a deputy (split-last-badge)"},
    Erratum{"14", "Protocol 10, line 1", "the channel of the deputy is meant (no-guard)"},
    Erratum{"15", "Protocol 11",
            "a sleeper counts its interactions; the paper never does (no-sleep-timer)"},
    Erratum{"18", "Appendix D", "a deputy's own label is (id, 1); its counter includes it"},
    Erratum{"28", "Protocol 2, line 12", "return, which the paper omits (no-return)"},
    Erratum{"33", "Protocols 3, 12-14",
            "message IDs run over [2 r_u^2], not [r_u^2] (half-of-ids)"},
    Erratum{"34", "q_0,DC", "initial IDs are 2(rank_r - 1)r_u + 1 ... 2 rank_r r_u, without n"},
    Erratum{"36", "Section 5.1",
            "every agent holds exactly 2 r_u messages of each rank: part of the state space"},
    Erratum{"39", "Protocol 13, line 2",
            "period max(2, ceil(c_S ln r_u)), and at least instead of ="},
    Erratum{"41", "Section 5.1",
            "ceil(n/r) groups of consecutive ranks, sizes differ by at most 1"},
    Erratum{"46", "Appendix B",
            "derandomized identifiers wait for 2 * 3 lg n coins, else all may tie "
            "(early-identifier)"},
    Erratum{"50", "Lemma E.5",
            "in c m log m interactions the counter c log m of an agent of 2m - 1 has run out with "
            "probability 0.56 only (m = 32, c = 33); 2c m log m are enough"},
    Erratum{"51", "Lemma D.9",
            "an agent is in 2f' ln n of f' n ln n interactions on average, the proof says f' ln n; "
            "c_sleep = 3f' must be 6f'"},
    Erratum{"52", "Lemma A.1",
            "the same factor 2 in (1), and (3) fails for alpha < 9.74; the "
            "lemma holds"},
    Erratum{"53", "Abstract, Section 1", "r = log^2 n gives 2^O(log^5 n) states, not 2^O(log^3 n)"},
    Erratum{"59", "Lemmas D.5, D.8",
            "agents in leader election are counted as recipients, but get neither badge nor label "
            "before they are; O(n log n) more interactions repair it"},
};

inline constexpr std::string_view every_column =
    "role, rank, resetCount, delayTimer, type, countdown, generation, probation, counter, error";

// "7: 8-11" are lines 8 to 11 of Protocol 7.
inline constexpr std::array steps{
    PseudocodeStep{
        "1: 1-2",
        "PropagateReset: one of the two is resetting; the reset spreads, waits, or ends with both "
        "of them clean (Protocols 4 and 6)",
        every_column},
    PseudocodeStep{"1: 3-4", "both are ranking: AssignRanks (Protocol 7), and both count down",
                   "countdown"},
    PseudocodeStep{
        "8: 1-2",
        "FastLeaderElect: two agents in leader election exchange the smallest identifier; "
        "one that has counted down and holds it is the sheriff",
        "type"},
    PseudocodeStep{"8: 3-4",
                   "an agent in leader election with one that is not: it becomes a recipient",
                   "type"},
    PseudocodeStep{
        "9",
        "a sheriff hands half of its badges to a recipient; whoever has a single badge is a deputy",
        "type"},
    PseudocodeStep{"10", "a deputy gives its next label to a recipient"},
    PseudocodeStep{"7: 8-11",
                   "both learn the labels that the other knows; with n of them they fall "
                   "asleep",
                   "type"},
    PseudocodeStep{
        "11",
        "a sleeper counts its interactions, and its partners fall asleep, too; one that has slept "
        "long enough turns its label into a rank",
        "type, rank"},
    PseudocodeStep{"1: verify",
                   "a ranker whose countdown is over, or with a verifier, becomes a verifier",
                   every_column},
    PseudocodeStep{"2: 1-2", "StableVerify: both are verifying; their probation runs down",
                   "probation"},
    PseudocodeStep{"2: 3-4", "both are of one generation: DetectCollision (Protocol 3)"},
    PseudocodeStep{
        "3: 3-5",
        "they hold the same rank, the same message twice, or a message that contradicts: an error",
        "error, counter"},
    PseudocodeStep{
        "3: 6-7",
        "each stamps the messages of its rank that it receives, and they share all evenly",
        "counter"},
    PseudocodeStep{
        "2: 5-8",
        "an error is dealt with: by a full reset on probation, else by a soft one, which starts a "
        "new generation with clean messages",
        every_column},
    PseudocodeStep{"2: 10-12", "the other is a generation ahead: a soft reset to that generation",
                   "generation, probation, counter, error"},
    PseudocodeStep{"2: 13", "the generations do not fit together: a full reset", every_column},
};

inline constexpr ProtocolInfo about{
    .name = "electleader",
    .title = "self-stabilizing ranking with a space-time trade-off r; rank 1 leads",
    .paper = paper,
    .problem = Problem::ranking,
    .network = "complete graph",
    .only_there = why_complete,
    .convergence = "entering the safe set: a correct ranking that no error can destroy any more",
    .bound = "O(n/r log n) parallel time",
    .states = "2^O(r^2 log n)",
    .memory = ", 4 r more while ranking, and its messages where they may matter",
    .demo_n = 10'000,
    .variables = variables,
    .observables = History::observables,
    .errata = errata,
    .steps = steps,
};

}  // namespace conclave::protocols::electleader
