// Prepares the pages of docs/ for the site: copies them to build/site-source without their directives
// (comments), with links that stay inside the site, and lists them for the sidebar. Files of the
// repository that pages link to are copied as they are, folders as lists of their files. Options of the
// commands and the Python package come from the program and from the docstrings.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const out = join(root, "build/site-source");
const kinds = { tutorials: "Tutorials", "how-to": "How-to", reference: "Reference", explanation: "Explanation" };
const evidence = /^(claims|errata|table|inequalities)/;
const others = { "CONTRIBUTING.md": "project/contributing.md", "SECURITY.md": "project/security.md", "CHANGELOG.md": "project/changes.md" };
const linked = new Set();

const write = (path, text) => {
  mkdirSync(dirname(join(out, path)), { recursive: true });
  writeFileSync(join(out, path), text);
};

// Where a file of the repository is on the site.
function placeOf(path) {
  if (path === "README.md" || path === "docs/README.md" || path === "docs") return "index.md";
  if (others[path]) return others[path];
  if (path.startsWith("docs/")) return path.slice(5);
  linked.add(path);
  return statSync(join(root, path)).isDirectory() ? `source/${path}/index.md` : `public/source/${path}`;
}

function linkFrom(page, path) {
  const place = placeOf(path);
  if (place.startsWith("public/")) return `pathname:///${place.slice(7)}`;
  const to = relative(dirname(placeOf(page)), place) || "index.md";
  return to.startsWith(".") ? to : `./${to}`;
}

// Calls edit for each stretch of a page outside of its fenced blocks.
const outsideFences = (text, edit) =>
  text.split(/^(```[\s\S]*?^```$)/m).map((part) => (part.startsWith("```") ? part : edit(part))).join("");

function prepared(page) {
  const text = readFileSync(join(root, page), "utf8");
  return outsideFences(text, (part) => part
    .replace(/^<!--.*-->\n/gm, "")
    .replace(/\]\(([^)\s]+)\)/g, (whole, link) => {
      if (/^(\w+:|#)/.test(link)) return whole;
      const [path, anchor] = link.split("#");
      const target = normalize(join(dirname(page), path)).replace(/\/$/, "");
      return existsSync(join(root, target)) ? `](${linkFrom(page, target)}${anchor ? `#${anchor}` : ""})` : whole;
    }));
}

const titleOf = (text) => text.match(/^# (.*)$/m)[1].replaceAll("`", "");

function home(text) {
  const doors = [
    ["Tutorials", "Ten minutes each: a first election, a protocol of your own, an attack, a cluster.", "tutorials/first-election"],
    ["How-to", "Sweeps, reports, faults, exact verification, message passing, real elections.", "how-to/sweeps"],
    ["Reference", "Command line, protocol files, Python, catalog.", "reference/command-line"],
    ["Explanation", "Engines, exactness, the papers' claims checked one by one.", "explanation/architecture"],
  ].map(([title, details, link]) => `  - title: ${title}\n    details: "${details}"\n    link: /${link}`).join("\n");
  return `---\nlayout: home\nhero:\n  name: conclave\n  text: Randomized leader election\n` +
    `  tagline: Simulate up to 2⁶² agents, verify lemmas exactly, and elect a leader between real processes.\n` +
    `  image: { src: /pictures/explorer.png, alt: a ring of agents elects a leader in the explorer }\n` +
    `  actions:\n    - { theme: brand, text: Your first election, link: /tutorials/first-election }\n` +
    `    - { theme: alt, text: Command line, link: /reference/command-line }\nfeatures:\n${doors}\n---\n\n` +
    text.replace(/^# .*\n/, "");
}

function commands() {
  const program = process.env.CONCLAVE ?? join(root, "build/release/conclave");
  if (!existsSync(program)) return;
  const help = (...words) => execFileSync(program, [...words, "--help"], { encoding: "utf8" });
  const names = [...help().matchAll(/^  ([a-z]+)  /gm)].map((match) => match[1]);
  const sections = names.map((name) => `## ${name}\n\n\`\`\`\n${help(name).trimEnd()}\n\`\`\`\n`);
  write("reference/commands.md", `# All commands\n\nWhat \`conclave COMMAND --help\` prints.\n\n${sections.join("\n")}`);
}

function pythonPackage() {
  const script = fileURLToPath(new URL("api.py", import.meta.url));
  write("reference/python-api.md", execFileSync("python3", [script, join(root, "python/conclave")], { encoding: "utf8" }));
}

function copySources() {
  for (const path of linked) {
    if (statSync(join(root, path)).isDirectory()) {
      const names = readdirSync(join(root, path), { withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => entry.name).sort();
      for (const name of names) cpSync(join(root, path, name), join(out, "public/source", path, name));
      const lines = names.map((name) => `- [\`${name}\`](pathname:///source/${path}/${name})`);
      write(`source/${path}/index.md`, `# ${path}\n\n${lines.join("\n")}\n`);
    } else cpSync(join(root, path), join(out, "public/source", path));
  }
}

// In the order in which docs/README.md names them; what it does not name comes last.
const named = readFileSync(join(root, "docs/README.md"), "utf8");
const inOrder = (kind) => (a, b) => place(kind, a) - place(kind, b) || a.localeCompare(b);
const place = (kind, name) => (named.indexOf(`(${kind}/${name})`) + 1) || named.length + 1;

function sidebar() {
  const entry = (kind, name) => ({ text: titleOf(readFileSync(join(out, kind, name), "utf8")), link: `/${kind}/${name.slice(0, -3)}` });
  const groups = Object.entries(kinds).map(([kind, text]) => {
    const names = readdirSync(join(out, kind)).filter((name) => name.endsWith(".md")).sort(inOrder(kind));
    const items = names.filter((name) => !evidence.test(name)).map((name) => entry(kind, name));
    const claims = names.filter((name) => evidence.test(name)).map((name) => entry(kind, name));
    const more = claims.length ? [{ text: "Claims, errata, tables", collapsed: true, items: claims }] : [];
    return { text, collapsed: kind !== "tutorials", items: [...items, ...more] };
  });
  const project = Object.values(others).map((path) => entry("project", path.slice(8)));
  write("sidebar.json", JSON.stringify([...groups, { text: "Project", collapsed: true, items: project }]));
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
cpSync(join(root, "docs/pictures"), join(out, "pictures"), { recursive: true });
cpSync(join(root, "docs/pictures/explorer.png"), join(out, "public/pictures/explorer.png"));
cpSync(fileURLToPath(new URL("icon.svg", import.meta.url)), join(out, "public/icon.svg"));
cpSync(join(root, "docs/modules.svg"), join(out, "modules.svg"));
for (const kind of Object.keys(kinds)) {
  for (const name of readdirSync(join(root, "docs", kind))) write(`${kind}/${name}`, prepared(`docs/${kind}/${name}`));
}
for (const [path, place] of Object.entries(others)) write(place, prepared(path));
write("index.md", home(prepared("docs/README.md")));
commands();
pythonPackage();
copySources();
sidebar();
