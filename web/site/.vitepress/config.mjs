// The site of the documentation, built by tools/site: build/site-source holds the pages as gather.mjs
// prepares them, build/site the result. CONCLAVE_SITE_BASE is the path it is served under, such as /conclave/.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../../../", import.meta.url);
const base = process.env.CONCLAVE_SITE_BASE ?? "/";
const listed = JSON.parse(readFileSync(new URL("build/site-source/sidebar.json", root), "utf8"));
const modules = (name) => fileURLToPath(new URL(`../node_modules/${name}`, import.meta.url));
const hasExplorer = existsSync(new URL("build/web/index.html", root));

export default {
  title: "conclave",
  description: "A laboratory for randomized leader election",
  lang: "en-GB",
  head: [["link", { rel: "icon", type: "image/svg+xml", href: `${base}icon.svg` }]],
  base,
  srcDir: "../../build/site-source",
  outDir: "../../build/site",
  cacheDir: "../../build/site-cache",
  markdown: {
    html: false,
    linkify: false,
    anchor: { slugify: (heading) => heading.trim().toLowerCase().replace(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-") },  // as GitHub does
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  metaChunk: true,
  vite: {
    logLevel: "warn",
    build: { chunkSizeWarningLimit: 4000 },
    resolve: { alias: { "vue/server-renderer": modules("vue/server-renderer"), vue: modules("vue") } },  // pages lie outside
  },
  themeConfig: {
    search: { provider: "local" },
    outline: { level: [2, 3] },
    sidebar: listed,
    nav: [
      { text: "Tutorials", link: "/tutorials/first-election" },
      { text: "How-to", link: "/how-to/sweeps" },
      { text: "Reference", link: "/reference/command-line" },
      { text: "Explanation", link: "/explanation/architecture" },
      ...(hasExplorer ? [{ text: "Explorer", link: "/explorer/index.html", target: "_self" }] : []),
    ],
    footer: { message: "Apache-2.0" },
  },
};
