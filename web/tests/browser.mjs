// The tests of the page share a server for build/web, and Debian's Chromium.
import { createServer } from "node:http";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const here = fileURLToPath(new URL(".", import.meta.url));
export const built = process.env.CONCLAVE_PAGE ?? join(here, "../../build/web");

const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

export async function serve() {
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url, "http://x").pathname).replace(/^\/$/, "/index.html");
    try {
      const content = readFileSync(join(built, path));
      response.writeHead(200, { "Content-Type": types[extname(path)] ?? "text/plain" }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  return { address: `http://127.0.0.1:${server.address().port}/`, close: () => server.close() };
}

export async function browser() {
  const profile = mkdtempSync(join(tmpdir(), "conclave-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--force-device-scale-factor=1"],
    viewport: { width: 1440, height: 900 },
    reducedMotion: "reduce",  // nothing plays by itself
  });
  context.setDefaultTimeout(120_000);   // a busy machine takes longer than a test that is right
  return { context, close: async () => { await context.close(); rmSync(profile, { recursive: true, force: true }); } };
}

// A page whose complaints are collected.
export async function open(context, address, size) {
  const page = await context.newPage();
  if (size) await page.setViewportSize(size);
  const complaints = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(address);
  await ready(page);
  return { page, complaints };
}

export const ready = (page) => page.waitForFunction(() => window.conclave?.frame() || document.querySelector("[role=alert], .lessons, .editor, .traces"), null, { timeout: 60000 });

// The run that was asked for last is there and drawn.
export const settled = (page) => page.waitForFunction(() => window.conclave.isSettled());

// Opens another view of the page that is there.
export async function show(page, hash) {
  await page.evaluate((to) => new Promise((resolve) => {
    if (location.hash === to) return resolve();
    addEventListener("hashchange", resolve, { once: true });   // the page's own listener, which is older, has heard it by then
    location.hash = to;
  }), hash);
  await settled(page);
}
