// The adversary by hand: the order in which messages arrive is a word of the run, `--delay
// order:3-5/2-0`, one edge after the other (src/conclave/network/chosen_order.hpp). The trial is
// begun anew with every choice; it is the same up to there.
import { value, withValue, type Run } from "./words";

const prefix = "order:";
export const turn = 1 / 1024;      // of a unit of time, from one choice to the next
export const mostChoices = 1000;

export const isByHand = (run: Run) => value(run, "delay").startsWith(prefix);

export const choices = (run: Run): string[] => (isByHand(run) ? value(run, "delay").slice(prefix.length).split("/").filter((each) => each !== "") : []);

const withChoices = (run: Run, all: string[]): Run => ({ ...withValue(run, "delay", prefix + all.join("/")), at: "" });

export const begunByHand = (run: Run): Run => withChoices(run, []);
export const withChoice = (run: Run, from: number, to: number): Run => withChoices(run, [...choices(run), `${from}-${to}`].slice(0, mostChoices));
export const withoutLastChoice = (run: Run): Run => withChoices(run, choices(run).slice(0, -1));
export const endedByHand = (run: Run): Run => withValue(run, "delay", "");
