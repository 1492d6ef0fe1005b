import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import type { InvalidInputError } from "tallystick-protocol/errors";
import { KEYS, type KeyHolder, keysOfOthers } from "tallystick-protocol/keysOfOthers";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { vendorKeys } from "../../services/dispatch/config.ts";
import { PROCESSES } from "../support/nodeProcesses.ts";

const hex = (digit: string, length: number) => `0x${digit.repeat(length)}`;

describe("the keys of a node's processes", () => {
  // Many shells have the keys of model vendors in their environment. Every process starts with such keys.
  const isKey = (name: string) =>
    /(^|_)(KEYS?|PASSWORD|SECRET|MNEMONIC|SEED)$/.test(name) &&
    name !== "RATE_LIMIT_PER_KEY" &&
    !vendorKeys.includes(name);

  it("are all listed, each with the one process that reads it", () => {
    const listed = readFileSync(path.join(repositoryRoot, ".env.example"), "utf8");
    const settings = [...listed.matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm)].map(([, name = ""]) => name);
    expect(settings.filter(isKey)).to.have.members(Object.keys(KEYS));
    for (const [name, { variables }] of Object.entries(PROCESSES)) {
      for (const variable of variables.filter(isKey)) expect(KEYS[variable], variable).to.equal(name);
    }
    for (const [key, owner] of Object.entries(KEYS)) {
      if (owner in PROCESSES) expect(PROCESSES[owner as KeyHolder].variables).to.include(key);
    }
  });

  for (const [name, { read, works }] of Object.entries(PROCESSES)) {
    it(`are refused by ${name}, with the key's name, if they belong to another process`, () => {
      read(works);
      const own = Object.keys(KEYS).filter((key) => KEYS[key] === name);
      for (const key of Object.keys(KEYS)) {
        if (own.includes(key)) continue;
        let error: InvalidInputError | undefined;
        try {
          read({ ...works, [key]: hex("2", 64) });
        } catch (thrown) {
          error = thrown as InvalidInputError;
        }
        expect(error?.issues.map(({ field }) => field)).to.deep.equal([key]);
        // A log may contain the message, so the message must not contain the key.
        expect(JSON.stringify(error)).to.not.contain("222");
        read({ ...works, [key]: "" });
      }
    });
  }

  it("are all reported at once", () => {
    const all = Object.fromEntries(Object.keys(KEYS).map((key) => [key, "x"]));
    const others = Object.keys(KEYS).filter((key) => KEYS[key] !== "indexer");
    expect(keysOfOthers("indexer", all).map(({ field }) => field)).to.have.members(others);
  });
});
