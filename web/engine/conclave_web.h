/* The engines of conclave for a page: the C interface of the WebAssembly module.
 *
 * One module instance watches one trial at a time. The trial is the one that `conclave run` makes
 * of the same words, bit for bit. Texts are UTF-8 and end with a zero byte. What a function returns
 * belongs to the module and is valid until the next call; arguments are the caller's, who gets room
 * for them from `conclave_room`. A function that fails returns null (or 0) and leaves one sentence
 * in `conclave_error`.
 *
 * The whole state of an instance lies in its memory, so that a copy of the memory is a snapshot,
 * and copying it back goes back to it. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Room for a text of that many bytes, the zero byte included; freed by `conclave_forget`. */
char* conclave_room(uint32_t bytes);
void conclave_forget(char* room);

const char* conclave_error(void);

/* JSON: an array of descriptions, as `conclave describe --format json` prints them. */
const char* conclave_list(void);
/* JSON: the description of a protocol text, given by its file name and its content. */
const char* conclave_describe(const char* name, const char* content);

/* Begins a trial. `words` are lines "option value": the options of `conclave run` without dashes,
 * `protocol` and `trial` among them, in any order. `content` is that of the text that `protocol`
 * names, empty for a protocol of the catalog. `grid` is what --trace-grid takes, or empty: no
 * trace. Returns 1, or 0 for words that make no sense. */
uint32_t conclave_open(const char* words, const char* content, const char* grid);

/* Simulates up to this many interactions from the start; beyond 2^53 it is rounded to a double. */
void conclave_advance(double interactions);
/* How many interactions have happened at a time, a decimal number: of parallel time, or the time of a
 * network of reactions. JSON: a number. */
const char* conclave_interactions_at(const char* time);
/* Simulates up to and including the next interaction that changes something, at most so many.
 * JSON: {"number", "agents": [initiator, responder]}, or null. */
const char* conclave_change(double most);

/* JSON: where the trial stands. {"now": "12345", "time", "leaders", "converged", "over", "engine",
 * "n", "observables": {...}, "faults": [...], "options": [...], "next": {"number", "agents"},
 * "steps": [...]}; the options are the names of those that have a value, in the order of the command
 * line, and the steps those of the pseudocode that the last interaction executed, where it was a
 * single one. */
const char* conclave_look(void);

/* The agents, or the states that agents are in, as rows of numbers: 1 for a leader, then the
 * variables. `conclave_table` reads them, and returns how many rows there are; the others tell
 * about what it has read. */
uint32_t conclave_table(void);
const double* conclave_values(void);
const double* conclave_counts(void); /* agents per row; null where a row is an agent */
const char* conclave_columns(void);  /* JSON: [{"name", "labels": [...]}, ...] */

/* For a trial that is over. */
const char* conclave_row(void);   /* as --format jsonl prints it */
const char* conclave_trace(void); /* as --trace writes it */
/* JSON: the events of message passing, in order of time. */
const char* conclave_events(void);

/* JSON: the arcs of the graph as [[from, to], ...]; null on the complete graph. */
const char* conclave_arcs(void);

#ifdef __cplusplus
}
#endif
