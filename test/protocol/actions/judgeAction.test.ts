import { expect } from "chai";
import { readAction } from "tallystick-protocol/actions/action";
import { NO_ACTION_RULES, readActionRules } from "tallystick-protocol/actions/actionRules";
import { judgeAction } from "tallystick-protocol/actions/judgeAction";
import { InvalidInputError } from "tallystick-protocol/errors";
import { bypasses, rules, usdc, wallet } from "./support/bypasses.ts";

const allowed = readActionRules(rules);

/** Whether the service allows the action. It also denies input that is not an action. */
function proceeds(action: unknown): boolean {
  try {
    return judgeAction(allowed, readAction(action)).proceed;
  } catch (error) {
    expect(error).to.be.instanceOf(InvalidInputError);
    return false;
  }
}

const cwd = "/srv/project";

describe("judgeAction", () => {
  it("allows an action of which a rule allows every argument", () => {
    const good: unknown[] = [
      { type: "terminal", program: "npm", args: ["run", "test"], cwd },
      { type: "terminal", program: "npm", args: ["run", "lint"], cwd: "/srv/project/api" },
      { type: "terminal", program: "npm", args: ["run", "test"], cwd, env: { CI: "1" } },
      { type: "terminal", program: "git", args: ["commit", "-m", "Fix the rounding of fees"], cwd },
      { type: "terminal", program: "rm", args: ["/srv/project/build/app.js"], cwd },
      { type: "terminal", program: "rm", args: ["/srv/project/build/a.js", "/srv/project/build/b.js"], cwd },
      { type: "terminal", program: "head", args: ["-n", "20", "/srv/project/notes.md"], cwd },
      { type: "terminal", program: "bash", args: ["scripts/release.sh", "--dry-run"], cwd },
      {
        type: "file_write",
        path: "/srv/project/docs/a.md",
        mode: "create",
        bytes: 10,
        sha256: "0".repeat(64),
      },
      { type: "deletion", path: "/srv/project/build/app.js", recursive: false },
      { type: "deletion", path: "/srv/project/build/assets", recursive: true },
      { type: "payment", to: wallet, amount_usdc: "2.50", network: "eip155:8453", token: usdc },
    ];
    for (const action of good) expect(proceeds(action), JSON.stringify(action)).to.equal(true);
  });

  for (const [kind, attempts] of Object.entries(bypasses)) {
    it(`denies ${attempts.length} attempts to bypass the rules by ${kind}`, () => {
      for (const action of attempts) expect(proceeds(action), JSON.stringify(action)).to.equal(false);
    });
  }

  it("denies everything if there are no rules, and every action to which no rule applies", () => {
    const action = readAction({ type: "terminal", program: "ls", args: [], cwd });
    expect(judgeAction(NO_ACTION_RULES, action)).to.deep.equal({
      proceed: false,
      reason: "No rule allows this terminal (version 0).",
      rule: null,
    });
    expect(judgeAction(allowed, action).proceed).to.equal(false);
  });

  it("forbids other letters with the same capitals, which a disk that ignores case takes as the same", () => {
    const within = (folder: string, allow: boolean) => ({
      ...{ id: allow ? "all" : "keep", allow, type: "deletion", recursive: true },
      path: { within: folder },
    });
    const deletes = (kept: string, path: string) => {
      const own = readActionRules({ version: 1, rules: [within("/srv", true), within(kept, false)] });
      return judgeAction(own, readAction({ type: "deletion", path, recursive: true })).proceed;
    };
    expect(deletes("/srv/strasse", "/srv/stra\u00dfe/a")).to.equal(false);
    expect(deletes("/srv/stra\u00dfe", "/srv/STRASSE")).to.equal(false);
    expect(deletes("/srv/stra\u00dfe", "/srv/STRA\u1e9eE/a")).to.equal(false);
    expect(deletes("/srv/\u03b1\u03c3", "/srv/\u03b1\u03c2/a")).to.equal(false);
    expect(deletes("/srv/\u03b1\u03c2", "/srv/\u0391\u03a3/a")).to.equal(false);
    expect(deletes("/srv/strasse", "/srv/strase")).to.equal(true);
    // A disk takes the iota below a letter as a letter, and a reader takes it as an accent.
    for (const [kept, path] of [
      ["/srv/\u03b1\u03b9", "/srv/\u1fb3/a"],
      ["/srv/\u1fb3", "/srv/\u0391\u0399/a"],
      ["/srv/\u1fb3", "/srv/\u1fbc"],
      ["/srv/\u1fb3", "/srv/\u03b1/a"],
      ["/srv/\u03b1", "/srv/\u1fb3"],
      ["/srv/\u1fb3/\u03b1", "/srv"],
    ] as const)
      expect(deletes(kept, path), `${kept} ${path}`).to.equal(false);
    expect(deletes("/srv/\u03b1\u03b9", "/srv/\u03b1/a")).to.equal(true);
  });

  it("works out what a long path looks like once, however many rules compare it", () => {
    const path = `/${"\u1fb3".repeat(3_000)}`;
    const many = Array.from({ length: 1_000 }, (_, at) => ({
      ...{ id: `r-${at}`, allow: false, type: "deletion", path: { within: `/srv/keep-${at}` } },
    }));
    const own = readActionRules({ version: 1, rules: many });
    const action = readAction({ type: "deletion", path, recursive: true });
    const { normalize } = String.prototype;
    let times = 0;
    String.prototype.normalize = function (form) {
      if (this.length >= path.length) times++;
      return normalize.call(this, form);
    };
    try {
      expect(judgeAction(own, action).rule).to.equal(null);
    } finally {
      String.prototype.normalize = normalize;
    }
    expect(times).to.be.within(1, 4);
  });

  it("applies a rule that forbids before the rules that allow, and names this rule", () => {
    const action = readAction({ type: "deletion", path: "/srv/project/build/keep/a", recursive: false });
    expect(judgeAction(allowed, action)).to.deep.equal({
      proceed: false,
      reason: "These are kept (rule keep, version 3).",
      rule: "keep",
    });
  });
});

describe("readActionRules", () => {
  const rule = { id: "a", allow: true, type: "terminal", program: "ls", args: [], cwd: { within: "/srv" } };

  it("reads a folder without `within` as this folder only", () => {
    const rules = readActionRules({ version: 1, rules: [{ ...rule, cwd: "/srv/app" }] });
    const runs = (cwd: string) =>
      judgeAction(rules, readAction({ type: "terminal", program: "ls", args: [], cwd })).proceed;
    expect(["/srv/app", "/srv/app/evil", "/srv", "/srv/app2"].map(runs)).to.deep.equal([
      true,
      false,
      false,
      false,
    ]);
    expect(() => readActionRules({ version: 1, rules: [{ ...rule, cwd: "/srv/../etc" }] })).to.throw();
  });
  const refuses = (value: unknown): void => {
    expect(() => readActionRules({ version: 1, rules: [value] }), JSON.stringify(value)).to.throw(
      InvalidInputError,
    );
  };

  it("refuses rules that allow far too much", () => {
    refuses({ ...rule, args: undefined });
    refuses({ ...rule, cwd: undefined });
    refuses({ ...rule, program: "bash", args: ["-c", { text: { max_length: 100 } }] });
    refuses({ ...rule, program: "/usr/bin/python3.12", args: [{ within: "/srv" }] });
    refuses({ ...rule, program: "xargs", args: ["ls"], rest: { each: { within: "/srv" }, max: 3 } });
    for (const program of ["npx", "docker", "/bin/ash", "mawk", "nodejs", "pypy3"])
      refuses({ ...rule, program, args: [{ text: { max_length: 100 } }] });
    for (const all of [
      { cwd: { within: "/" } },
      { cwd: { within: "/" }, program: "make", args: ["test"] },
      { args: [{ within: "/" }] },
      { rest: { each: { within: "/" }, max: 1 } },
    ])
      refuses({ ...rule, ...all });
    const payment = { id: "a", allow: true, type: "payment", to: [wallet], max_usdc: "1", token: usdc };
    expect(() =>
      readActionRules({ version: 1, rules: [{ ...payment, network: "eip155:8453" }] }),
    ).not.to.throw();
    for (const missing of ["to", "max_usdc", "token", "network"])
      refuses({ ...payment, network: "eip155:8453", [missing]: undefined });
    refuses({ id: "a", allow: true, type: "deletion", path: { within: "/" } });
  });

  it("allows programs that run their arguments if the rule contains every argument, alone or in a list", () => {
    const one_of = ["test", "verify"];
    for (const [program, args] of [
      ["mvn", [{ one_of }]],
      ["make", ["-C", "app", { one_of }]],
      ["bash", ["--posix", { one_of: ["test", "lint"] }]],
      ["npm", ["exec", { one_of }]],
    ] as const) {
      const given = { ...rule, program, args };
      const own = readActionRules({ version: 1, rules: [given] });
      const proceedsWith = (last: string) => {
        const values = [...args.filter((each) => typeof each === "string"), last];
        return judgeAction(own, readAction({ type: "terminal", program, args: values, cwd: "/srv" })).proceed;
      };
      expect(["test", "install"].map(proceedsWith), program).to.deep.equal([true, false]);
      // With one free argument, or with further arguments in any order, an agent could make a command of its own.
      refuses({ ...given, args: [...args, { within: "/srv" }] });
      refuses({ ...given, rest: { each: { one_of }, max: 2 } });
    }
  });

  it("refuses rules that it does not understand, and two rules with one id", () => {
    refuses({ ...rule, pattern: ".*" });
    refuses({ ...rule, args: [{ matches: ".*" }] });
    refuses({ ...rule, cwd: { within: "/srv/../etc" } });
    refuses({ ...rule, type: "network" });
    expect(() => readActionRules({ version: 1, rules: [rule, rule] })).to.throw("unique");
  });
});
