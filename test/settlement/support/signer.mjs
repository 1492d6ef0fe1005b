// A signing command with one of the possible ways to answer: `signer.mjs KEYFILE WAY`.
import { appendFileSync, mkdirSync, readFileSync, rmdirSync } from "node:fs";
import { secp256k1 } from "@noble/curves/secp256k1.js";

const [, , keyFile, way = "good"] = process.argv;
const key = Buffer.from(readFileSync(keyFile, "utf8").trim().slice(2), "hex");
const asked = JSON.parse(readFileSync(0, "utf8"));
appendFileSync(`${keyFile}.asked`, `${JSON.stringify({ ...asked, env: Object.keys(process.env) })}\n`);

const digest = Buffer.from(asked.digest.slice(2), "hex");
const bytes = secp256k1.sign(digest, key, { prehash: false, format: "recovered" });
const [recovery, r, s] = [bytes[0], hex(bytes.slice(1, 33)), hex(bytes.slice(33))];
const high = (
  0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n - BigInt(`0x${s}`)
).toString(16);

const ways = {
  good: () => `0x${r}${s}${hex([27 + recovery])}\n`,
  "without v": () => `0x${r}${s}`,
  "of the upper half": () => `0x${r}${high.padStart(64, "0")}${hex([28 - recovery])}`,
  "of another digest": () => `0x${s}${r}1b`,
  text: () => "I have signed it.",
  nothing: () => "",
  much: () => "0".repeat(1_000_000),
  "a complaint": () => {
    process.stderr.write(`no such key \u001b[31m${"secret ".repeat(1_000)}`);
    process.exit(3);
  },
  // Ends with an error if another command with this key runs at the same time, or if it is asked to refuse.
  alone: () => {
    mkdirSync(`${keyFile}.running`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    rmdirSync(`${keyFile}.running`);
    if (asked.message === "refuse") process.exit(3);
    return ways.good();
  },
  never: () => {
    setInterval(() => {}, 1_000);
    return "";
  },
};
process.stdout.write(ways[way]());

function hex(from) {
  return Buffer.from(from).toString("hex");
}
