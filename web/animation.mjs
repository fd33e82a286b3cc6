// Makes the animation of the README: `node animation.mjs`, after tools/page. Draws prl on a ring
// from a random start in Debian's Chromium and joins the pictures to an animated PNG, whose frames
// are the data of single ones behind a control chunk each.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { browser, here, open, serve } from "./tests/browser.mjs";

const moments = Array.from({ length: 18 }, (_, i) => Math.round(22 * i * i));
const server = await serve();
const chrome = await browser();
const { page } = await open(chrome.context, `${server.address}#run/prl?n=40&init=random&engine=agents&seed=7`, { width: 440, height: 640 });
const pictures = [];
for (const moment of moments) {
  await page.evaluate((at) => { const line = document.querySelector(".timeline input"); line.max = "20000"; line.value = String(at); line.dispatchEvent(new Event("input")); }, moment);
  await page.waitForFunction((at) => Number(window.conclave.frame().look.now) === at, moment);
  await page.waitForTimeout(40);
  pictures.push(await page.locator(".stage canvas").screenshot());
}
await chrome.close();
server.close();

const chunksOf = (png) => {
  const chunks = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
};
const chunk = (type, data) => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
};
const numbers = (...words) => { const buffer = Buffer.alloc(4 * words.length); words.forEach((word, i) => buffer.writeUInt32BE(word, 4 * i)); return buffer; };

const header = chunksOf(pictures[0]).find((each) => each.type === "IHDR").data;
const parts = [pictures[0].subarray(0, 8), chunk("IHDR", header), chunk("acTL", numbers(pictures.length, 0))];
let sequence = 0;
pictures.forEach((picture, i) => {
  const last = i === pictures.length - 1;
  const delay = Buffer.from([0, last ? 30 : 1, 0, last ? 10 : 6, 0, 0]);  // numerator, denominator; no disposal, no blending
  parts.push(chunk("fcTL", Buffer.concat([numbers(sequence++, header.readUInt32BE(0), header.readUInt32BE(4), 0, 0), delay])));
  const data = Buffer.concat(chunksOf(picture).filter((each) => each.type === "IDAT").map((each) => each.data));
  parts.push(i === 0 ? chunk("IDAT", data) : chunk("fdAT", Buffer.concat([numbers(sequence++), data])));
});
parts.push(chunk("IEND", Buffer.alloc(0)));
const file = join(here, "../../docs/pictures/explorer.png");
writeFileSync(file, Buffer.concat(parts));
console.log(`docs/pictures/explorer.png: ${pictures.length} frames, ${(Buffer.concat(parts).length / 1000).toFixed(0)} kB`);
