import { expect } from "chai";
import type { TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { compareWithChain, haltOf } from "../../../services/settlement/anchoring/compareWithChain.ts";
import type { LedgerOnChain } from "../../../services/settlement/anchoring/readLedgerOnChain.ts";

const [WRITER, OTHER, NEXT] = ["11", "22", "33"].map((byte) => `0x${byte.repeat(20)}`) as [
  `0x${string}`,
  `0x${string}`,
  `0x${string}`,
];

describe("a ledger on disk and its contract", () => {
  const tree = new MerkleTree();
  for (let n = 0; n < 5; n++) tree.append(leafHash(Uint8Array.of(n)));
  const headOf = (size: number, root = toHex(tree.root(Math.min(size, 5)))) => ({ size: BigInt(size), root });
  const onChain = (changes: object): LedgerOnChain =>
    ({
      ...{ block: { number: 1n, time: 1n }, confirmed: undefined },
      ledger: {
        head: headOf(3),
        isEquivocated: false,
        announced: null,
        writer: WRITER,
        formerSize: null,
        ...changes,
      },
    }) as unknown as LedgerOnChain;
  /** The code, message and hint of the contradiction. */
  const said = (changes: object): string[] => {
    try {
      compareWithChain(onChain(changes), { tree, writer: WRITER });
    } catch (error) {
      const { code, message, hint } = error as TallystickError;
      return [code, message, hint ?? ""];
    }
    return [];
  };

  it("agree if the contract has a beginning of the entries, all of them, or no ledger", () => {
    for (const size of [0, 3, 5]) expect(said({ head: headOf(size) }), String(size)).to.deep.equal([]);
    const closed = { ...onChain({}), ledger: undefined };
    expect(() => compareWithChain(closed, { tree, writer: OTHER })).not.to.throw();
    expect(said({ formerSize: 2n }), "the present writer has written it before too").to.deep.equal([]);
  });

  it("contradict each other if entries are missing here, are others, or two histories were signed", () => {
    const cases: [changes: object, code: string, message: string, hint: RegExp][] = [
      [
        { head: headOf(6) },
        "chain_ahead",
        "The contract holds 6 entries, but the disk has only 5.",
        /older copy, or another process writes the ledger\. Stop the service, restore .+ ledger pull --from URL$/,
      ],
      [
        { head: headOf(3, toHex(tree.root(4))) },
        "root_contradicts",
        "The first 3 entries on disk are not the ones that were anchored.",
        /replaced or rewritten, or another .+ Stop the service, and restore .+ accepts no other history\.$/,
      ],
      [
        { isEquivocated: true },
        "ledger_equivocated",
        "The contract has marked this ledger: its writer signed two histories.",
        /Begin another ledger with a new LEDGER_ORIGIN and a new key\.$/,
      ],
    ];
    for (const [changes, code, message, hint] of cases) {
      const [saidCode, saidMessage, saidHint] = said(changes);
      expect([saidCode, saidMessage]).to.deep.equal([code, message]);
      expect(saidHint).to.match(hint);
    }
  });

  it("have another writer: a later one, an announced one, or one that nobody knows here", () => {
    const changed = said({ writer: OTHER, formerSize: 2n });
    expect(changed.slice(0, 2)).to.deep.equal([
      "writer_changed",
      `From entry 2 on, ${OTHER} writes the ledger. ${WRITER} wrote it before.`,
    ]);
    expect(changed[2]).to.match(/^Stop this service, because it is no longer the writer\./);
    const differs = ["writer_differs", `The ledger's writer is ${OTHER}, not ${WRITER}.`];
    const announced = { next: WRITER, readyAt: 86_400n, halted: false };
    expect(said({ writer: OTHER, announced })).to.deep.equal([
      ...differs,
      `${WRITER} is announced. When 1970-01-02T00:00:00Z has come, run: tallystick ledger accept-writer`,
    ]);
    for (const other of [null, { ...announced, next: NEXT }])
      expect(said({ writer: OTHER, announced: other })).to.deep.equal([
        ...differs,
        "Set ANCHOR_WRITER and its key to the ledger's writer, and LEDGER_FIRST_WRITER to its first one; or stop this service.",
      ]);
  });

  it("stop writes while the guardian's announcement of another writer stands", () => {
    const announced = { next: NEXT, readyAt: 1_800_000_000n, halted: true };
    for (const changes of [{}, { announced: { ...announced, halted: false } }])
      expect(haltOf(onChain(changes))).to.equal(undefined);
    expect(haltOf({ ...onChain({}), ledger: undefined })).to.equal(undefined);
    expect(haltOf(onChain({ announced }))).to.include({
      code: "guardian_announced",
      message: `The ledger's guardian has announced the writer ${NEXT}, from 2027-01-15T08:00:00Z on. Until then nothing can be anchored.`,
      hint: "If you did not agree to that, ask the guardian to withdraw it. Otherwise this service ends when the new writer accepts.",
    });
  });
});
