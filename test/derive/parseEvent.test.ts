import { expect } from "chai";
import { parseEvent } from "tallystick-derive/parseEvent";
import { InvalidInputError } from "tallystick-protocol/errors";
import { defineParams } from "tallystick-protocol/records/params";
import { wallet } from "./eventLog.ts";

type Values = { [field: string]: unknown };
/** Values that a field may have, and values that it may not have. */
type Form = { right: unknown[]; wrong: unknown[] };

const hash = (digit: string) => `0x${digit.repeat(64)}`;
/** The most bytes of a stranger's text, or of its bytes, that a line has. */
const MOST = 256;

const count: Form = {
  right: [0, 1, Number.MAX_SAFE_INTEGER],
  wrong: [-1, 0.5, Number.MAX_SAFE_INTEGER + 1, "1", null, undefined, [1], true],
};
const text: Form = { right: ["", "any text"], wrong: [0, null, undefined, ["a"], {}] };
const flag: Form = { right: [true, false], wrong: [0, 1, "true", null, undefined] };
const address: Form = {
  right: [wallet(1), wallet(0)],
  wrong: [
    ...[`0x${"A".repeat(40)}`, `0x${"a".repeat(39)}`, `0x${"a".repeat(41)}`, "a".repeat(40)],
    ...[`${wallet(1)}\n`, ` ${wallet(1)}`, "", 1, null, undefined],
  ],
};
const digest: Form = {
  right: [hash("0"), hash("f")],
  wrong: [
    hash("F"),
    hash("f").slice(0, -1),
    `${hash("f")}f`,
    `${hash("f")}\n`,
    wallet(1),
    1,
    null,
    undefined,
  ],
};
const amount: Form = {
  right: ["0", "7", "9".repeat(78)],
  wrong: ["", "00", "01", "-1", "1.0", "+1", "1e3", " 1", "1\n", "9".repeat(79), 1, null, undefined],
};
const signed: Form = {
  right: ["0", "-1", "1", `-${"9".repeat(39)}`],
  wrong: ["-0", "+1", "01", "9".repeat(40), "1.5", "", "1\n", 1, null, undefined],
};
const decimals: Form = { right: [0, 18, 255], wrong: [256, -1, 0.5, "18", null, undefined] };
const object: Form = { right: [{}, { a: 1 }], wrong: [[], null, "{}", 1, undefined] };
const rest = { bytes: 5_000, hash: hash("a") };
const loggedText: Form = {
  right: ["", "x".repeat(MOST), { ...rest, text: "the beginning" }],
  wrong: [
    ...["a\u0000b", "a\nb", "\ud800", "x".repeat(MOST + 1), 1, null, undefined, []],
    ...[rest, { ...rest, text: "a\u0007" }, { ...rest, text: 1 }, { text: "a", hash: hash("a") }],
    ...[
      { bytes: 1, text: "a" },
      { ...rest, bytes: -1, text: "a" },
      { ...rest, hash: "0x", text: "a" },
    ],
  ],
};
const loggedBytes: Form = {
  right: ["0x", "0xab", `0x${"ab".repeat(MOST)}`, rest],
  wrong: ["ab", "0xg1", `0x${"ab".repeat(MOST + 1)}`, { bytes: 1 }, { hash: hash("a") }, 1, null, undefined],
};
const side: Form = { right: ["in", "out", "spent"], wrong: ["", "IN", "both", 1, null, undefined] };

const optional = ({ right, wrong }: Form): Form => ({
  right: [...right, undefined],
  wrong: wrong.filter((it) => it !== undefined),
});
const all = (form: Form, ...names: string[]) => Object.fromEntries(names.map((name) => [name, form]));

const position = all(count, "block", "time");
const onChain = all(count, "block", "time", "log");
const transfer = {
  ...onChain,
  ...all(address, "token", "from", "to"),
  value: amount,
  tx: digest,
};
const identity = { ...onChain, registry: address, tx: digest, identity: amount };
const feedback = { ...identity, client: address, index: amount };

/** The fields of each kind of line, as the event log has them. */
const KINDS: { [kind: string]: { [field: string]: Form } } = {
  transfer: { ...transfer, authorized: flag },
  history: { ...transfer, authorized: optional(flag) },
  count: {
    ...onChain,
    wallet: address,
    side,
    transfers: { right: [1, 2], wrong: [0, -1, 1.5, "1", null, undefined] },
  },
  "escrow.deposited": {
    ...onChain,
    provider: text,
    ...all(address, "escrow", "buyer", "seller", "payee", "feeRecipient", "arbiter"),
    ...all(digest, "escrowId", "hireId", "tx"),
    ...all(amount, "amount", "fee"),
    deadline: count,
  },
  "escrow.delivered": { ...onChain, escrowId: digest, resultHash: digest },
  "escrow.released": { ...onChain, escrowId: digest, ...all(amount, "toSeller", "toBuyer", "fee") },
  "escrow.refunded": { ...onChain, escrowId: digest, by: address },
  "escrow.timedOut": { ...onChain, escrowId: digest, delivered: flag },
  record: {
    ...onChain,
    ledger: digest,
    seq: count,
    ...all(text, "hash", "type", "signature"),
    body: object,
    signer: address,
  },
  "identity.registered": { ...identity, owner: address, uri: loggedText },
  "identity.uriUpdated": { ...identity, by: address, uri: loggedText },
  "identity.metadataSet": { ...identity, key: loggedText, value: loggedBytes },
  "identity.transferred": { ...identity, from: address, to: address },
  "feedback.given": {
    ...feedback,
    value: signed,
    decimals,
    ...all(loggedText, "tag1", "tag2", "endpoint", "uri"),
    hash: digest,
  },
  "feedback.revoked": feedback,
  "feedback.responded": { ...feedback, responder: address, uri: loggedText, hash: digest },
  "registry.upgraded": { ...onChain, registry: address, tx: digest, implementation: address },
  tick: { ...position, hash: optional(digest) },
};

const read = (values: Values) => parseEvent(JSON.stringify(values));

/** The field and the message of the refusal of a line. */
function refusal(line: string): [field: string, message: string] {
  try {
    parseEvent(line);
  } catch (error) {
    expect(error).to.be.instanceOf(InvalidInputError);
    const { code, issues } = error as InvalidInputError;
    expect(code).to.equal("invalid_event");
    expect(issues).to.have.length(1);
    return [issues[0]?.field ?? "", issues[0]?.message ?? ""];
  }
  throw new Error(`The line was read: ${line}`);
}

describe("a line of an event log", () => {
  for (const [kind, fields] of Object.entries(KINDS)) {
    const line = {
      kind,
      ...Object.fromEntries(Object.entries(fields).map(([name, { right }]) => [name, right[0]])),
    };

    it(`of kind ${kind} is read as it is, with each value that a field may have`, () => {
      for (const [name, { right }] of Object.entries(fields))
        for (const value of right) {
          const given = { ...line, [name]: value };
          expect(read(given), name).to.deep.equal(JSON.parse(JSON.stringify(given)));
        }
    });

    it(`of kind ${kind} is refused by the name of the field that is missing or wrong`, () => {
      for (const [name, { wrong }] of Object.entries(fields))
        for (const value of wrong) {
          const [field, message] = refusal(JSON.stringify({ ...line, [name]: value }));
          expect(field, JSON.stringify(value)).to.equal(name);
          expect(message).to.equal(
            name === "side" ? "must be in, out or spent" : `is missing or malformed in a ${kind} event`,
          );
        }
    });
  }

  const first = { kind: "params", block: 1, log: 0, time: 1, params: defineParams({}) };
  const registries = { identity: wallet(1), reputation: wallet(2), implementations: [wallet(3), wallet(4)] };

  it("with parameters names the chain, the token, the form and the registries, or leaves them out", () => {
    const more = {
      chainId: 8453,
      token: { address: wallet(5), firstBlock: 7 },
      form: "relevant",
      registries,
    };
    expect(read({ ...first, ...more })).to.deep.include(more);
    expect(read(first)).to.deep.include({ kind: "params", block: 1 });
    expect(read({ ...first, form: "all" })).to.include({ form: "all" });
    expect(read({ ...first, registries: { ...registries, implementations: [] } })).to.include({
      kind: "params",
    });
  });

  it("with parameters is refused by the name of what is wrong", () => {
    const wrong: [field: string, values: unknown[]][] = [
      ["chainId", [-1, "8453", null]],
      [
        "token",
        [null, wallet(5), { address: wallet(5) }, { firstBlock: 1 }, { address: "0x", firstBlock: 1 }].concat(
          [{ address: wallet(5), firstBlock: -1 }] as never,
        ),
      ],
      [
        "registries",
        [
          ...[null, [], { ...registries, identity: "0x" }, { ...registries, reputation: "0x" }],
          ...[
            { ...registries, reputation: wallet(1) },
            { ...registries, implementations: wallet(3) },
          ],
          ...[
            { ...registries, implementations: [wallet(3), "0x"] },
            { ...registries, implementations: ["0x", wallet(3)] },
          ],
        ],
      ],
    ];
    for (const [name, values] of wrong)
      for (const value of values) {
        const told = refusal(JSON.stringify({ ...first, [name]: value }));
        expect(told, JSON.stringify(value)).to.deep.equal([
          name,
          "is missing or malformed in a params event",
        ]);
      }
    expect(refusal(JSON.stringify({ ...first, form: "some" }))).to.deep.equal([
      "form",
      "must be all or relevant",
    ]);
    expect(refusal(JSON.stringify({ ...first, params: [] }))[0]).to.equal("params");
    expect(refusal(JSON.stringify({ ...first, params: { unknown: 1 } }))[0]).to.match(/^params/);
  });

  it("is an object with a known kind", () => {
    for (const line of ["[]", "null", "1", '"text"'])
      expect(refusal(line), line).to.deep.equal(["", "must be an object"]);
    expect(refusal("{")[1]).to.match(/^is not JSON: ./);
    const known = ["params", ...Object.keys(KINDS)];
    for (const kind of ["", "transfers", "toString", "constructor", undefined, null, ["transfer"]]) {
      const [field, message] = refusal(JSON.stringify({ kind }));
      expect(field, String(kind)).to.equal("kind");
      expect(message.replace("must be one of ", "").split(", ")).to.have.members(known);
    }
  });
});
