import { expect } from "chai";
import { requireCapability } from "tallystick-capabilities/capabilityOf";
import { holdRules, type RuleCase } from "./support/holdRules.ts";

const rulesOf = async (id: string, input: object) => {
  const { capability, parts } = await requireCapability(id);
  return capability.inputRules(input as never, parts).map(({ field, message }) => `${field}: ${message}`);
};

describe("the run of a program", () => {
  const id = "code.execute.sandboxed";
  const run = (code: string, output: object, said?: string, input: object = {}): RuleCase => [
    { code, ...input },
    { stdout: "", stderr: "", exit_code: 0, truncated: false, ...output },
    said,
  ];
  it("keeps the time limit, and reports a timeout only after nine tenths of it", async () => {
    await holdRules(id, "kept_the_time_limit", [
      run("", { duration_ms: 5_500 }),
      run("", { duration_ms: 5_501 }, "took 5501 of 5000 ms"),
      run("", { duration_ms: 600 }, undefined, { timeout_ms: 100 }),
      run("", { duration_ms: 601 }, "took 601 of 100 ms", { timeout_ms: 100 }),
    ]);
    const early = (ms: number, limit = 5_000) => `reports a timeout after ${ms} of ${limit} ms`;
    await holdRules(id, "agrees_with_its_time", [
      run("", { exit_code: 124, duration_ms: 4_500 }),
      run("", { exit_code: 124, duration_ms: 4_499 }, early(4_499)),
      run("", { exit_code: 124, duration_ms: 89 }, early(89, 100), { timeout_ms: 100 }),
      run("exit(124)", { exit_code: 124, duration_ms: 1 }),
      run("", { exit_code: 1, duration_ms: 1 }),
    ]);
  });

  it("ends with a code that it may have, and agrees with its errors", async () => {
    const unknown = (code: number) => `ended with exit code ${code}, which the program does not set`;
    await holdRules(id, "has_a_known_exit", [
      ...[0, 1, 124].map((exit_code) => run("", { exit_code })),
      ...[2, 128, 160].map((exit_code) => run("", { exit_code, stderr: "x" }, unknown(exit_code))),
      ...[129, 159].map((exit_code) => run("", { exit_code, stderr: "killed" })),
      run("", { exit_code: 137, stderr: " " }, unknown(137)),
      ...["exit(2)", "process.exitCode = 2", "quit()", "raise SystemExit", "os._exit(2)", "parse_args()"].map(
        (code) => run(code, { exit_code: 2 }),
      ),
      run("exits()", { exit_code: 2 }, unknown(2)),
    ]);
    const traceback = "x\nTraceback (most recent call last):\n  y";
    await holdRules(id, "agrees_with_its_errors", [
      run("", { exit_code: 1 }, "failed, and stderr is empty"),
      run("", { exit_code: 1, stderr: " \n" }, "failed, and stderr is empty"),
      run("", { exit_code: 1, stderr: "x" }),
      run("exit(1)", { exit_code: 1 }),
      run("", {}),
      run("", { stderr: traceback }, "succeeded, but stderr has a traceback"),
      run("", { exit_code: 1, stderr: traceback }),
      run("import logging", { stderr: traceback }),
      run("", { stderr: "A Traceback (most recent call last):" }),
      run("", { stderr: "Traceback (most recent call last): x" }),
    ]);
  });

  it("prints what it must, in this order, and nothing unasked", async () => {
    const two = 'print("a")\nf()\nprint("b")';
    const missing = (line: string) => `does not print ${JSON.stringify(line)}`;
    const printed = (code: string, stdout: string, said?: string, more: object = {}) =>
      run(code, { stdout, ...more }, said);
    await holdRules(id, "printed_what_it_must", [
      printed(two, "a\nx\nb\n"),
      printed(two, "a\r\nb"),
      printed(two, "b\na\n", missing("b")),
      printed(two, "a\n", missing("b")),
      printed(two, "", missing("a")),
      printed('print("a")\nprint("a")', "a\n", missing("a")),
      printed('print("a")\nprint("a")', "a\na\n"),
      ...[
        'print("x", end="")',
        'print("x", end = "")',
        "n = input('?')",
        "n = input (  '?')",
        "f.write('x')",
      ].map((line) => printed(`${line}\nprint("a")`, "xa\n")),
      ...['print("x")', "n = input()", "n = input( )", "end()"].map((line) =>
        printed(`${line}\nprint("a")`, "x\nxa\n", missing("a")),
      ),
      printed('print("x", end="")\nprint("a")', "ax\n", missing("a")),
      printed('print("")', ""),
      printed('print(" ")', ""),
      printed(two, "", undefined, { exit_code: 1 }),
      printed(two, "", missing("a"), { truncated: true }),
      printed(two, "", undefined, { truncated: true, stderr: "x".repeat(1_000) }),
      printed(two, "", missing("a"), { truncated: true, stderr: "x".repeat(999) }),
      printed(two, "x".repeat(500), undefined, { truncated: true, stderr: "x".repeat(500) }),
    ]);
    const unasked = "printed something, but the program has nothing that prints";
    await holdRules(id, "printed_nothing_unasked", [
      printed("a = 5", "5", unasked),
      printed("a = 5", ""),
      printed("print(5)", "5"),
      printed("a.log", "5"),
    ]);
  });

  it("prints what its code computes, as far as it is not cut", async () => {
    const wrong = (expected: string) => `does not print ${JSON.stringify(expected)}`;
    const code = "a = 2\nprint(a * 21)";
    const long = Array(45)
      .fill(`print("${"y".repeat(40)}")`)
      .join("\n");
    const whole = `${"y".repeat(40)}\n`.repeat(45);
    const cut = { truncated: true, stderr: "x".repeat(1_000) };
    await holdRules(id, "computed_what_it_prints", [
      run(code, { stdout: "42\n" }),
      run(code, { stdout: "42\r\n\r\n" }),
      run("print(1)\nprint(2)", { stdout: "1\r\n2\r\n" }),
      run(code, { stdout: "43\n" }, wrong("42\n")),
      run(code, { stdout: "42\n", exit_code: 1 }, wrong("42\n")),
      run("print(input())", { stdout: "x\n" }),
      run("a = input()\nprint(a)", { stdout: "x\n" }, undefined, { stdin: "x" }),
      run("console.log(5)", { stdout: "5\n" }, undefined, { language: "javascript" }),
      run("console.log(5)", { stdout: "6\n" }, wrong("5\n"), { language: "javascript" }),
      run("a = input()\nprint(a)", { stdout: "x\n" }),
      run("a = input()\nprint(a)", { stdout: "x\n" }, wrong("y\n"), { stdin: "y" }),
      run(long, { stdout: whole }),
      run(long, { ...cut, stdout: whole.slice(0, 600) }),
      run(long, { ...cut, stdout: whole.slice(0, 500) }),
      run(long, { ...cut, stdout: whole.slice(0, 499) }, wrong(whole.slice(0, 80))),
      run(long, { ...cut, stdout: `${whole.slice(0, 500)}z` }),
      run(long, { stdout: whole.slice(0, 600), truncated: true, stderr: "x" }, wrong(whole.slice(0, 80))),
    ]);
  });
});

describe("the review of a program", () => {
  const id = "code.review";
  const code = "const userInput = read();\n\nreturn total_sum;";
  const found = (...all: [line: number, message?: string][]) => ({
    findings: all.map(([line, message = "Rename the variable userInput"]) => ({ line, message })),
  });
  const check = (...all: [line: number, message?: string][]) => [{ code }, found(...all)] as const;
  it("points at lines with code", async () => {
    expect(await rulesOf(id, { code: " \n" })).to.deep.equal(["params.code: is empty"]);
    expect(await rulesOf(id, { code: " x" })).to.deep.equal([]);
    await holdRules(id, "points_into_the_code", [
      [...check([1], [3]), undefined],
      [...check([1], [4]), "has a finding at line 4 of 3"],
    ]);
    await holdRules(id, "points_at_something", [
      [{ code: "a\n  \nb" }, found([2]), "has a finding at the empty line 2"],
      [...check([1], [3]), undefined],
      [...check([1], [2]), "has a finding at the empty line 2"],
      [...check([4]), "has a finding at the empty line 4"],
    ]);
  });

  it("explains itself in more words than those of the code", async () => {
    const mute = (message: string) => `has a finding that says ${JSON.stringify(message)}`;
    const said = (message: string, complaint?: string): RuleCase => [
      { code },
      found([1, message]),
      complaint,
    ];
    await holdRules(id, "explains_itself", [
      said("Missing semicolon"),
      said("Missing", mute("Missing")),
      said("const userInput", mute("const userInput")),
      said("const userInput read"),
      said("const missing"),
      said("x".repeat(80), mute("x".repeat(60))),
      said("a b c d", mute("a b c d")),
      said("缺少分号检查"),
      said("缺少分号检", undefined),
      said("缺少分号", mute("缺少分号")),
    ]);
  });

  it("repeats nothing, and names something of the code", async () => {
    await holdRules(id, "repeats_nothing", [
      [...check([1, "a"], [3, "a"], [4, "a"]), undefined],
      [...check([1, "a"], [3, "A "], [4, "a"], [5, "a"]), "says the same of every line"],
      [...check([1, "a"], [3, "a"], [4, "a"], [5, "b"]), undefined],
      // In upper case both words are MASSE.
      [...check([1, "Maße"], [1, "Masse"], [3, "Maße"], [4, "Masse"]), undefined],
      [...check([1, "a"], [1, "A "]), "says the same of the same line twice"],
      [...check([1, "a"], [1, "b"]), undefined],
    ]);
    const nothing = "names nothing that is in the code";
    const about = (message: string, complaint?: string): RuleCase => [
      { code },
      found([1, message]),
      complaint,
    ];
    await holdRules(id, "is_about_the_code", [
      [{ code }, { findings: [] }, undefined],
      [{ code: "5 + 5;" }, found([1, "It is five"]), undefined],
      [{ code }, found([1, "Nothing here"], [3, "See total_sum"]), undefined],
      about("userInput is never checked"),
      about("The user input is never checked"),
      about("The total is wrong"),
      about("变量userInput没有检查"),
      about("Something else entirely", nothing),
      about("This is in it", nothing),
      about("It's wrong, e.g. here", nothing),
      about("to us", nothing),
    ]);
    for (const [own, message, complaint] of [
      ["let ab = 1;", "Use ab later", undefined],
      ["let e = 1;", "Wrong, i.e. bad", nothing],
      ["let ab_cd = 1;", "The ab here", nothing],
      ["let sum_of = 1;", "The sum here", undefined],
      ["let total_value = 1;", "The value here", nothing],
      ["return total;", "Never return", nothing],
      ["let sorted = 1;", "变量sorted没有检查", undefined],
      ["let sorted = 1;", "sortedé", nothing],
      ["счётчик = 1", "счётчик не нужен", undefined],
      ["счётчик2 = 1", "счётчик2 не нужен", undefined],
      ["user_name = 1", "The lastName looks odd here", nothing],
      ["user__name = 1", "The user here", undefined],
      ["let e = g + i;", "Wrong, e. g. here, i. e. there", nothing],
      ["let s = d;", "It’s wrong, they'd say", nothing],
    ] as const)
      await holdRules(id, "is_about_the_code", [[{ code: own }, found([1, message]), complaint]]);
    const short: RuleCase = [{ code: "let e = s;" }, found([1, "It's wrong, e.g. here"]), nothing];
    await holdRules(id, "is_about_the_code", [short]);
  });
});
