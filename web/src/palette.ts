// Colours that colour-blind readers can tell apart (Okabe and Ito), the same as in reports.
export const palette = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8b6d00", "#999999"];

export interface Theme { ink: string; soft: string; line: string; card: string; leader: string; follower: string; alarm: string; accent: string }

let kept: { name: string; theme: Theme } | null = null;

// The colours of the page as it is now; read once per theme, since asking for styles is slow.
export function theme(element: HTMLElement): Theme {
  const name = element.dataset.theme ?? "";
  if (kept?.name !== name) kept = { name, theme: readTheme(element) };
  return kept.theme;
}

function readTheme(element: Element): Theme {
  const style = getComputedStyle(element);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    ink: read("--ink"), soft: read("--soft"), line: read("--line"), card: read("--card"),
    leader: read("--leader"), follower: read("--follower"), alarm: read("--alarm"), accent: read("--accent"),
  };
}

// The types of messages, each with its colour wherever it appears: those of `conclave plot`
// (src/conclave/plot/space_time.cpp). The last one is the colour of the text.
const types = ["#0072b2", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8b6d00", "#999999", "ink"];
const typed: Record<string, number> = {
  REQUEST: 0, APPROVED: 1, DECLINED: 2, DECIDE: 3, WINS: 4, LOSES: 5, LEADER: 7, REPLY: 1, WINNER: 7, CAPTURE: 0, CONTEST: 2,
  RELEASE: 3, ACCEPT: 1, IDENTIFIER: 0, REQUESTVOTE: 0, VOTE: 1, REFUSAL: 2, HEARTBEAT: 7,
};

export function messageColour(type: string, ink: string): string {
  const letters = [...type].reduce((sum, each) => (31 * sum + each.charCodeAt(0)) % types.length, 0);
  const colour = types[typed[type] ?? letters]!;
  return colour === "ink" ? ink : colour;
}

// From few to many: dark blue to yellow, in even steps of lightness (after Cividis).
const stops = [[0, 52, 110], [60, 77, 110], [98, 104, 112], [128, 126, 120], [166, 156, 117], [210, 190, 95], [253, 231, 55]];

export function ramp(part: number): string {
  const place = Math.max(0, Math.min(1, part)) * (stops.length - 1);
  const low = Math.min(stops.length - 2, Math.floor(place));
  const mix = place - low;
  const colour = stops[low]!.map((each, i) => Math.round(each + (stops[low + 1]![i]! - each) * mix));
  return `rgb(${colour.join(",")})`;
}

// The colour of each value of a column: a palette for few values, a ramp for many.
export function colours(values: number[]): (value: number) => string {
  const whole = values.every(Number.isInteger);
  if (whole && values.length <= palette.length && (values.at(-1) ?? 0) < palette.length) {
    return (value) => palette[value] ?? "#999999";
  }
  const low = values[0] ?? 0;
  const high = values.at(-1) ?? 1;
  return (value) => ramp(high > low ? (value - low) / (high - low) : 0);
}
