// The page in Debian's Chromium: `node tests/page_test.mjs [CONCLAVE]`, after tools/page. With
// --rewrite it stores the pictures that it else compares; --only=WORDS runs the tests with these
// words in their names.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import assert from "node:assert/strict";
import { browser, built, here, open, ready, serve, settled, show } from "./browser.mjs";

const rewrites = process.argv.includes("--rewrite");
const conclave = process.argv.slice(2).find((each) => !each.startsWith("--")) ?? join(here, "../../build/release/conclave");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const server = await serve();
const chrome = await browser();
const tests = [];
const test = (name, work) => tests.push([name, work]);
// The number of interactions once the engine has answered what it was asked last.
async function stillAt(page) {
  await page.evaluate(() => document.querySelector("conclave-app").player.turn);
  return now(page);
}
const now = (page) => page.evaluate(() => Number(window.conclave.frame().look.now));

const { page, complaints } = await open(chrome.context, server.address);

test("every protocol plays, pauses, steps and goes back", async () => {
  const names = await page.evaluate(() => window.conclave.protocols());
  assert.ok(names.length >= 5);
  for (const name of names) {
    await page.selectOption("#protocol", name);
    await settled(page);
    assert.equal(await page.evaluate(() => window.conclave.run().protocol), name);
    assert.equal(await page.locator("[role=alert]").count(), 0, `${name}: ${await page.locator("[role=alert]").allInnerTexts()}`);
    const network = !(await page.evaluate(() => window.conclave.frame().look.population));
    const play = page.getByRole("button", { name: /Play|Pause/ });
    await play.click();
    await page.waitForFunction(() => !window.conclave.frame().look.population || Number(window.conclave.frame().look.now) > 0);
    if (/Pause/.test(await play.innerText())) await play.click();
    const played = await stillAt(page);
    assert.ok(network || played > 0, `${name} does not play`);
    if (network) continue;
    await page.getByRole("button", { name: "step", exact: true }).click();
    await page.waitForFunction((at) => Number(window.conclave.frame().look.now) === at, played + 1);
    await page.getByRole("button", { name: "One back" }).click();
    await page.waitForFunction((at) => Number(window.conclave.frame().look.now) === at, played);
  }
});

test("a link holds the view: protocol, words, faults, time and colour", async () => {
  const hash = "#run/prl?n=40&init=random&engine=agents&seed=7&fault=corrupt:50%25@20&view=bullet&at=3000";
  const other = await open(chrome.context, server.address + hash);
  const told = await other.page.evaluate(() => ({ look: window.conclave.frame().look, hash: location.hash, table: [...window.conclave.frame().table.values] }));
  assert.equal(told.look.now, "3000");
  assert.equal(told.look.faults[0].agents, 20);
  const again = await open(chrome.context, server.address + told.hash);
  const back = await again.page.evaluate(() => ({ look: window.conclave.frame().look, hash: location.hash, table: [...window.conclave.frame().table.values] }));
  assert.deepEqual(back, told);
  await again.page.close();
  await other.page.close();
});

test("a trial that is paused is not said to run: it has converged, can never do so, or has not yet", async () => {
  for (const [query, says] of [["n=10", "not converged yet"], ["n=10&at=100000", "converged"], ["n=200&param=reading=printed&seed=25&at=2000000", "can never converge"]]) {
    await show(page, `#run/pll?${query}`);
    assert.equal(await page.locator(".status .badge").innerText(), says, query);
  }
});

test("long names break after underscores", async () => {
  await show(page, "#run/pll?n=10");
  assert.ok(await page.locator("dl.vars dt wbr").count() >= 3);
  assert.match(await page.locator("dl.vars").last().innerText(), /leaders_after_tournament/);
});

test("the rows of ten trials are those of the command line, byte for byte", async () => {
  const known = new Set(await page.evaluate(() => window.conclave.protocols()));
  const trials = [["pll", "n=1000&engine=agents&seed=1"], ["pll", "n=20000&seed=7"], ["pll", "n=200&param=reading=printed&seed=25"],
    ["fratricide", "n=300"], ["prl", "n=40&init=random&engine=agents&seed=7&fault=corrupt:50%25@20"], ["prl", "n=100&init=all-leaders&engine=events"],
    ["ppl", "n=60&init=all-leaders"], ["electleader", "n=64&param=r=16&init=same"], ["coalescence", "n=64&graph=grid:8x8"],
    ["kmpp-async", "n=16&delay=slow-leader"], ["kmpp-async", "n=4&delay=order:0-1/2-3"], ["kmpp-sync", "n=24"], ["flooding", "n=12"], ["fratricide", "n=1e9&engine=counts&until=2"]]
    .filter(([name]) => known.has(name));
  for (const [name, query] of trials) {
    await show(page, `#run/${name}?${query}`);
    const row = await page.evaluate(() => window.conclave.row());
    assert.equal(`${row}\n`, printedRow(name, query));
  }
  console.log(`  ${trials.length} rows compared`);
});

test("an attack strikes now, is part of the command, and its recovery is measured", async () => {
  if (!(await page.evaluate(() => window.conclave.protocols())).includes("prl")) return;
  await show(page, "#run/prl?n=40&init=random&engine=agents&seed=7&at=8000");
  await page.getByRole("button", { name: "Corrupt 50 %" }).click();
  await page.waitForFunction(() => window.conclave.frame().look.faults.length === 1);
  assert.match(await page.locator("pre.command").innerText(), /--fault 'corrupt:50%@200'/);
  assert.equal(await page.evaluate(() => window.conclave.frame().look.faults[0].at), 8000);
  await page.evaluate(() => { document.querySelector("#speed").value = "13"; document.querySelector("#speed").dispatchEvent(new Event("input")); });
  await page.getByRole("button", { name: /Play/ }).click();
  await page.waitForFunction(() => window.conclave.frame().look.faults[0].recovered);
});

// The row that the command line prints for the words of an address.
function printedRow(name, query) {
  const flags = [...new URLSearchParams(query)].flatMap(([option, text]) => [`--${option}`, text]);
  try { return execFileSync(conclave, ["run", name, ...flags, "--format", "jsonl", "--quiet"], { encoding: "utf8" }); } catch (error) { return error.stdout; }
}

test("the adversary can be played by hand: the chosen message arrives, and the link and the command repeat it", async () => {
  await show(page, "#run/kmpp-async?n=5&seed=3");
  await page.getByRole("button", { name: "Choose by hand" }).click();
  const chosen = [];
  for (let i = 0; i < 6; ++i) {
    await settled(page);
    const parcels = page.locator(".parcels button");
    await parcels.first().waitFor();
    const last = parcels.nth((await parcels.count()) - 1);   // the youngest, which would not be next
    const [, from, to] = /(\d+) → (\d+)/.exec(await last.innerText());
    chosen.push(`${from}-${to}`);
    await last.click();
  }
  await page.waitForFunction((order) => location.hash.includes(order), chosen.join("/"));
  const arrived = (flow) => flow.events.filter((each) => each.event === "deliver").slice(0, 6).map((each) => `${each.from}-${each.node}`);
  const flow = await page.evaluate(() => window.conclave.flow());
  assert.deepEqual(arrived(flow), chosen);
  const hash = await page.evaluate(() => location.hash);
  const again = await open(chrome.context, server.address + hash);
  assert.deepEqual(await again.page.evaluate(() => window.conclave.flow()), flow);
  assert.equal(`${await again.page.evaluate(() => window.conclave.row())}\n`, printedRow("kmpp-async", `n=5&seed=3&delay=order:${chosen.join("/")}`));
  await again.page.close();
  await page.getByRole("button", { name: "Take back" }).click();
  await page.waitForFunction((order) => location.hash.endsWith(order), `order:${chosen.slice(0, 5).join("/")}`);
  await page.getByRole("button", { name: "step", exact: true }).click();   // the oldest
  await page.waitForFunction((order) => !location.hash.endsWith(order), `order:${chosen.slice(0, 5).join("/")}`);
  await page.getByRole("button", { name: "Let the rest arrive" }).click();
  await page.getByRole("button", { name: "Stop choosing" }).click();
  await page.waitForFunction(() => !location.hash.includes("order:"));
});

test("the lines that the last interaction executed are marked, beside the agents and in the list", async () => {
  await show(page, "#run/pll?n=60&engine=agents&seed=2&at=40");
  assert.equal(await page.locator("dl.code .ran").count(), 0);
  for (let i = 0; i < 4; ++i) {
    const before = await now(page);
    await page.getByRole("button", { name: "next change" }).click();
    await page.waitForFunction((last) => {
      if (!window.conclave.frame().change || Number(window.conclave.frame().look.now) <= last) return false;
      const marked = [...document.querySelectorAll("dl.code .ran dt")].map((each) => each.textContent);
      const { steps } = window.conclave.frame().look;
      return steps.length >= 2 && marked.sort().join(";") === [...steps].sort().join(";");
    }, before);
  }
  const [initiator] = await page.evaluate(() => window.conclave.frame().change.agents);
  await page.evaluate((agent) => document.querySelector("conclave-app").point(agent), initiator);
  await page.locator(".tip .executed li").nth(1).waitFor();
  await page.evaluate(() => document.querySelector("conclave-app").point(-1));
  // The rule of a text, in its card and in the editor.
  await show(page, "#run/epidemic.pp?n=20&engine=agents&seed=1");
  assert.equal(await page.evaluate(() => window.conclave.run().view), "state");
  await page.getByRole("button", { name: "next change" }).click();
  await page.locator("dl.code .ran").waitFor();
  assert.match(await page.locator("dl.code .ran").innerText(), /S \+ I -> I \+ I/);
  await page.getByRole("button", { name: "Edit it" }).click();
  await page.locator(".numbers .ran").waitFor();
  assert.equal(await page.locator(".numbers .ran").innerText(), await page.evaluate(() => String(document.querySelector("#text").value.split("\n").indexOf("S + I -> I + I") + 1)));
  // The handlers of message passing.
  await show(page, "#run/kmpp-async?n=6&seed=1");
  await page.getByRole("button", { name: "To the start" }).click();
  await page.waitForFunction(() => /is woken/.test(document.querySelector("[aria-label='What nodes do']").textContent));
  assert.match(await page.locator("[aria-label='What nodes do'] .executed").innerText(), /^wake-up /);
  await page.getByRole("button", { name: "step", exact: true }).click();
  await page.waitForFunction(() => document.querySelector("dl.code .ran dt")?.textContent === "REQUEST");
});

const printed = (...words) => { try { return execFileSync(conclave, [...words, "--format", "json", "--quiet"], { encoding: "utf8" }); } catch (error) { return error.stdout; } };
const drop = (on, name, content) => on.locator("#trace").setInputFiles({ name, mimeType: "application/json", buffer: Buffer.from(content) });

test("counterexamples of explore and verify are opened, stepped through, and become links", async () => {
  const files = [
    printed("explore", "kmpp-async", "--n", "2", "--param", "reading=printed"),
    printed("verify", "pll", "--n", "4", "--param", "c_max=3", "--param", "k=1", "--param", "reading=printed"),
  ];
  for (const content of files) {
    const steps = JSON.parse(content).properties.find((each) => each.counterexample).counterexample;
    await show(page, "#traces");
    await drop(page, "trace.json", content);
    await page.locator(".steps li").nth(steps.length - 1).waitFor();
    assert.equal(await page.locator(".steps li").count(), steps.length);
    await page.getByRole("button", { name: "step", exact: true }).click();
    const told = page.locator("[aria-live=polite]");
    assert.match(await told.innerText(), /^2 of/);
    assert.ok((await told.innerText()).endsWith(steps[1].step ?? steps[1].interaction));
    if (steps[0].events) {
      const kinds = new Set(steps.flatMap((each) => each.events).flatMap((each) => each.kind ?? []));
      assert.deepEqual((await page.locator(".traces .legend span").allInnerTexts()).slice(0, -1), [...kinds]);
    }
    const link = await page.evaluate(() => location.hash);
    assert.match(link, /^#traces\/[\w-]+$/);
    const again = await open(chrome.context, server.address + link);
    await again.page.locator(".steps li").nth(steps.length - 1).waitFor();
    assert.deepEqual(again.complaints, []);
    await again.page.close();
  }
});

test("files that are no counterexamples are refused, and what they say is only text", async () => {
  await show(page, "#traces");
  const step = { step: "node 0 is woken", details: [] };
  const file = (change) => JSON.stringify({ protocol: "p", n: 2, params: {}, properties: [{ property: "x", counterexample: [step] }], ...change });
  const bad = ["", "{", "[]", "null", file({ n: 1e9 }), file({ n: "2" }), file({ protocol: 7 }), file({ properties: {} }), file({ properties: [] }), file({ params: [1] }),
    file({ properties: [{ property: "x", counterexample: [] }] }), file({ properties: [{ property: "x", counterexample: [7] }] }),
    file({ properties: [{ property: "x", counterexample: [{ step: "y".repeat(2000) }] }] }),
    file({ properties: [{ property: "x", counterexample: [{ ...step, events: [{ event: "wake", node: 2 }] }] }] }),
    file({ properties: [{ property: "x", counterexample: [{ ...step, events: [{ event: "send", from: 0, to: 1, kind: "A", payload: { x: "y" } }] }] }] }),
    file({ properties: [{ name: "a", statement: "b", counterexample: [{ interaction: "(0,9)", configuration: "A B" }] }] }), `"${"x".repeat(2 ** 20)}"`];
  for (const content of bad) {
    await drop(page, "good.json", file({}));
    await page.waitForFunction(() => !document.querySelector("[role=alert]"));
    await drop(page, "bad.json", content);
    await page.waitForFunction(() => /no counterexample|larger/.test(document.querySelector("[role=alert]")?.textContent ?? ""));
  }
  const nasty = "<img src=x onerror=window.hit=1>";
  await drop(page, "nasty.json", file({ protocol: nasty, properties: [{ property: nasty, counterexample: [{ step: nasty, details: [nasty] }] }] }));
  await page.locator(".steps li").first().waitFor();
  await page.waitForFunction(() => !document.querySelector("[role=alert]"));
  assert.ok((await page.locator(".traces").innerText()).includes(nasty));
  assert.equal(await page.locator(".traces img").count(), 0);
  assert.equal(await page.evaluate(() => window.hit), undefined);
  // A link that unfolds to more than a page can hold.
  const bomb = deflateRawSync(Buffer.alloc(4 * 2 ** 20, 32)).toString("base64url");
  const other = await open(chrome.context, `${server.address}#traces/${bomb}`);
  await other.page.waitForFunction(() => /too large|damaged/.test(document.querySelector("[role=alert]")?.textContent ?? ""));
  await other.page.close();
});

test("conclave explorer serves the page that was built, compressed", async () => {
  const process = spawn(conclave, ["explorer", "--no-browser", "--page", built], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [line] = await once(process.stdout, "data");
    const address = /http:\S+/.exec(String(line))[0];
    const visitor = await open(chrome.context, `${address}#run/pll?n=100&engine=agents&seed=1&at=50`);
    assert.equal(await visitor.page.evaluate(() => window.conclave.frame().look.now), "50");
    const coding = await visitor.page.evaluate(async () => (await fetch("conclave.wasm")).headers.get("content-encoding"));
    assert.equal(coding, "br");
    assert.deepEqual(visitor.complaints, []);
    await visitor.page.close();
  } finally {
    process.kill("SIGINT");
    const [status] = await once(process, "exit");
    assert.equal(status, 0);
  }
});

test("the editor tells what is wrong and where, and runs what is right", async () => {
  await show(page, "#own");
  await page.fill("#text", "states A, B\nstrt A\n");
  await page.waitForFunction(() => /mine\.pp:2:1/.test(document.querySelector("#verdict").textContent));
  await page.getByRole("button", { name: "epidemic.pp" }).click();
  await page.waitForFunction(() => /^ok/.test(document.querySelector("#verdict").textContent));
  await page.getByRole("button", { name: "Run it" }).click();
  await page.waitForFunction(() => window.conclave.run().protocol === "mine.pp");
  await settled(page);
});

test("the editor colours the file as it is, and explains the language", async () => {
  await show(page, "#own");
  await page.locator("#text").fill("states A, B   # two\nA + B -> A + A with 1/2\n");
  await page.waitForFunction(() => document.querySelector(".shade").textContent.startsWith(document.querySelector("#text").value));
  const kinds = await page.locator(".shade i").evaluateAll((all) => all.map((each) => [each.className, each.textContent]));
  assert.deepEqual(kinds.slice(0, 3), [["keyword", "states"], ["comment", "# two"], ["sign", "+"]]);
  assert.ok(kinds.some(([kind, text]) => kind === "number" && text === "1"));
  assert.ok((await page.locator("[aria-label=Language] dt").count()) >= 10);
});

test("a first visit plays by itself, unless motion is to be reduced", async () => {
  const visit = async (reducedMotion) => {
    const visitor = await chrome.context.newPage();
    await visitor.emulateMedia({ reducedMotion });
    await visitor.goto(server.address);
    await ready(visitor);
    return visitor;
  };
  const moving = await visit("no-preference");
  await moving.waitForFunction(() => Number(window.conclave.frame().look.now) > 0);
  await moving.close();
  const still = await visit("reduce");
  await settled(still);
  assert.equal(await still.evaluate(() => document.querySelector("conclave-app").player.playing), false);
  await still.close();
});

test("the speed fits the population until the user sets it", async () => {
  const fresh = await open(chrome.context, `${server.address}#run/fratricide?n=1e9&engine=counts`);
  const speed = () => fresh.page.evaluate(() => Number(document.querySelector("#speed").value));
  const fastest = await fresh.page.evaluate(() => Number(document.querySelector("#speed").max));
  assert.equal(await speed(), fastest);
  await fresh.page.getByRole("button", { name: /Play/ }).click();
  await fresh.page.waitForFunction(() => window.conclave.frame().look.time >= 1);
  await show(fresh.page, "#run/pll?n=1000");
  const moderate = await speed();
  assert.ok(moderate > 0 && moderate < fastest);
  await fresh.page.evaluate(() => { const field = document.querySelector("#speed"); field.value = "2"; field.dispatchEvent(new Event("input")); });
  await show(fresh.page, "#run/fratricide?n=1e6&engine=counts");
  assert.equal(await speed(), 2);
  await fresh.page.close();
});

test("an executed line below the fold of the pseudocode is scrolled into view", async () => {
  await show(page, "#run/pll?n=60&engine=agents&seed=2&at=900");
  for (let i = 0; i < 5; ++i) {
    const before = await now(page);
    await page.getByRole("button", { name: "next change" }).click();
    await page.waitForFunction((last) => Number(window.conclave.frame().look.now) > last && document.querySelector("dl.code .ran"), before);
    assert.ok(await page.evaluate(() => {
      const line = document.querySelector("dl.code .ran").getBoundingClientRect();
      const list = document.querySelector("dl.code").getBoundingClientRect();
      return line.top >= list.top - 1 && line.top < list.bottom;
    }));
  }
});

test("a sweep runs the trials of the command line, and refuses what is no list of numbers", async () => {
  await show(page, "#run/fratricide?n=20&seed=3");
  await page.locator("[aria-label=Sweep] summary").click();
  await page.locator("#sweep-values").fill("10, many");
  await page.locator("#sweep-values").blur();
  await page.getByRole("button", { name: "Run sweep" }).click();
  assert.match(await page.locator("[aria-label=Sweep] [role=alert]").innerText(), /must be a number/);
  await page.locator("#sweep-values").fill("10, 20");
  await page.locator("#sweep-trials").fill("4");
  await page.locator("#sweep-trials").blur();
  await page.getByRole("button", { name: "Run sweep" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".sweep-means tbody tr").length === 2 && !/Stop/.test(document.querySelector("[aria-label=Sweep] button.main").textContent));
  const shown = (await page.locator(".sweep-means td:nth-child(2)").allInnerTexts()).map((each) => Number(each.replace(",", "")));
  const expected = [10, 20].map((n) => {
    const rows = execFileSync(conclave, ["run", "fratricide", "--n", String(n), "--seed", "3", "--trials", "4", "--format", "jsonl", "--quiet"], { encoding: "utf8" }).trim().split("\n");
    return Number((rows.reduce((sum, row) => sum + JSON.parse(row).parallel_time, 0) / 4).toPrecision(4));
  });
  assert.deepEqual(shown, expected);
  assert.equal(await page.locator("[aria-label=Sweep] canvas").count(), 1);
  assert.equal(await page.locator("[aria-label=Chart] canvas").count(), 1);
  await page.locator("[aria-label=Sweep] summary").click();
});

test("a page that is asked for while a run begins is shown, and its address stays", async () => {
  for (let i = 0; i < 5; ++i) {
    await page.evaluate(() => new Promise((resolve) => {
      addEventListener("hashchange", () => { addEventListener("hashchange", resolve, { once: true }); location.hash = "#lessons"; }, { once: true });
      location.hash = "#run/pll?n=1e4&engine=agents&seed=1";
    }));
    await settled(page);
    assert.equal(await page.evaluate(() => location.hash), "#lessons");
    await page.getByRole("button", { name: /^Begin/ }).first().waitFor();
  }
});

test("every step of every lesson opens without an error", async () => {
  await show(page, "#lessons");
  const known = new Set(await page.evaluate(() => window.conclave.protocols()));
  await page.getByRole("button", { name: /^Begin/ }).first().waitFor();
  const count = await page.getByRole("button", { name: /^Begin/ }).count();
  assert.ok(count >= 7);
  for (let i = 0; i < count; ++i) {
    await show(page, "#lessons");
    await page.getByRole("button", { name: /^Begin/ }).nth(i).click();
    for (;;) {
      await settled(page);
      if (known.has(await page.evaluate(() => window.conclave.run().protocol))) assert.equal(await page.locator("[role=alert]").count(), 0, await page.evaluate(() => location.hash));
      const next = page.getByRole("button", { name: "Next", exact: true });
      if (await next.isDisabled()) break;
      await next.click();
    }
    await page.getByRole("button", { name: "End the tour" }).click();
  }
});

test("no sideways scrolling on a phone", async () => {
  const phone = await open(chrome.context, server.address, { width: 360, height: 740 });
  for (const hash of ["#run/pll?n=1000&engine=agents&seed=1", "#run/kmpp-async?n=8&seed=1&delay=order:", "#lessons", "#own", "#traces"]) {
    await show(phone.page, hash);
    const [inner, outer] = await phone.page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(inner <= outer, `${hash}: ${inner} > ${outer}`);
  }
  await phone.page.close();
});

test("a picture too narrow for its bars, or without a place yet, shows what it can", async () => {
  const narrow = await open(chrome.context, `${server.address}#run/pll?n=1e9&engine=counts&seed=1&view=status&until=20&at=2000000000`);
  for (const width of ["40px", "0"]) {
    await narrow.page.evaluate((to) => { document.querySelector(".stage canvas").style.width = to; }, width);
    await narrow.page.getByRole("button", { name: "step", exact: true }).click();
    await settled(narrow.page);
    await narrow.page.waitForTimeout(100);
  }
  assert.deepEqual(narrow.complaints, []);
  await narrow.page.close();
});

test("a type of message has one colour, that of conclave plot", async () => {
  for (const hash of ["#run/kmpp-async?n=16&seed=1&delay=slow-leader&at=1.2", "#run/kmpp-async?n=6&seed=1&delay=order:0-1/2-1/1-0/3-4/4-3/5-2"]) {
    await show(page, hash);
    const colours = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll(".legend span")].filter((each) => each.querySelector("i")).map((each) => [each.textContent.trim(), each.querySelector("i").style.background])));
    assert.equal(colours.REQUEST, "rgb(0, 114, 178)", hash);
    assert.equal(colours.DECIDE, "rgb(204, 121, 167)", hash);
  }
});

test("accessibility, light and dark", async () => {
  for (const theme of ["light", "dark"]) {
    for (const hash of ["#run/pll?n=1000&engine=agents&seed=1", "#run/kmpp-async?n=8&seed=1&delay=order:", "#lessons", "#own", "#traces"]) {
      await page.evaluate((how) => { document.documentElement.dataset.theme = how; }, theme);
      await show(page, hash);
      await page.evaluate(axe);
      const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      assert.deepEqual(found.violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html.slice(0, 120)).join(" | ")}`), [], `${theme} ${hash}`);
    }
  }
});

// Pictures: the share of pixels that differ by more than a little.
async function difference(a, b) {
  return page.evaluate(async ([first, second]) => {
    const pixels = async (data) => {
      const image = new Image();
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
      const canvas = document.createElement("canvas");
      canvas.width = image.width; canvas.height = image.height;
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height).data;
    };
    const [x, y] = [await pixels(first), await pixels(second)];
    if (x.length !== y.length) return 1;
    let differ = 0;
    for (let i = 0; i < x.length; i += 4) if (Math.abs(x[i] - y[i]) + Math.abs(x[i + 1] - y[i + 1]) + Math.abs(x[i + 2] - y[i + 2]) > 60) ++differ;
    return differ / (x.length / 4);
  }, [a.toString("base64"), b.toString("base64")]);
}

test("the last line of a field of dots is not left to one agent", async () => {
  for (const size of [{ width: 1440, height: 900 }, { width: 390, height: 844 }]) {
    const other = await open(chrome.context, `${server.address}#run/pll?n=1000&engine=agents`, size);
    const lines = await other.page.evaluate(() => {
      const counts = new Map();
      for (const { y } of document.querySelector("conclave-app").picture.spots) counts.set(y, (counts.get(y) ?? 0) + 1);
      return [...counts.values()];
    });
    assert.equal(lines.reduce((sum, each) => sum + each), 1000);
    assert.ok(lines.at(-1) >= lines[0] / 4, `${lines.at(-1)} of ${lines[0]} dots in the last line`);
    await other.page.close();
  }
});

test("pictures are the stored ones", async () => {
  const known = new Set(await page.evaluate(() => window.conclave.protocols()));
  const views = { field: "#run/pll?n=400&engine=agents&seed=1&view=status&at=3000", ring: "#run/prl?n=40&init=random&engine=agents&seed=7&at=2000",
    ranks: "#run/electleader?n=64&param=r=16&init=same&seed=1&view=role&at=3000", messages: "#run/kmpp-async?n=16&seed=1&at=4.5",
    graph: "#run/coalescence?n=64&graph=grid:8x8&engine=agents&seed=1&at=400", bars: "#run/fratricide?n=1e9&engine=counts&seed=1&until=4&at=2000000000" };
  for (const [name, hash] of Object.entries(views)) {
    if (!known.has(/run\/([^?]*)/.exec(hash)[1])) continue;
    const small = await open(chrome.context, server.address + hash, { width: 900, height: 700 });
    await settled(small.page);
    await small.page.waitForTimeout(200);   // fonts
    const picture = await small.page.locator(".stage canvas").screenshot();
    await small.page.close();
    const place = join(here, "pictures", `${name}.png`);
    if (rewrites) { mkdirSync(join(here, "pictures"), { recursive: true }); writeFileSync(place, picture); continue; }
    assert.ok(existsSync(place), `${place} is missing; --rewrite stores it`);
    const share = await difference(picture, readFileSync(place));
    assert.ok(share < 0.02, `${name}: ${(100 * share).toFixed(2)} % of the pixels differ`);
  }
});

test("the single file works by itself", async () => {
  const alone = await open(chrome.context, `file://${join(here, "../../build/web/explorer.html")}`);
  await alone.page.getByRole("button", { name: "step", exact: true }).click();
  await alone.page.waitForFunction(() => Number(window.conclave.frame().look.now) === 1);
  assert.deepEqual(alone.complaints, []);
  await alone.page.close();
});

test("nothing was complained about in the console", async () => { assert.deepEqual(complaints, []); });

let failed = 0;
const only = process.argv.find((each) => each.startsWith("--only="))?.slice(7) ?? "";
for (const [name, work] of tests.filter(([name]) => name.includes(only))) {
  const begin = Date.now();
  try {
    await work();
    console.log(`ok    ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
  } catch (error) {
    ++failed;
    console.log(`FAIL  ${name}\n${error.message}`);
    await page.goto(server.address);
    await ready(page);
  }
}
await chrome.close();
server.close();
process.exit(failed > 0 ? 1 : 0);
