// Runs the scripts of the `node` fixture, one after another: a line of JSON in, a line of JSON out.
// A script has at hand `data`, `give(result)`, and `load("a.js", "b.js")`: files of assets/ as the
// one module that their component makes of them.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const Script = (async () => {}).constructor;
const load = (...names) => {
  const text = names.map((name) => readFileSync(`assets/${name}`, "utf8")).join("\n");
  return import("data:text/javascript," + encodeURIComponent(text));
};

for await (const line of createInterface({ input: process.stdin })) {
  const { script, data } = JSON.parse(line);
  let answer;
  try {
    const run = new Script("data", "give", "load", `"use strict";\n${script}`);
    await run(data, (value) => (answer = { value }), load);
  } catch (error) {
    answer = { error: error.stack };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
