// Plays jobs in two independent emulators and prints their screens. Used by oracle_test.go, with a folder that
// holds node_modules as argument: node oracle.mjs <folder> < jobs.json
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const require = createRequire(process.argv[2] + "/x.js");
const { Terminal: XTerm } = require("@xterm/headless");
const { UnicodeGraphemesAddon } = require("@xterm/addon-unicode-graphemes");
const ghostty = await import(
  pathToFileURL(process.argv[2] + "/node_modules/libghostty-vt-node/dist/index.js").href
);

async function xterm(job) {
  const t = new XTerm({ cols: job.cols, rows: job.rows, allowProposedApi: true, scrollback: 1000 });
  t.loadAddon(new UnicodeGraphemesAddon());
  t.unicode.activeVersion = "15-graphemes";
  const broke = await new Promise((done) => {
    process.removeAllListeners("uncaughtException").once("uncaughtException", done); // it throws on some sequences
    t.write(Buffer.from(job.data, "base64"), done);
  });
  if (broke) return { rows: [], x: -1, y: -1 };
  if (job.toCols) t.resize(job.toCols, job.toRows);
  const b = t.buffer.active;
  const rows = [];
  for (let y = 0; y < t.rows; y++) {
    rows.push((b.getLine(b.baseY + y)?.translateToString(true) ?? "").replace(/ +$/, ""));
  }
  return { rows, x: Math.min(b.cursorX, t.cols - 1), y: b.cursorY };
}

function ghost(job) {
  const t = new ghostty.Terminal({ cols: job.cols, rows: job.rows });
  t.feed("\x1b[?2027h");
  t.feed(Buffer.from(job.data, "base64"));
  if (job.toCols) t.resize(job.toCols, job.toRows);
  const lines = t.text({ trim: false }).split("\n").map((s) => s.replace(/ +$/, ""));
  const rows = lines.slice(t.scrollbackRows, t.scrollbackRows + (job.toRows || job.rows));
  const { x, y } = t.cursor;
  t.dispose();
  return { rows, x, y };
}

const out = [];
for (const job of JSON.parse(readFileSync(0, "utf8"))) {
  out.push({ xterm: await xterm(job), ghostty: ghost(job) });
}
console.log(JSON.stringify(out));
