import { expect } from "chai";
import { readAction } from "tallystick-protocol/actions/action";
import { type ActionRules, readActionRules } from "tallystick-protocol/actions/actionRules";
import { judgeAction } from "tallystick-protocol/actions/judgeAction";
import { InvalidInputError } from "tallystick-protocol/errors";

const [seller, other, usdc] = ["a1", "a2", "a3"].map((it) => `0x${it.repeat(20)}`) as [
  string,
  string,
  string,
];
const cwd = "/srv/app";

const terminal = (args: string[], more: object = {}) => ({
  type: "terminal",
  program: "tool",
  args,
  cwd,
  ...more,
});
const allowTool = (more: object) => ({
  id: "a",
  allow: true,
  type: "terminal",
  program: "tool",
  cwd,
  ...more,
});
const forbidTool = (more: object) => ({ id: "f", allow: false, type: "terminal", program: "tool", ...more });
const write = (path: string, more: object = {}) => ({
  type: "file_write",
  path,
  mode: "create",
  bytes: 10,
  sha256: "0".repeat(64),
  ...more,
});
const writes = (allow: boolean, more: object = {}) => ({
  id: allow ? "a" : "f",
  allow,
  type: "file_write",
  path: { within: "/srv/docs" },
  ...more,
});
const remove = (path: string, recursive = false) => ({ type: "deletion", path, recursive });
const removes = (allow: boolean, more: object = {}) => ({
  id: allow ? "a" : "f",
  allow,
  type: "deletion",
  path: { within: "/srv/build" },
  ...more,
});
const pay = (amount: string, more: object = {}) => ({
  type: "payment",
  to: seller,
  amount_usdc: amount,
  network: "eip155:8453",
  token: usdc,
  ...more,
});
const pays = (more: object = {}) => ({
  id: "a",
  allow: true,
  type: "payment",
  to: [seller],
  max_usdc: "2.5",
  network: "eip155:8453",
  token: usdc,
  ...more,
});
const payFrom = (max: string | undefined, more: object = {}) => ({
  id: "f",
  allow: false,
  type: "payment",
  ...(max !== undefined && { max_usdc: max }),
  ...more,
});

/** Whether the rule applies to the action. */
function meets(rule: { id: string }, action: unknown): boolean {
  return judgeAction(readActionRules({ version: 1, rules: [rule] }), readAction(action)).rule === rule.id;
}

type Row = [rule: { id: string }, meets: unknown[], misses: unknown[]];

const text3 = allowTool({ args: [{ text: { max_length: 3 } }] });
const number = allowTool({ args: [{ integer: { min: -5, max: 20 } }] });

const clauses: { [clause: string]: Row[] } = {
  "text of an argument": [
    [
      text3,
      ["a", "abc", "a=b", "a%"].map((it) => terminal([it])),
      [[], ...["", "abcd", "=a", "@a", "%a", "-a", "--", "a;b"].map((it) => [it])].map((it) => terminal(it)),
    ],
  ],
  "a whole number": [
    [
      number,
      ["-5", "-1", "0", "7", "20"].map((it) => terminal([it])),
      ["-6", "21", "07", "+1", "1.0", "1e1", "", "-", "-0", "x1", "1x", "9".repeat(16)].map((it) =>
        terminal([it]),
      ),
    ],
    [
      allowTool({ args: [{ integer: { min: 0, max: 999_999_999_999_999 } }] }),
      [terminal(["999999999999999"]), terminal(["100"])],
      [terminal(["1000000000000000"])],
    ],
  ],
  "an argument that is written out": [
    [allowTool({ args: [""] }), [terminal([""])], [terminal([]), terminal(["x"])]],
    [
      allowTool({ args: ["-x", "a;b"] }),
      [terminal(["-x", "a;b"])],
      [terminal(["-x"]), terminal(["a;b", "-x"])],
    ],
  ],
  "one of a list": [
    [
      allowTool({ args: [{ one_of: ["run", "-v"] }, "test"] }),
      [terminal(["run", "test"]), terminal(["-v", "test"])],
      [
        terminal(["run"]),
        terminal(["test", "run"]),
        terminal(["Run", "test"]),
        terminal(["run", "test", "x"]),
      ],
    ],
  ],
  "a path": [
    [
      allowTool({ args: [{ within: "/srv/data" }] }),
      [terminal(["/srv/data"]), terminal(["/srv/data/a"])],
      [terminal(["/srv/data2"]), terminal(["/srv/data/../x"]), terminal(["/srv"]), terminal(["srv/data"])],
    ],
  ],
  "further arguments": [
    [
      allowTool({ args: ["x"], rest: { each: { text: { max_length: 2 } }, max: 2 } }),
      [terminal(["x"]), terminal(["x", "a"]), terminal(["x", "a", "b"])],
      [
        terminal([]),
        terminal(["x", "a", "b", "c"]),
        terminal(["x", "abc", "b"]),
        terminal(["x", "a", "abc"]),
      ],
    ],
    [allowTool({ args: ["x"] }), [terminal(["x"])], [terminal(["x", "y"]), terminal([])]],
  ],
  variables: [
    [
      allowTool({ args: [], env: { CI: "1" } }),
      [terminal([]), terminal([], { env: {} }), terminal([], { env: { CI: "1" } })],
      [terminal([], { env: { CI: "2" } }), terminal([], { env: { CI: "1", PATH: "/x" } })],
    ],
    [allowTool({ args: [] }), [terminal([])], [terminal([], { env: { toString: "1" } })]],
  ],
  "a program that is forbidden": [
    [
      forbidTool({}),
      [
        terminal([]),
        terminal(["x"]),
        terminal([], { program: "/usr/bin/tool" }),
        terminal([], { program: "TOOL" }),
      ],
      [terminal([], { program: "tools" }), terminal([], { program: "/tool/other" })],
    ],
    [
      forbidTool({ program: "/usr/bin/tool" }),
      [terminal([]), terminal([], { program: "/opt/tool" })],
      [terminal([], { program: "bin" })],
    ],
    [
      forbidTool({ args: ["Push", { one_of: ["main", "dev"] }] }),
      [terminal(["push", "MAIN"]), terminal(["push", "dev", "--force"])],
      [terminal(["push"]), terminal(["pull", "main"]), terminal(["push", "x"]), terminal(["main", "push"])],
    ],
    [
      forbidTool({ args: [{ within: "/srv/keep" }] }),
      [terminal(["/srv/keep"]), terminal(["/srv/KEEP/a"])],
      [terminal([]), terminal(["/srv/kept"])],
    ],
    [
      forbidTool({ args: [{ integer: { min: 1, max: 9 } }] }),
      [terminal(["9"])],
      [terminal(["10"]), terminal([])],
    ],
  ],
  "a file to write": [
    [
      writes(true, { modes: ["create", "append"], max_bytes: 10, endings: [".md", ".txt"] }),
      [write("/srv/docs/a.md"), write("/srv/docs/b/a.txt", { mode: "append", bytes: 0 })],
      [
        write("/srv/docs/a.md", { mode: "overwrite" }),
        write("/srv/docs/a.md", { bytes: 11 }),
        write("/srv/docs/a.js"),
        write("/srv/docs/a.MD"),
        write("/srv/docs2/a.md"),
      ],
    ],
    [
      writes(true),
      [write("/srv/docs/a", { bytes: 1e12 })],
      [write("/srv/docs"), write("/srv/a"), write("/srv/DOCS/a")],
    ],
    // A rule that forbids applies also to paths that differ only in case. Its `max_bytes` forbids larger files.
    [
      writes(false, { max_bytes: 10, endings: [".md", ".txt"] }),
      [write("/srv/docs/a.md", { bytes: 11 }), write("/srv/DOCS/a.MD", { bytes: 11 })],
      [write("/srv/docs/a.md", { bytes: 10 }), write("/srv/docs/a.js", { bytes: 11 })],
    ],
    [
      writes(false, { endings: [".MD"] }),
      [write("/srv/docs/a.md"), write("/srv/docs/a.Md")],
      [write("/srv/docs/a")],
    ],
    [writes(true, { endings: [".MD"] }), [write("/srv/docs/a.MD")], [write("/srv/docs/a.md")]],
    [writes(false), [write("/srv/docs"), write("/srv/docs/a")], [write("/srv/a")]],
  ],
  "a path to delete": [
    [
      removes(true),
      [remove("/srv/build/a")],
      [
        remove("/srv/build/a", true),
        remove("/srv/build"),
        remove("/srv/a"),
        remove("/srv/BUILD/a"),
        remove("/srv/bui\u0142d/a"),
      ],
    ],
    [removes(true, { recursive: false }), [remove("/srv/build/a")], [remove("/srv/build/a", true)]],
    [
      removes(true, { recursive: true }),
      [remove("/srv/build/a"), remove("/srv/build/a", true)],
      [remove("/srv/build", true)],
    ],
    [
      removes(false),
      [
        remove("/srv/build"),
        remove("/srv/build/a"),
        remove("/srv/BUILD/a"),
        remove("/srv", true),
        remove("/", true),
      ],
      [remove("/srv"), remove("/srv/other", true)],
    ],
    [
      removes(false, { recursive: true }),
      [remove("/srv/build/a", true), remove("/srv", true)],
      [remove("/srv/build/a")],
    ],
    [
      removes(false, { recursive: false }),
      [remove("/srv/build/a")],
      [remove("/srv/build/a", true), remove("/srv", true)],
    ],
  ],
  "a payment": [
    [
      pays(),
      [pay("2.5"), pay("0.000001")],
      [
        pay("2.500001"),
        pay("0"),
        pay("1", { to: other }),
        pay("1", { token: other }),
        pay("1", { network: "eip155:1" }),
        pay("1", { network: "eip155:84532" }),
      ],
    ],
    [payFrom("2.5"), [pay("2.500001"), pay("9", { to: other })], [pay("2.5"), pay("0")]],
    [payFrom(undefined, { to: [other] }), [pay("0", { to: other }), pay("1", { to: other })], [pay("1")]],
    [payFrom(undefined, { network: "eip155:1" }), [pay("1", { network: "eip155:1" })], [pay("1")]],
    [payFrom(undefined, { token: other }), [pay("1", { token: other })], [pay("1")]],
    [payFrom(undefined), [pay("1")], []],
  ],
};

describe("the clauses of an action's rules", () => {
  for (const [clause, rows] of Object.entries(clauses)) {
    it(`apply to exactly the right actions for ${clause}`, () => {
      for (const [rule, met, missed] of rows) {
        for (const action of met)
          expect(meets(rule, action), JSON.stringify({ rule, action })).to.equal(true);
        for (const action of missed)
          expect(wouldMeet(rule, action), JSON.stringify({ rule, action })).to.equal(false);
      }
    });
  }

  it("apply to only one kind of action", () => {
    const rules = [
      allowTool({ args: [] }),
      { ...writes(true), id: "w" },
      { ...removes(true), id: "d" },
      { ...pays(), id: "p" },
    ];
    for (const [action, rule] of [
      [terminal([]), "a"],
      [write("/srv/docs/a"), "w"],
      [remove("/srv/build/a"), "d"],
      [pay("1"), "p"],
    ] as const)
      for (const order of [rules, rules.toReversed()])
        expect(judgeAction(readActionRules({ version: 1, rules: order }), readAction(action)).rule).to.equal(
          rule,
        );
    for (const rule of [forbidTool({}), { ...payFrom(undefined) }])
      expect(meets(rule, remove("/srv/build/a")), JSON.stringify(rule)).to.equal(false);
  });

  it("allow nothing in rules without a folder, which nobody read", () => {
    const { cwd: _, ...rule } = allowTool({ args: [] });
    const unread = { version: 1, rules: [rule] } as unknown as ActionRules;
    expect(judgeAction(unread, readAction(terminal([])))).to.include({ proceed: false, rule: null });
    // A rule without arguments allows only a call without arguments.
    const bare = { version: 1, rules: [allowTool({})] } as unknown as ActionRules;
    const proceeds = (args: string[]) => judgeAction(bare, readAction(terminal(args))).proceed;
    expect([proceeds([]), proceeds(["x"])]).to.deep.equal([true, false]);
  });

  it("give the rule's own reason, or a general reason", () => {
    const judge = (rule: object) =>
      judgeAction(readActionRules({ version: 7, rules: [rule] }), readAction(terminal([])));
    expect(judge(forbidTool({})).reason).to.equal("This is forbidden (rule f, version 7).");
    expect(judge(forbidTool({ reason: "Never" })).reason).to.equal("Never (rule f, version 7).");
    expect(judge(allowTool({ args: [] }))).to.deep.equal({
      proceed: true,
      reason: "This is allowed (rule a, version 7).",
      rule: "a",
    });
    expect(judge(allowTool({ args: [], reason: "Every day" })).reason).to.equal(
      "Every day (rule a, version 7).",
    );
  });
});

/** Whether the rule applies. No rule applies to input that is not an action. */
function wouldMeet(rule: { id: string }, action: unknown): boolean {
  try {
    return meets(rule, action);
  } catch (error) {
    expect(error).to.be.instanceOf(InvalidInputError).with.property("code", "invalid_action");
    return false;
  }
}

describe("invalid rules and actions", () => {
  const complaint = (read: () => unknown): { code: string; issues: object[] } => {
    try {
      read();
    } catch (error) {
      const { code, issues } = error as InvalidInputError;
      return { code, issues };
    }
    throw new Error("nothing was refused");
  };
  const rule = (more: object) => complaint(() => readActionRules({ version: 1, rules: [more] }));
  const id = (message: string) => ({
    code: "invalid_rules",
    issues: [{ field: "action_rules.rules.0.id", message }],
  });

  it("are refused with the field and the fault", () => {
    expect(rule({ ...allowTool({}) })).to.deep.equal(id("must list the arguments it allows"));
    expect(rule({ ...allowTool({ args: [] }), cwd: undefined })).to.deep.equal(
      id("must say in which folder the program may run (cwd)"),
    );
    for (const program of ["bash", "/bin/BASH", "python3", "/usr/bin/python3.12"]) {
      const name = program.split("/").at(-1)?.toLowerCase();
      expect(rule(allowTool({ program, args: [{ within: "/srv/x" }] })).issues[0]).to.deep.equal({
        field: "action_rules.rules.0.id",
        message: `must write out every argument, because ${name} runs its arguments`,
      });
    }
    // Other programs may have arguments that are not written out, also if their names look like that of a runner.
    for (const name of ["tool", "3node", "/bash/tool", "bashx", "xbash", "m", "linux"])
      expect(() =>
        readActionRules({ version: 1, rules: [allowTool({ program: name, args: [{ within: "/srv/x" }] })] }),
      ).not.to.throw();
    expect(() =>
      readActionRules({ version: 1, rules: [allowTool({ program: "bash", args: ["-c", "ls"] })] }),
    ).not.to.throw();
    const pay = id("must name who may be paid, how much, in which token and on which network");
    for (const name of ["to", "max_usdc", "token", "network"])
      expect(rule({ ...pays(), [name]: undefined })).to.deep.equal(pay);
    const [path, text] = ["must have no . or .. in it", "must have no control or invisible characters"];
    for (const [wrong, at, message] of [
      [writes(true, { path: { within: "/srv/../etc" } }), "path.within", path],
      [allowTool({ args: [], cwd: "/srv", env: { CI: "a\u0000" } }), "env.CI", text],
    ] as const)
      expect(rule(wrong).issues).to.deep.include({ field: `action_rules.rules.0.${at}`, message });
    for (const all of [writes, removes])
      expect(rule({ ...all(true), path: { within: "/" } })).to.deep.equal(
        id("must not allow the whole file system"),
      );
    expect(
      complaint(() => readActionRules({ version: 1, rules: [forbidTool({}), forbidTool({})] })).issues,
    ).to.deep.equal([{ field: "action_rules.rules.1.id", message: "must be unique" }]);
    for (const forbid of [forbidTool({}), writes(false, { path: { within: "/" } }), payFrom(undefined)])
      expect(() => readActionRules({ version: 1, rules: [forbid] })).not.to.throw();
  });

  it("are refused if no action could have this program or network, because such a rule would forbid nothing", () => {
    for (const program of ["rm -rf", "bin/rm", "./rm", "/usr/../bin/rm", "\u0440\u043c", "rm\u00adx", ""])
      expect(rule(forbidTool({ program })).issues, program).to.have.nested.property(
        "[0].field",
        "action_rules.rules.0.program",
      );
    for (const network of ["base", "EIP155:8453", "eip155:", "eip155:08453", "8453", ""])
      expect(rule(payFrom(undefined, { network })).issues, network).to.have.nested.property(
        "[0].field",
        "action_rules.rules.0.network",
      );
  });

  const path = (value: string) => complaint(() => readAction(remove(value))).issues;
  for (const [value, message] of [
    ["srv/a", "must begin at the root: /"],
    ["/srv//a", "must have no empty segment and no slash at its end"],
    ["/srv/a/", "must have no empty segment and no slash at its end"],
    ["/srv/../a", "must have no . or .. in it"],
    ["/srv/.../a", "must have no . or .. in it"],
    ["/srv/ a/b", "must have no segment that begins with a space, or ends in a space or dot"],
    ["/srv/a /b", "must have no segment that begins with a space, or ends in a space or dot"],
    ["/srv/a.", "must have no segment that begins with a space, or ends in a space or dot"],
    ["/srv/a./b", "must have no segment that begins with a space, or ends in a space or dot"],
    ["/srv/a$b", "must not have $ in it, which other programs read as something else"],
    ["/proc/1/root", "must not go through /proc, /dev, /sys or /run, where other files can be reached"],
    ["/Dev/null", "must not go through /proc, /dev, /sys or /run, where other files can be reached"],
    [`/${"a".repeat(4096)}`, "must have at most 4096 characters"],
    ["/srv/a\u0007", "must have no control or invisible characters"],
    ["/srv/a\u00a0b", "must have no spaces but the plain one"],
    ["/srv/\ufb01le", "must be written in plain letters (Unicode NFKC)"],
    ["/srv/a\u034fb", "must have no invisible characters"],
    ["/srv/a\ufe0f", "must have no invisible characters"],
    ["/srv/p\u0430yroll", "must not mix alphabets within a word"],
    ["/srv/\u03b1\u0561", "must not mix alphabets within a word"],
    ["/srv/\u0430\u13a0", "must not mix alphabets within a word"],
  ] as const)
    it(`are refused with the fault of the path ${JSON.stringify(value.slice(0, 20))}: it ${message}`, () => {
      expect(path(value)).to.deep.equal([{ field: "action.path", message }]);
    });

  it("are not refused for dots, spaces and letters of other alphabets that are clear", () => {
    for (const good of [
      "/",
      "/srv/.git/a b.txt",
      "/srv/a.b/..c",
      "/srv/\u0434\u043e\u043c-house/\u03b1\u03b2",
      `/${"a".repeat(4095)}`,
    ])
      expect(() => readAction(remove(good)), good).not.to.throw();
  });

  it("are refused with __proto__ in env, .. in a program's path, or a control character in an argument", () => {
    const env = JSON.parse('{"__proto__":"1"}');
    expect(complaint(() => readAction(terminal([], { env })))).to.deep.equal({
      code: "invalid_action",
      issues: [{ field: "action.env", message: "must not have __proto__" }],
    });
    expect(complaint(() => readAction(terminal([], { program: "/usr/../bin/x" }))).issues).to.deep.equal([
      { field: "action.program", message: "must have no . or .. in it" },
    ]);
    expect(complaint(() => readAction(terminal(["a\u0000"]))).issues).to.deep.equal([
      { field: "action.args.0", message: "must have no control or invisible characters" },
    ]);
    for (const none of [null, undefined, 1, terminal([], { env: null }), terminal([], { env: "x" })])
      expect(complaint(() => readAction(none)).code, JSON.stringify(none)).to.equal("invalid_action");
  });
});
