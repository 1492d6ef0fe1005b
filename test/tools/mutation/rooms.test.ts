import { expect } from "chai";
import { filesOf } from "../../../tools/mutation/typescript/filesOf.ts";
import { LEFT_OUT } from "../../../tools/mutation/typescript/leftOut.ts";
import { rooms } from "../../../tools/mutation/typescript/rooms.ts";

describe("the mutated rooms of the TypeScript code", () => {
  it("have each file of their code in exactly one part", () => {
    const parts = new Map<string, string[]>();
    for (const { name, sources } of rooms)
      for (const file of filesOf(sources)) parts.set(file, [...(parts.get(file) ?? []), name]);
    const twice = [...parts].filter(([, names]) => names.length > 1);
    expect(twice).to.deep.equal([]);
    const whole = ["packages/{derive,protocol,capabilities}/**/*.ts", "services/settlement/engine/*.ts"];
    const written = ["!packages/protocol/abi/**", "!packages/protocol/ledger/releases/**"];
    const left = filesOf([...whole, ...written, "!**/node_modules/**"]);
    expect(left.filter((file) => !parts.has(file))).to.deep.equal([]);
  });

  it("name files that exist", () => {
    const globs = rooms.flatMap(({ sources, tests }) => [...sources, ...tests]);
    const empty = globs.filter((glob) => filesOf([glob.replace(/^!/, "")]).length === 0);
    expect(empty).to.deep.equal([]);
  });

  it("are copied with all code that their tests may import", () => {
    const isLeftOut = (file: string): boolean => {
      const folders = file.split("/");
      return folders.some((name, at) => {
        const folder = `/${folders.slice(0, at + 1).join("/")}`;
        return LEFT_OUT.includes(name) || LEFT_OUT.includes(folder);
      });
    };
    const code = filesOf(["{scripts,services,test,tools}/**/*.ts"]);
    expect(code.filter(isLeftOut)).to.deep.equal([]);
  });
});
