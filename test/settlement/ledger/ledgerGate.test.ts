import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { type GatePart, LedgerGate } from "../../../services/settlement/ledger/ledgerGate.ts";

/** All parts, the most important first, and whether each also stops signatures. */
const PARTS: [part: GatePart, stopsSignatures: boolean][] = [
  ["changed", true],
  ["chain", true],
  ["signed", true],
  ["witness", true],
  ["copy", true],
  ["halt", false],
  ["store", false],
  ["index", false],
  ["unread", false],
  ["clock", false],
];
const reasonOf = (code: string) =>
  new TallystickError({ code, message: `The message of ${code}.`, hint: `The hint of ${code}.` });

describe("the gate of a ledger", () => {
  let logged: { sentence: string; [field: string]: unknown }[];
  let told: number;
  let gate: LedgerGate;
  beforeEach(() => {
    [logged, told] = [[], 0];
    gate = new LedgerGate((sentence, fields) => logged.push({ sentence, ...fields }));
    gate.onChange(() => told++);
  });
  /** The error with which work is refused. */
  const refused = (work: () => void): TallystickError | undefined => {
    try {
      work();
    } catch (error) {
      return error as TallystickError;
    }
    return undefined;
  };

  it("refuses writes while one of its parts is closed, and signatures while the content is in doubt", () => {
    for (const [part, stopsSignatures] of PARTS) {
      const reason = reasonOf(`code_of_${part}`);
      gate.close(part, reason);
      expect(gate.refusal, part).to.equal(reason);
      const { code, message, hint } = reason;
      const details = { headers: { "retry-after": "5" } };
      for (const work of [() => gate.requireWrites(), () => gate.requirePart(part)])
        expect(refused(work), part).to.deep.include({ code, message, hint, details });
      expect([gate.maySign, refused(() => gate.requireSignatures())?.code], part).to.deep.equal(
        stopsSignatures ? [false, code] : [true, undefined],
      );
      const other = part === "clock" ? "index" : "clock";
      expect(
        refused(() => gate.requirePart(other)),
        "another part",
      ).to.equal(undefined);
      gate.open(part);
      for (const work of [
        () => gate.requireWrites(),
        () => gate.requirePart(part),
        () => gate.requireSignatures(),
      ])
        expect(refused(work), part).to.equal(undefined);
      expect([gate.refusal, gate.maySign]).to.deep.equal([undefined, true]);
    }
  });

  it("names the most important of its reasons, in whatever order they come", () => {
    for (const [part] of PARTS.toReversed()) {
      gate.close(part, reasonOf(part));
      expect(gate.refusal?.code).to.equal(part);
    }
    for (const [at, [part]] of PARTS.entries()) {
      gate.open(part);
      expect(gate.refusal?.code).to.equal(PARTS[at + 1]?.[0]);
    }
  });

  it("logs each new reason and the end of all, and tells its listeners", () => {
    const [full, cause] = [reasonOf("full"), new Error("ENOSPC")];
    const sentences = () => logged.splice(0).map(({ sentence }) => sentence);
    gate.close("index", full);
    gate.close("index", reasonOf("full"));
    expect([logged, told]).to.deep.equal([
      [
        {
          ...{ sentence: "Writes are refused.", code: "full" },
          ...{ reason: "The message of full.", hint: "The hint of full." },
        },
      ],
      1,
    ]);
    sentences();
    const contradicts = new TallystickError({ code: "contradicts", message: "m", hint: "h", cause });
    gate.close("signed", contradicts);
    expect(logged.splice(0)).to.deep.equal([
      {
        ...{ sentence: "Writes and checkpoints are refused.", code: "contradicts", reason: "m", hint: "h" },
        cause,
      },
    ]);
    gate.open("index");
    gate.open("index");
    expect([told, sentences()], "another part is closed").to.deep.equal([2, []]);
    gate.open("signed");
    expect([told, sentences()]).to.deep.equal([3, ["Writes and checkpoints are accepted again."]]);
    gate.open("signed");
    expect([told, sentences()], "it was open").to.deep.equal([3, []]);
  });

  it("says nothing of a part that closes and opens quietly, but its listeners hear when writes go on", () => {
    gate.close("unread", reasonOf("unread"), { quietly: true });
    expect([told, refused(() => gate.requireWrites())?.code]).to.deep.equal([0, "unread"]);
    gate.open("unread");
    expect([told, logged]).to.deep.equal([1, []]);
    gate.close("clock", reasonOf("clock"));
    gate.open("clock");
    gate.close("unread", reasonOf("unread"), { quietly: true });
    gate.open("unread");
    expect([told, logged.length]).to.deep.equal([4, 2]);
  });

  it("asks its checks before each answer about writes", () => {
    let looks = 0;
    gate.onAsk(() => {
      looks++;
      gate.close("clock", reasonOf("clock"));
    });
    gate.onAsk(() => void looks++);
    expect(gate.refusal?.code).to.equal("clock");
    expect(looks).to.equal(2);
    gate.open("clock");
    expect([refused(() => gate.requireWrites())?.code, looks]).to.deep.equal(["clock", 4]);
    gate.open("clock");
    expect([refused(() => gate.requirePart("clock"))?.code, looks]).to.deep.equal(["clock", 6]);
  });

  it("gives a refusal as this machine's own only if no other machine would refuse", () => {
    expect(gate.ownRefusal).to.equal(undefined);
    const own: GatePart[] = ["changed", "index", "clock"];
    for (const [part] of PARTS) {
      gate.close(part, reasonOf("why"));
      expect(gate.ownRefusal?.code, part).to.equal(own.includes(part) ? "why" : undefined);
      gate.close("index", reasonOf("full"));
      expect(gate.ownRefusal === undefined, `${part} and index`).to.equal(!own.includes(part));
      gate.open(part);
      gate.open("index");
    }
    gate.close("chain", reasonOf("chain_unknown"));
    expect(gate.ownRefusal?.code).to.equal("chain_unknown");
  });

  it("remembers why the chain is silent, and writes go on", () => {
    const reason = reasonOf("chain_unknown");
    gate.noteSilence(reason);
    expect([gate.silence, gate.refusal]).to.deep.equal([reason, undefined]);
    gate.noteSilence(undefined);
    expect(gate.silence).to.equal(undefined);
  });
});
