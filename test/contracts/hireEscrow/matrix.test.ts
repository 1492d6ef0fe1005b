import { expect } from "chai";
import type { Log } from "ethers";
import { BUILD_TIMEOUT, freshChain } from "../support/chain.ts";
import type { Hire } from "../support/hire.ts";
import { ACCOUNTS } from "../support/matrix/cast.ts";
import { effectOf } from "../support/matrix/effects.ts";
import {
  type Fault,
  faults,
  neededWord,
  PARTIES,
  ROLES,
  type Role,
  type Situation,
  VERBS,
  type Verb,
  WAYS,
  type Way,
} from "../support/matrix/rules.ts";
import { isOneOf, type MatrixWorld, newMatrixWorld, type Staged } from "../support/matrix/stage.ts";
import { wordFor } from "../support/matrix/words.ts";

/** A cell of the matrix: a verb, the account that acts, the account that the call names, the way of acting, the hire. */
type Cell = { verb: Verb; speaker: Role; named: Role; way: Way; staged: Staged };

/** The kinds of accounts to test. `npm run mutate` uses only one kind, because it runs this test more than a thousand times. */
const KINDS = process.env.MATRIX_KINDS?.split(",");

for (const kind of ACCOUNTS.filter((it) => KINDS?.includes(it) ?? true)) {
  describe(`HireEscrow: the rights of accounts of the kind ${kind}`, () => {
    let world: MatrixWorld;
    before(async function () {
      this.timeout(BUILD_TIMEOUT);
      world = await newMatrixWorld(await freshChain(), kind);
    });

    for (const verb of VERBS) {
      it(`should allow ${verb} to exactly the accounts that the rules name, in every state`, async function () {
        this.timeout(BUILD_TIMEOUT);
        let [allowed, refused] = [0, 0];
        for (const cell of cellsOf(verb, world)) {
          const broken = faults(verb, cell.speaker, cell.named, cell.way, cell.staged.situation);
          if (broken.length === 0) allowed++;
          else refused++;
          await check(world, cell, broken);
        }
        expect(allowed, "some cell is allowed").to.be.greaterThan(0);
        expect(refused, "some cell is refused").to.be.greaterThan(0);
      });
    }

    it("should accept no word of another verb, hire, chain or contract, and no word with other terms", async function () {
      this.timeout(BUILD_TIMEOUT);
      const staged = world.stages.find(({ situation }) => isPlain(situation, "held"));
      const fresh = world.stages.find(({ situation }) => isPlain(situation, "none"));
      if (!staged || !fresh) throw new Error("not staged");
      for (const [verb, at] of [
        ["release", staged],
        ["split", staged],
        ["refund", staged],
        ["markDelivered", staged],
        ["depositWithPermit", fresh],
        ["depositWithAuthorization", fresh],
      ] as const) {
        for (const named of verb === "refund" ? PARTIES : (["buyer"] as const)) {
          const speaker = neededWord(verb, named) as Role;
          for (const [i, [what, signature]] of wrongWords(world, verb, at, named, speaker).entries()) {
            const data = world.encode(verb, at.hire, world.cast[named].address, signature);
            // The sender does not make a wrong signature valid.
            for (const sender of i === 0 ? ROLES : (["relayer"] as const)) {
              const reason = await world.refusal(sender, data, false);
              const errors = world.errorsOf(["word"], verb, sender, speaker, "signed", at);
              expect(errors, `${verb} with ${what}, sent by ${sender}`).to.include(reason);
            }
          }
        }
      }
    });
  });
}

/** The entitled accounts in every state, and all other accounts in the states in which they could gain most. */
function* cellsOf(verb: Verb, { stages, kind }: MatrixWorld): Generator<Cell> {
  for (const staged of stages) {
    const telling = isPlain(staged.situation, "held") || isPlain(staged.situation, "none");
    const late = staged.situation.late && staged.situation.status === "held";
    const common = kind === "key" || kind === "wallet";
    for (const speaker of ROLES) {
      const names: readonly Role[] = verb === "refund" ? [...new Set([speaker, ...PARTIES])] : [speaker];
      for (const named of names) {
        const needed = neededWord(verb, named);
        const entitled = needed === undefined ? speaker === "stranger" : speaker === needed;
        if (!telling && !late && !(entitled && common)) continue;
        for (const way of WAYS) yield { verb, speaker, named, way, staged };
      }
    }
  }
}

async function check(world: MatrixWorld, cell: Cell, broken: Fault[]): Promise<void> {
  const { verb, speaker, named, way, staged } = cell;
  const name = `${verb} by ${speaker} for ${named}, ${way}, ${JSON.stringify(staged.situation)}`;
  const { hire } = staged;
  const word = wordFor(verb, hire, world.idOf(hire), world.cast[named].address, world.domains);
  const bySignature = way === "signed" || way === "wrapped";
  const signature = bySignature ? world.signatureOf(speaker, word, way === "wrapped") : "0x";
  const sender: Role = bySignature ? "relayer" : speaker;
  const data = world.encode(verb, hire, world.cast[named].address, signature);
  // A refused cell needs only an `eth_call`. In a batch it needs a transaction, whose events have the error.
  const hasEffects = broken.length === 0 || way === "batched";
  const undo = await world.enter(speaker, word, staged.situation, { bySignature, hasEffects });
  try {
    if (broken.length > 0) {
      const reason = await world.refusal(sender, data, way === "batched");
      const needed = neededWord(verb, named);
      const errors = world.errorsOf(broken, verb, sender, needed ?? named, way, staged, named);
      if (!isOneOf(errors, reason)) expect.fail(`${name}: ${reason} is none of ${errors}`);
      return;
    }
    const before = await world.balances();
    const logs = await world.perform(sender, data, way === "batched");
    const after = await world.balances();
    const effect = effectOf(verb, staged, world.cast, world.idOf(hire), named);
    const moved = Object.fromEntries(Object.entries(after).map(([who, now]) => [who, now - before[who]!]));
    expect(moved, name).to.deep.equal({ ...zeros(before), ...effect.moved });
    expect(world.eventsIn(logs as Log[]), name).to.deep.equal(effect.events(await world.now()));
    if (effect.state) expect(await world.stateOf(hire), name).to.deep.equal(effect.state);
  } finally {
    await undo();
  }
}

function wrongWords(
  world: MatrixWorld,
  verb: Verb,
  { hire }: Staged,
  named: Role,
  speaker: Role,
): [string, string][] {
  const { cast, domains, idOf } = world;
  const signer = cast[named].address;
  const right = wordFor(verb, hire, idOf(hire), signer, domains);
  const other: Hire = { ...hire, hireId: `0x${"0f".repeat(32)}` };
  const words: [string, typeof right][] = VERBS.filter((it) => it !== verb)
    .map((it): [string, typeof right] => [
      `the word of ${it}`,
      wordFor(it, hire, idOf(hire), signer, domains),
    ])
    .filter(
      ([, word]) => JSON.stringify(Object.keys(word.types)) !== JSON.stringify(Object.keys(right.types)),
    );
  words.push(
    ["the word of another hire", wordFor(verb, other, idOf(other), signer, domains)],
    ["the word of another chain", { ...right, domain: { ...right.domain, chainId: 1n } }],
    [
      "the word of another contract",
      { ...right, domain: { ...right.domain, verifyingContract: cast.stranger.address } },
    ],
  );
  const message = { ...right.message };
  if ("toSeller" in message) message.toSeller = 1n;
  if ("resultHash" in message) message.resultHash = `0x${"00".repeat(32)}`;
  if ("signer" in message) message.signer = cast.stranger.address;
  if ("value" in message) message.value = 1n;
  if ("fee" in message) message.fee = 0n;
  if (verb !== "release") words.push(["other terms", { ...right, message }]);
  return words.map(([what, word]) => [what, world.signatureOf(speaker, word, false)]);
}

function isPlain({ status, delivered, late, paused }: Situation, wanted: Situation["status"]): boolean {
  return status === wanted && !delivered && !late && !paused;
}

function zeros(balances: Record<string, bigint>): Record<string, bigint> {
  return Object.fromEntries(Object.keys(balances).map((who) => [who, 0n]));
}
