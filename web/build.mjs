// Builds the page into build/web: index.html with its files, and explorer.html, all in one file.
// `node build.mjs [MODULE [FOLDER]]`; the module is that of preset wasm, the folder build/web unless told.
import { build } from "vite";
import { copyFileSync, existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { fileURLToPath } from "node:url";
import { join } from "node:path";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = process.argv[3] ?? join(here, "../build/web");
const module = process.argv[2] ?? join(here, "../build/wasm/conclave.wasm");
if (!existsSync(module)) {
  console.error(`build.mjs: there is no ${module}; build it first: cmake --build --preset wasm`);
  process.exit(1);
}

await build({
  root: here, base: "./", logLevel: "warn", configFile: false,
  build: { outDir: out, emptyOutDir: true, target: "es2022", assetsInlineLimit: 0, chunkSizeWarningLimit: 2000 },
  worker: { format: "iife" },
});
copyFileSync(module, join(out, "conclave.wasm"));

const read = (name) => readFileSync(join(out, name), "utf8");
let page = read("index.html");
for (const file of readdirSync(join(out, "assets"))) {
  const content = read(`assets/${file}`);
  const put = (pattern, text) => { page = page.replace(pattern, () => text); };
  if (file.endsWith(".css")) put(new RegExp(`<link rel="stylesheet"[^>]*${file}[^>]*>`), `<style>${content}</style>`);
  if (file.endsWith(".js")) {
    put(new RegExp(`<script type="module"[^>]*${file}[^>]*></script>`), "");
    put("</body>", `<script type="module">${content.replaceAll("</script", "<\\/script")}</script>\n</body>`);
  }
}
const packed = gzipSync(readFileSync(module), { level: 9 }).toString("base64");
page = page.replace("<!--module-->", () => `<script type="text/plain" id="conclave-module">${packed}</script>`);
writeFileSync(join(out, "explorer.html"), page);

// Beside every file its compressed form, which `conclave explorer` and many servers send.
let brotli = 0, gzip = 0;
for (const file of ["index.html", "conclave.wasm", ...readdirSync(join(out, "assets")).map((each) => `assets/${each}`)]) {
  const content = readFileSync(join(out, file));
  const packed = brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 } });
  writeFileSync(join(out, `${file}.br`), packed);
  brotli += packed.length;
  gzip += gzipSync(content, { level: 9 }).length;
}
const size = (bytes) => `${(bytes / 1000).toFixed(0)} kB`;
console.log(`${out}: ${size(brotli)} by Brotli, ${size(gzip)} by gzip; explorer.html ${size(statSync(join(out, "explorer.html")).size)}`);
