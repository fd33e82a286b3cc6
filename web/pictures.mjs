// Makes the pictures of docs/how-to/explorer.md: `node pictures.mjs [VIEW...]`, after tools/page. Every view
// is taken on a wide screen and on a phone, light and dark, and the four stand side by side in
// docs/pictures/explorer-VIEW.webp.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { browser, here, open, serve } from "./tests/browser.mjs";

const views = {
  field: "#run/pll?n=10000&engine=agents&seed=1&view=status&at=30000",
  bars: "#run/pll?n=1e9&engine=counts&seed=1&view=status&until=20&at=2000000000",
  ring: "#run/prl?n=40&init=random&engine=agents&seed=7&at=2000",
  steps: "#run/pll?n=60&engine=agents&seed=3&view=status&at=29",
  graph: "#run/epidemic.pp?n=60&graph=regular:3&engine=agents&seed=4&at=900",
  ranks: "#run/electleader?n=64&param=r=16&init=triggered&seed=1&view=role&at=130",
  messages: "#run/kmpp-async?n=16&seed=1&delay=slow-leader&at=1.2",
  hand: "#run/kmpp-async?n=6&seed=1&delay=order:0-1/2-1/1-0/3-4/4-3/5-2",
  lessons: "#lessons",
  own: "#own",
  traces: "#traces",
};
const wanted = process.argv.slice(2);
const sizes = [{ width: 1440, height: 900 }, { width: 390, height: 900 }];
const conclave = process.env.CONCLAVE ?? join(here, "../../build/release/conclave");
const server = await serve();
const chrome = await browser();

// A counterexample to look at, from the program itself.
async function openTrace(page) {
  let content = "";
  try { content = execFileSync(conclave, ["explore", "kmpp-async", "--n", "3", "--param", "reading=chosen-in-c1", "--param", "phases=2", "--param", "referees=1", "--format", "json", "--quiet"], { encoding: "utf8" }); } catch (error) { content = error.stdout; }
  await page.locator("#trace").setInputFiles({ name: "stuck.json", mimeType: "application/json", buffer: Buffer.from(content) });
  await page.locator(".steps li").nth(8).getByRole("button").click();
}

// Goes to the next change, and shows what happened where there is no room beside the picture.
async function showSteps(page) {
  await page.getByRole("button", { name: "next change" }).click();
  await page.locator(".executed li").first().waitFor();
  await page.evaluate(() => (innerWidth < 800 ? document.querySelector("[aria-label=Agent]").scrollIntoView() : scrollTo(0, 0)));
}

for (const [name, hash] of Object.entries(views)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const shots = [];
  for (const size of sizes) {
    for (const theme of ["light", "dark"]) {
      const { page, complaints } = await open(chrome.context, server.address + hash, size);
      await page.evaluate((to) => { document.documentElement.dataset.theme = to; document.querySelector("conclave-app").requestUpdate(); }, theme);
      if (name === "traces") await openTrace(page);
      if (name === "steps") await showSteps(page);
      else await page.evaluate(() => scrollTo(0, 0));
      await page.waitForTimeout(300);
      shots.push((await page.screenshot()).toString("base64"));
      if (complaints.length > 0) throw new Error(`${name}: ${complaints}`);
      await page.close();
    }
  }
  const sheet = await chrome.context.newPage();
  const data = await sheet.evaluate(async ({ all, boxes }) => {
    const canvas = document.createElement("canvas");
    const scale = 0.6, gap = 12;
    canvas.width = (boxes[0].width + boxes[1].width) * scale + gap;
    canvas.height = 2 * boxes[0].height * scale + gap;
    const context = canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    for (const [i, each] of all.entries()) {
      const image = new Image();
      image.src = `data:image/png;base64,${each}`;
      await image.decode();
      const box = boxes[i >> 1];
      context.drawImage(image, i < 2 ? 0 : boxes[0].width * scale + gap, (i % 2) * (box.height * scale + gap), box.width * scale, box.height * scale);
    }
    return canvas.toDataURL("image/webp", 0.85);
  }, { all: shots, boxes: sizes });
  await sheet.close();
  const picture = Buffer.from(data.split(",")[1], "base64");
  writeFileSync(join(here, `../../docs/pictures/explorer-${name}.webp`), picture);
  console.log(`docs/pictures/explorer-${name}.webp: ${(picture.length / 1000).toFixed(0)} kB`);
}
await chrome.close();
server.close();
