// Colours for protocol and reaction files, and the language in brief. The engine checks a file; this
// only makes it easier to read, so a word that it does not know stays as it is.
import { html, type TemplateResult } from "lit";

const keywords = new Set(("title paper states fields param in let fun step import as with start init leader output observe stop fail when always invariant eventually computes over "
  + "reactions rate unordered do each choose probability or and not if then else all of rest evenly randomly bool volume").split(" "));
const functions = new Set("count all any none sum mean min max abs floor ceil round sqrt log2 lg ln silent mod".split(" "));
const token = /(#[^\n]*)|("[^"\n]*")|(\b\d[\d.]*(?:e\d+)?%?)|([A-Za-z_]\w*)|(->|<->|[=!<>]=|[+\-*/^|<>=])/g;

// The classes are those of style.css: comment, string, number, keyword, function, sign.
export function highlighted(text: string): (string | TemplateResult)[] {
  const parts: (string | TemplateResult)[] = [];
  let last = 0;
  for (const match of text.matchAll(token)) {
    const [word, comment, string, number, name] = match;
    const kind = comment ? "comment" : string ? "string" : number ? "number" : name ? (keywords.has(name) ? "keyword" : functions.has(name) ? "function" : "") : "sign";
    parts.push(text.slice(last, match.index), kind ? html`<i class=${kind}>${word}</i>` : word);
    last = match.index + word.length;
  }
  parts.push(text.slice(last));
  return parts;
}

const rows: [string, string][] = [
  ["states L, F", "the states of an agent"],
  ["fields level: 0..9, lead: bool", "or its variables"],
  ["param q = 10 in 3..1000 \"digits\"", "a parameter, its range and meaning"],
  ["start clean: 1 of L, rest of F", "a named initial configuration"],
  ["leader = L", "which agents lead"],
  ["L + L -> L + F", "a rule: initiator + responder; the first rule that applies decides"],
  ["u + v when u.level < v.level -> u.level = v.level", "a rule on variables"],
  ["A + B -> A + A with 1/2 or B + B with 1/3", "chance, as exact fractions"],
  ["u + v do { ... }", "several statements in one interaction"],
  ["observe high = count(level > 3)", "a number in every row and chart"],
  ["stop when count(leader) == 1", "convergence"],
  ["# ...", "a comment"],
];

export const languageHelp = () => html`<dl class="language small">${rows.map(([code, meaning]) => html`<dt><code>${highlighted(code)}</code></dt><dd>${meaning}</dd>`)}</dl>`;
