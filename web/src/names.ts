// Values by the paper's names, where they have one, and numbers for people.
import type { Column, Description } from "./engine";
import { short } from "./draw/shapes";

export function named(about: Description | undefined, column: Column | undefined, number: number): string {
  if (column?.labels[number]) return column.labels[number];
  const domain = about?.variables.find((each) => each.name === column?.name)?.domain ?? "";
  const names = /^\{([^.]*)\}$/.exec(domain)?.[1]!.split(", ") ?? [];
  return names.some((each) => !/^\d+$/.test(each)) ? names[number] ?? String(number) : short(number);
}

export const meaning = (about: Description | undefined, column: Column) => about?.variables.find((each) => each.name === column.name)?.meaning ?? "";

const whole = new Intl.NumberFormat("en");
const fine = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });
export const wholeText = (number: number) => whole.format(number);
export const fineText = (number: number) => fine.format(number);

