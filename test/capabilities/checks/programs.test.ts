import { expect } from "chai";
import { predictOutput } from "tallystick-capabilities/checks/predictOutput";
import { mustPrint } from "tallystick-capabilities/checks/programOutput";

const lines = (...all: string[]) => all.join("\n");

describe("the predicted output of a small program", () => {
  it("is computed for what reads lines, calculates with whole numbers, and prints", () => {
    const python: [code: string, output: string, stdin?: string][] = [
      ["", ""],
      ['print("a b")', "a b\n"],
      ["print('ab')", "ab\n"],
      ["print(5--3)", "8\n"],
      ['print("100%", 5)', "100% 5\n"],
      [lines('a = "x"', "a = 5", "print(a)"), "5\n"],
      ['print("")', "\n"],
      ["print(2 + 3 * 4)", "14\n"],
      [lines("a = 2", "b = a * (a + 3)", "print(a, b)", 'print("b", b)'), "2 10\nb 10\n"],
      [lines("# a comment", "", "a=5", "print(a)   "), "5\n"],
      [lines('a = "x"', "b = a", "print(b)"), "x\n"],
      [lines('a = "x"', "a = 5", "print(a + 1)"), "6\n"],
      [lines("a = '5'", "b = a", "print(b)"), "5\n"],
      [lines("a = -5", "print(a)", "print(-a)"), "-5\n5\n"],
      [lines("a = int(input())", "b = input()", "print(a * 2, b)"), "42 x y\n", "21\nx y\n"],
      [lines("a = int(input())", "print(a)"), "-7\n", "-7"],
      [lines("a = 1", "print(a)").replace("\n", "\r\n"), "1\n"],
      [lines(...Array(50).fill("print(1)")), "1\n".repeat(50)],
    ];
    for (const [code, output, stdin = ""] of python)
      expect(predictOutput(code, "python", stdin), code).to.equal(output);
    const javascript: [code: string, output: string][] = [
      ['console.log("a");', "a\n"],
      [
        lines("// a comment", "const a = 2;", "let b = a * 3 ;", "var c = b", "console.log(a, b, c);"),
        "2 6 6\n",
      ],
      ['console.log("100%")', "100%\n"],
      ['console.log("a; b");  ', "a; b\n"],
      ['console.log("a", "100%")', "a 100%\n"],
    ];
    for (const [code, output] of javascript)
      expect(predictOutput(code, "javascript", ""), code).to.equal(output);
  });

  it("is unknown for every program that does anything else", () => {
    const python: [code: string, stdin?: string][] = [
      ["import os"],
      ["print(a)"],
      ["print(4 / 2)"],
      ["print(5);"],
      ["print(e * 0)"],
      ['print(f"a")'],
      ['print("a" b)'],
      ["print(9007199254740993 - 9007199254740990)"],
      [lines("abs = 5", "print(abs(3))")],
      [lines("abs = 5", "print(abs (3))")],
      [lines("a = input()", "b = input()", "c = input()"), "5\n6\n"],
      ["print(1 / 2)"],
      ["print(2 ** 3)"],
      ["print(1, 1 / 2)"],
      ["print(abs(1))"],
      ["print(1.5)"],
      ["print(017)"],
      ["print(1_000)"],
      ["print(0x10)"],
      ["print(9007199254740993)"],
      ["print(9007199254740991 * 9007199254740991 - 1)"],
      ["print(0 * -1)"],
      ['print("a\\n")'],
      ["print(constructor)"],
      ["a == 5"],
      ["1a = 5"],
      ["a = b"],
      [lines("a = input()", "print(a + 1)"), "5"],
      [lines("a = input()", "b = input()"), "5\n"],
      ["a = int(input())", "x"],
      ["a = int(input())", "1234567890"],
      ["a = int(input())", "5 "],
      [lines('a = "5"', "print(a * 2)")],
      [lines("a = 5", 'a = "x"', "print(a + 1)")],
      [lines(...Array(51).fill("print(1)"))],
      [`print("${"x".repeat(4_000)}")`],
      [lines("x = input()", `print(${Array(1_300).fill("x").join(", ")})`), "a".repeat(1_000_000)],
    ];
    for (const [code, stdin = ""] of python)
      expect(predictOutput(code, "python", stdin), code.slice(0, 80)).to.equal(undefined);
    for (const code of [
      lines("const a = 1;", "const a = 2;"),
      lines('const a = "x";', "const a = 2;"),
      lines("let a = 1;", "a = 2;"),
      lines("let a = 1;", "console.log(a++);"),
      lines("let a = 1;", "console.log(--a);"),
      'console.log("%d", 5);',
      "const a = input();",
      'print("a")',
    ])
      expect(predictOutput(code, "javascript", "5\n"), code).to.equal(undefined);
    for (const language of ["ruby", "constructor"])
      expect(predictOutput('print("a")', language, ""), language).to.equal(undefined);
    const [echo, long] = [lines("a = input()", "print(a)"), "x".repeat(10_000_000)];
    expect(predictOutput(echo, "python", long)?.length).to.equal(10_000_001);
    expect(predictOutput(echo, "python", `${long}x`)).to.equal(undefined);
    expect(predictOutput(`print("${"x".repeat(3_991)}")`, "python", "")).to.equal(`${"x".repeat(3_991)}\n`);
  });
});

describe("the lines that a program must print", () => {
  it("are those of print statements outside of all blocks and brackets", () => {
    const cases: [code: string, language: string, printed: string[]][] = [
      [lines('print("a")  # why', "print('b')", 'x = ["c"]', 'print("d")'), "python", ["a", "b", "d"]],
      [lines("f(", 'print("a")', ")", 'print("b")'), "python", ["b"]],
      [lines("x = 'ab('", 'y = "ab("', 'print("a")'), "python", ["a"]],
      [lines("x = 1 if y else 2", 'print("a")'), "python", ["a"]],
      [lines('print("a")  # (', 'print("b")'), "python", ["a", "b"]],
      [lines("if (x)", "  ", 'console.log("a");'), "javascript", []],
      [lines('print("a", 1)', "print(a)", 'print("{x}")', 'print("")'), "python", [""]],
      [lines('console.log("a"); // (', 'console.log("b");'), "javascript", ["a"]],
      [lines('console.log("a"); // why', "console.log('b')"), "javascript", ["a", "b"]],
      [lines("if (x)", 'console.log("a");', 'console.log("b");'), "javascript", ["b"]],
      [lines("if (x)", "", 'console.log("a");'), "javascript", []],
      [lines("if (x) f();", 'console.log("a");'), "javascript", ["a"]],
      [lines("else", 'console.log("a");'), "javascript", []],
      [lines("g({", 'console.log("a");', "});", 'console.log("b");'), "javascript", ["b"]],
      [lines('console.log("(");', 'console.log("b");'), "javascript", ["(", "b"]],
      [lines('print("a")', 'print("b")').replace("\n", "\r\n"), "python", ["a", "b"]],
    ];
    for (const [code, language, printed] of cases)
      expect(mustPrint(code, language), code).to.deep.equal(printed);
  });

  it("are unknown if the program may end early, or may change what printing means", () => {
    const python = ["quit()", "raise X", "'''", "a = 1 + \\", "print = f", "eval(x)", "from os import *"];
    const javascript = [
      ...["throw x;", "`", "/*", "a = 1 + \\", "console.group();", "console.log = f;", "while (x) {}"],
      ...["for (;;) {}", "await x;", "process.exit();", "new Function(x);"],
    ];
    for (const line of python) expect(mustPrint(lines(line, 'print("a")'), "python"), line).to.deep.equal([]);
    for (const line of javascript)
      expect(mustPrint(lines(line, 'console.log("a")'), "javascript"), line).to.deep.equal([]);
  });
});
