import { expect } from "chai";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import type { EscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { advancesOf, HIRE_GAS, openGasAccounts, signaturesOf } from "tallystick-sdk/escrow/gasAccounts";
import { createOutcomes } from "tallystick-sdk/escrow/instructionOutcomes";
import { type InstructionKind, openInstructionBook, SURE_MS } from "tallystick-sdk/escrow/keeperInstructions";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";

const address = (byte: string) => `0x${byte.repeat(20)}` as const;
const hash = (byte: string) => `0x${byte.repeat(32)}` as const;
const [BUYER, SELLER] = [address("b1"), address("5e")];
const LIMIT = 400_000;
const signature = "0x12";
const hire: Hire = {
  ...{ hireId: hash("33"), buyer: BUYER, seller: SELLER, payee: ZERO_ADDRESS, amount: 7n },
  ...{ fee: 0n, feeRecipient: ZERO_ADDRESS, deadline: 2n ** 40n, arbiter: ZERO_ADDRESS },
};

describe("the outcome of an instruction that a keeper has", () => {
  let time: number;
  let logged: string[];
  let isPaid: boolean;
  beforeEach(() => {
    [time, logged, isPaid] = [1_800_000_000_000, [], true];
  });
  const open = async (kind: InstructionKind = "release") => {
    const store = memoryStore();
    const accounts = await openGasAccounts(store, () => time);
    const calls = { deployment: { chainId: 31_337, escrow: address("e5") }, idOf: () => hash("1d") };
    const book = await openInstructionBook({
      ...{ calls: calls as Pick<EscrowCalls, "deployment" | "idOf">, store, accounts, log: () => {} },
    });
    const outcomes = createOutcomes({
      ...{ book, accounts, gasPerWallet: LIMIT, isPaid: () => isPaid, now: () => time },
      log: (sentence, details) => void logged.push(`${sentence} ${details?.reason ?? ""}`.trim()),
    });
    const it = book.read(kind, hire, kind === "release" ? BUYER : SELLER, signature);
    await book.put(it);
    const room = (of = signaturesOf(it.signer)) => accounts.roomOf(of, LIMIT);
    return { book, it, outcomes, room, accounts, isKept: () => book.find(it.key) !== undefined };
  };

  it("needs gas that is set aside, and waits five seconds if there is no room", async () => {
    const { it: one, outcomes, room } = await open();
    expect(outcomes.setAside(one)).to.equal(true);
    expect(room()).to.equal(LIMIT - 150_000);
    expect(outcomes.setAside(one, 100_000), "in place of the first").to.equal(true);
    expect([room(), one.notBefore]).to.deep.equal([LIMIT - 100_000, 0]);
    expect(outcomes.setAside(one, LIMIT + 1)).to.equal(false);
    expect([room(), one.notBefore]).to.deep.equal([LIMIT, time + 5_000]);
    outcomes.setAside(one);
    await outcomes.deleteNote(one);
    expect([room(), one.reservation]).to.deep.equal([LIMIT, undefined]);
  });

  it("is final when the chain shows it for the second time, two minutes later", async () => {
    const { it: one, outcomes, room, isKept } = await open();
    outcomes.setAside(one);
    await outcomes.seeSettled(one, "refunded");
    expect([one.settledAt, one.notBefore, one.reservation]).to.deep.equal([time, time + SURE_MS, undefined]);
    expect([room(), isKept()]).to.deep.equal([LIMIT, true]);
    await outcomes.seeSettled(one, "refunded");
    expect(isKept()).to.equal(false);
    await outcomes.finish(one, "released");
    expect([isKept(), room()], "an instruction that is gone").to.deep.equal([false, LIMIT]);
    expect(logged).to.deep.equal(["The escrow of an instruction is settled. refunded"]);
  });

  it("changes nothing if another instruction has its place meanwhile", async () => {
    const { book, it: one, outcomes, room } = await open();
    await book.remove(one);
    const newer = book.read("release", hire, BUYER, "0x34");
    await book.put(newer);
    await outcomes.finish(one, "released");
    expect([book.find(one.key), newer.settledAt, newer.hasPaid]).to.deep.equal([newer, undefined, false]);
    expect([room(advancesOf(BUYER)), room(signaturesOf(BUYER))], "paid by none").to.deep.equal([
      LIMIT,
      LIMIT,
    ]);
  });

  it("pays the gas accounts once for a release that paid the fee, and for nothing else", async () => {
    const cases: [kind: InstructionKind, status: "released" | "split", isPaid: boolean, earns: boolean][] = [
      ["release", "released", true, true],
      ["release", "released", false, false],
      ["release", "split", true, false],
      ["refund", "released", true, false],
    ];
    for (const [kind, status, paid, earns] of cases) {
      isPaid = paid;
      const { it: one, outcomes, room } = await open(kind);
      const both = () => [room(advancesOf(BUYER)), room(signaturesOf(BUYER))];
      await outcomes.finish(one, status);
      const most = LIMIT + (earns ? HIRE_GAS : 0);
      expect(both(), `${kind} ${status} ${paid}`).to.deep.equal([most, most]);
      expect(one.hasPaid).to.equal(earns);
      // A reorganisation may undo it, and it is sent again.
      outcomes.seeHeld(one);
      expect(one.settledAt).to.equal(undefined);
      await outcomes.finish(one, status);
      expect(both(), "not paid twice").to.deep.equal([most, most]);
      expect(one.hasPaid).to.equal(earns);
    }
    isPaid = true;
    const { it: one, outcomes, room } = await open();
    one.byKey = true;
    await outcomes.finish(one, "released");
    expect([room(advancesOf(BUYER)), room(signaturesOf(BUYER))]).to.deep.equal([LIMIT + HIRE_GAS, LIMIT]);
    expect(logged.filter((line) => line.startsWith("A reorganization"))).to.have.length(4);
    outcomes.seeHeld({ ...one, settledAt: undefined });
    expect(logged.filter((line) => line.startsWith("A reorganization"))).to.have.length(4);
  });

  it("costs its wallet the gas of a failure, and is tried once more unless it can never be valid", async () => {
    const { it: one, outcomes, room, isKept } = await open();
    outcomes.setAside(one);
    one.owed = 1_000;
    await outcomes.onFailure(one, { error: "Odd", gas: 20_000, triedGas: 60_000, signature });
    expect([room(), one.owed, one.tries, isKept()]).to.deep.equal([LIMIT - 21_000, 0, 1, true]);
    outcomes.setAside(one);
    await outcomes.onFailure(one, { error: undefined, gas: 10_000, triedGas: 60_000, signature });
    expect([room(), isKept()]).to.deep.equal([LIMIT - 31_000, false]);
    expect(logged).to.deep.equal([
      "An instruction failed and is tried once more, alone. Odd",
      "An instruction is dropped. no reason given",
    ]);
    for (const error of ["NotAParty", "NotAuthorized"]) {
      const never = await open();
      await never.outcomes.onFailure(never.it, { error, gas: 1, triedGas: 60_000, signature });
      expect(never.isKept(), error).to.equal(false);
    }
  });

  it("costs only its own gas and no try if somebody else was faster", async () => {
    const { it: one, outcomes, room, isKept } = await open();
    outcomes.setAside(one);
    one.owed = 1_000;
    await outcomes.onFailure(one, { error: "WrongStatus", gas: 20_000, triedGas: 20_000, signature });
    expect([room(), one.owed, one.tries, isKept()]).to.deep.equal([LIMIT - 20_000, 1_000, 0, true]);
    expect(one.reservation).to.equal(undefined);
    time += 86_400_000;
    expect(room(), "forgotten after a day, because the signature did not fail").to.equal(LIMIT);
  });

  it("costs its wallet the gas of a failure also if a look at it meanwhile gave back what was set aside", async () => {
    for (const isSetAsideAgain of [false, true]) {
      const { it: one, outcomes, room } = await open();
      outcomes.setAside(one);
      const { reservation } = one;
      if (isSetAsideAgain) outcomes.setAside(one, 100_000);
      else await outcomes.lookLater(one, "not there");
      const gas = { gas: 20_000, triedGas: 60_000, reservation };
      await outcomes.onFailure(one, { error: "Odd", signature, ...gas });
      expect(room()).to.equal(LIMIT - 20_000 - (isSetAsideAgain ? 100_000 : 0));
      expect(one.reservation?.gas).to.equal(isSetAsideAgain ? 100_000 : undefined);
    }
  });

  it("is held against a wallet that is late and burned more than a good instruction uses", async () => {
    const { it: one, outcomes, room, isKept } = await open();
    outcomes.setAside(one);
    one.owed = 1_000;
    await outcomes.onFailure(one, { error: "WrongStatus", gas: 20_001, triedGas: 20_000, signature });
    expect([room(), one.owed, one.tries, isKept()]).to.deep.equal([LIMIT - 21_001, 0, 0, true]);
    time += 86_400_000;
    expect(room(), "not forgotten after a day").to.equal(LIMIT - 21_001);
  });

  it("is not held against a wallet that is late among others, because only the gas of all is known", async () => {
    const { it: one, outcomes, room, isKept } = await open();
    outcomes.setAside(one);
    one.owed = 1_000;
    const gas = { gas: 90_000, triedGas: 20_000, isOwn: false };
    await outcomes.onFailure(one, { error: "WrongStatus", signature, ...gas });
    expect([room(), one.owed, one.tries, isKept()]).to.deep.equal([LIMIT - 90_000, 1_000, 0, true]);
    time += 86_400_000;
    expect(room(), "forgotten after a day").to.equal(LIMIT);
  });

  it("of a trial that was refused costs nothing, and is looked at eight times with doubling pauses", async () => {
    const { it: one, outcomes, room, isKept } = await open();
    for (let look = 1; look < 8; look++) {
      outcomes.setAside(one);
      await outcomes.onRefused(one, "NotYet");
      expect([one.notBefore - time, room(), isKept()]).to.deep.equal([5_000 * 2 ** look, LIMIT, true]);
    }
    await outcomes.onRefused(one, "NotYet");
    expect([isKept(), logged]).to.deep.equal([false, ["An instruction is dropped. NotYet"]]);
    for (const error of ["WrongStatus", "NotAParty", "NotAuthorized"]) {
      const never = await open();
      never.outcomes.setAside(never.it);
      await never.outcomes.onRefused(never.it, error);
      expect([never.isKept(), never.room()], error).to.deep.equal([false, LIMIT]);
    }
    const unknown = await open();
    await unknown.outcomes.onRefused(unknown.it, undefined);
    expect(unknown.isKept()).to.equal(true);
  });
});
