// Checks build/site: every link and picture leads to a file of the site and an anchor of it, and nothing
// is loaded from elsewhere. Prints what is wrong and exits with 1.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const site = fileURLToPath(new URL("../../build/site/", import.meta.url));
const base = process.env.CONCLAVE_SITE_BASE ?? "/";
const files = readdirSync(site, { recursive: true }).filter((name) => statSync(join(site, name)).isFile());
const pages = files.filter((name) => name.endsWith(".html") && !name.startsWith("explorer/"));
const faults = [];

const anchors = new Map();
function anchorsOf(page) {
  if (!anchors.has(page)) {
    const text = readFileSync(join(site, page), "utf8");
    anchors.set(page, new Set([...text.matchAll(/\sid="([^"]+)"/g)].map((match) => match[1])));
  }
  return anchors.get(page);
}

function check(page, kind, address) {
  if (/^(data:|mailto:)/.test(address)) return;
  if (/^(\w+:)?\/\//.test(address)) {
    if (kind !== "href of a") faults.push(`${page}: ${kind} loads ${address}`);
    return;
  }
  const [path, anchor] = address.split("#").map(decodeURIComponent);
  if (path.startsWith("/") && !path.startsWith(base)) return faults.push(`${page}: ${address} is outside of ${base}`);
  let target = path.startsWith("/") ? path.slice(base.length) : path ? relative(site, join(site, dirname(page), path)) : page;
  if (target === "" || target.endsWith("/")) target += "index.html";
  if (existsSync(join(site, target)) && statSync(join(site, target)).isDirectory()) target += "/index.html";
  if (!existsSync(join(site, target))) faults.push(`${page}: ${address} does not exist`);
  else if (anchor && target.endsWith(".html") && !target.startsWith("explorer/") && !anchorsOf(target).has(anchor)) {
    faults.push(`${page}: ${address} has no such heading`);
  }
}

for (const page of pages) {
  const text = readFileSync(join(site, page), "utf8").replace(/<(pre|code)\b[\s\S]*?<\/\1>/g, "");
  for (const [, tag, rest] of text.matchAll(/<(a|img|script|link|source|iframe)\b([^>]*)>/g)) {
    for (const [, name, address] of rest.matchAll(/\s(href|src)="([^"]*)"/g)) {
      check(page, `${name} of ${tag}`, address.replaceAll("&amp;", "&"));
    }
  }
}
for (const name of files.filter((each) => each.endsWith(".css"))) {
  const loads = readFileSync(join(site, name), "utf8").match(/url\(["']?(https?:)?\/\/[^)]*\)/);
  if (loads) faults.push(`${name}: loads ${loads[0]}`);
}
if (pages.length < 50) faults.push(`only ${pages.length} pages`);
console.log([...faults, `site: ${pages.length} pages, ${faults.length} faults`].join("\n"));
process.exit(faults.length ? 1 : 0);
