// What a script run by the `node` fixture has at hand: `data`, `give(result)`, and
// `load("a.js", "b.js")`: files of assets/ as the one module that their component makes of them.
import { readFileSync } from "node:fs";

const data = JSON.parse(readFileSync(0, "utf8"));
const load = (...names) => {
  const text = names.map((name) => readFileSync(`assets/${name}`, "utf8")).join("\n");
  return import("data:text/javascript," + encodeURIComponent(text));
};
const give = (value) => process.stdout.write(JSON.stringify(value));
