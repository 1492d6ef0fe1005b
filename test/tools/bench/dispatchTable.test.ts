import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { buildTable, lastNumber } from "../../../tools/bench/dispatch/buildTable.ts";
import { parseCsv } from "../../../tools/bench/dispatch/parseCsv.ts";
import { formatTable, parseTable, readTable } from "../../../tools/bench/dispatch/table.ts";

const [THRIFTY, PREMIUM] = ["mistralai/Mixtral-8x7B-Instruct-v0.1", "gpt-4-1106-preview"];
const GSM8K = `prompt,${THRIFTY},${PREMIUM},${THRIFTY}_response,${PREMIUM}_response
"Ann has 3 hens, and Bob ""the cock"" has 4. How many?",True,True," 3 + 4 = 7.
#### 7","They have 3 + 4 = 7 hens."
"A coat costs $1,200. It is sold at 75%. For how much?",False,True,1200 - 75 = #### $1125.,It is sold for $900.00.
What is left?,False,False,nothing,Nothing!
`;
const MMLU = `prompt,${THRIFTY},${PREMIUM}
"Is 2 prime?
A. yes
B. no
Answer:",True,False
`;

describe("the table of tasks that two models did", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-routellm-"));
  before(() => {
    mkdirSync(path.join(folder, "mmlu"));
    writeFileSync(path.join(folder, "gsm8k_responses.csv"), GSM8K);
    writeFileSync(path.join(folder, "mmlu", "mmlu_abstract_algebra.csv"), MMLU);
    writeFileSync(path.join(folder, "mmlu", "mmlu_anatomy.csv"), MMLU.replace("True,False", "False,True"));
    writeFileSync(path.join(folder, "mmlu", "README.md"), "");
  });
  after(() => rmSync(folder, { recursive: true }));

  it("is made from the files, is the same each time, and is the same after it is written and read", () => {
    const text = formatTable(buildTable(folder));
    expect(formatTable(buildTable(folder))).to.equal(text);
    expect(parseTable(text)).to.deep.equal(buildTable(folder));
    expect(text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))).to.deep.equal([
      "set\tkind\tcomplexity\tlength\tsteps\treasoning\tcode\tnumbers\tthrifty\tpremium\tthrifty_answer\tpremium_answer\tthrifty_length\tpremium_length\toverlap\tnormalised\texact",
      "gsm8k\tcounts\t20\t51\t1\t0\t0\t2\t1\t1\t7\t7\t18\t25\t-1\t0\t0",
      "gsm8k\tshares\t20\t53\t1\t0\t0\t2\t0\t1\t1125\t900.00\t23\t23\t-1\t0\t0",
      "gsm8k\tcounts\t0\t13\t1\t0\t0\t0\t0\t0\t\t\t7\t8\t1000\t1\t0",
      "stem\tabstract_algebra\t0\t32\t1\t0\t0\t1\t1\t0",
      "other\tanatomy\t0\t32\t1\t0\t0\t1\t0\t1",
    ]);
  });

  it("is in the repository with every task of both sets, the source and the licence", () => {
    const tasks = readTable();
    const of = (set: string) => tasks.filter((task) => task.set === set);
    expect([of("gsm8k").length, tasks.length - of("gsm8k").length]).to.deep.equal([1_319, 14_042]);
    expect(new Set(tasks.map(({ kind }) => kind)).size).to.equal(57 + 4);
    expect(of("gsm8k").filter(({ thriftyRight }) => thriftyRight).length).to.equal(842);
    expect(of("gsm8k").filter(({ premiumRight }) => premiumRight).length).to.equal(1_130);
    expect(tasks.every(({ set, answers }) => (answers !== undefined) === (set === "gsm8k"))).to.equal(true);
    expect(formatTable(tasks)).to.include("License: Apache-2.0 (lm-sys/RouteLLM)");
  });

  it("has as answer the number after the last ####, or else the last number", () => {
    expect(lastNumber("2 + 2 = <<2+2=4>>4. #### 1,234.50 dollars, or 3")).to.equal("1234.50");
    expect(lastNumber("#### $-7")).to.equal("-7");
    expect(lastNumber("It is 3 or 4,000.")).to.equal("4000");
    expect(lastNumber("none")).to.equal("");
  });

  it("is refused with the place of a malformed part", () => {
    expect(() => parseCsv('a,b\n1,"2')).to.throw("Character 6");
    expect(() => parseCsv("a,b\n1\n")).to.throw("Record 1 has 1 fields, not 2");
    expect(parseCsv('a,b\r\n"x\r\ny","""q"""\r\n1,\r\n')).to.deep.equal([
      { a: "x\r\ny", b: '"q"' },
      { a: "1", b: "" },
    ]);
    expect(() => parseTable("set\n")).to.throw("columns");
    const text = formatTable(buildTable(folder));
    expect(() => parseTable(text.replace("\t51\t", "\tmany\t"))).to.throw("Task 1");
  });
});
