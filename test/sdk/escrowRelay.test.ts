import { expect } from "chai";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { ChainError } from "tallystick-sdk/errors";
import type { EscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { type EscrowRelay, firstRelay, walletRelay } from "tallystick-sdk/escrow/escrowRelay";
import {
  escrowExtraSchema,
  payeeInTerms,
  readEscrowPayload,
  toEscrowPayload,
} from "tallystick-sdk/escrow/escrowScheme";
import { requireWorth } from "tallystick-sdk/escrow/keeperWorth";
import type { EscrowState } from "tallystick-sdk/escrow/readEscrowState";
import { rejection } from "./support/tamper.ts";

const address = (byte: string) => `0x${byte.repeat(20)}` as const;
const hash = (byte: string) => `0x${byte.repeat(32)}` as const;
const [BUYER, SELLER, KEEPER] = [address("b1"), address("5e"), address("fe")];
const [SENT, EARLIER] = [hash("aa"), hash("ea")];
const hire: Hire = {
  ...{ hireId: hash("33"), buyer: BUYER, seller: SELLER, payee: ZERO_ADDRESS, amount: 1_000_000n },
  ...{ fee: 0n, feeRecipient: ZERO_ADDRESS, deadline: 2n ** 40n, arbiter: ZERO_ADDRESS },
};
const authorization = { validAfter: 0n, validBefore: 9n, signature: "0x12" } as const;
const wrongStatus = new ChainError({ code: "call_refused", message: "no", reason: "WrongStatus" });
const notAParty = new ChainError({ code: "call_refused", message: "no", reason: "NotAParty" });
const away = new ChainError({ code: "chain_unreachable", message: "away" });

/** Everything that a relay carries to the escrow. */
const verbs: { [verb: string]: (relay: EscrowRelay) => Promise<unknown> } = {
  deposit: (relay) => relay.deposit(hire, authorization),
  markDelivered: (relay) => relay.markDelivered(hire, hash("44"), "0x12"),
  release: (relay) => relay.release(hire, "0x12"),
  refund: (relay) => relay.refund(hire, SELLER, "0x12"),
  state: (relay) => relay.state(hash("11")),
};
const given: { [verb: string]: unknown[] } = {
  ...{ deposit: [hire, authorization], markDelivered: [hire, hash("44"), "0x12"] },
  ...{ release: [hire, "0x12"], refund: [hire, SELLER, "0x12"], state: [hash("11")] },
};

describe("a relay with its own wallet", () => {
  /** @param faults how often the contract refuses what is sent */
  const open = (
    status: EscrowState["status"],
    fault?: Error,
    faults = fault === undefined ? 0 : Number.POSITIVE_INFINITY,
  ) => {
    const asked: unknown[][] = [];
    let left = faults;
    const send =
      (name: string) =>
      async (...args: unknown[]) => {
        asked.push([name, ...args]);
        if (left-- > 0) throw fault;
        return SENT;
      };
    const calls = {
      ...{ depositWithAuthorization: send("deposit"), markDelivered: send("markDelivered") },
      ...{ release: send("release"), refund: send("refund"), idOf: () => hash("1d") },
      state: async (...args: unknown[]) => {
        asked.push(["state", ...args]);
        return { status };
      },
      findEvent: async (id: string, what: string) => {
        asked.push(["find", id, what]);
        return EARLIER;
      },
    } as unknown as EscrowCalls;
    return { asked, relay: walletRelay(calls) };
  };

  it("sends what it is given", async () => {
    for (const [verb, work] of Object.entries(verbs)) {
      const { asked, relay } = open("held");
      expect(await work(relay), verb).to.deep.equal(verb === "state" ? { status: "held" } : SENT);
      expect(asked, verb).to.deep.equal([[verb, ...(given[verb] ?? [])]]);
    }
  });

  it("gives the earlier transaction if the same was done before, and the refusal if something else was done", async () => {
    const wanted = { deposit: "held", release: "released", refund: "refunded" } as const;
    const statuses = ["none", "held", "released", "split", "refunded", "timedOut"] as const;
    const endOf = async (verb: string, done: string, status: (typeof statuses)[number]) => {
      const { asked, relay } = open(status, wrongStatus);
      const end = await (verbs[verb]?.(relay) ?? expect.fail(verb)).catch((error: unknown) => error);
      expect(end, `${verb} of ${status}`).to.equal(status === done ? EARLIER : wrongStatus);
      const what = verb === "deposit" ? "deposit" : "settlement";
      const looked = [["state", hash("1d")], ...(status === done ? [["find", hash("1d"), what]] : [])];
      const isTried = status !== done && (status === "none" || status === "held");
      const once = [[verb, ...(given[verb] ?? [])], ...looked];
      expect(asked, `${verb} of ${status}`).to.deep.equal(isTried ? [...once, ...once, ...once] : once);
    };
    await Promise.all(
      Object.entries(wanted).flatMap(([verb, done]) => statuses.map((status) => endOf(verb, done, status))),
    );
    for (const fault of [notAParty, away, new Error("oops")]) {
      const { asked, relay } = open("released", fault);
      expect(await rejection(relay.release(hire, "0x12"))).to.equal(fault);
      expect(asked).to.have.length(1);
    }
  });

  it("sends it again if a node of the RPC that does not know the deposit has refused it", async () => {
    const attempts = ["markDelivered", "release", "refund"].flatMap((verb) =>
      (["none", "held"] as const).map(async (status) => {
        const { asked, relay } = open(status, wrongStatus, 2);
        expect(await verbs[verb]?.(relay), `${verb} of ${status}`).to.equal(SENT);
        expect(asked.filter(([name]) => name === verb)).to.have.length(3);
      }),
    );
    await Promise.all(attempts);
    const { asked, relay } = open("released", wrongStatus);
    expect(await rejection(relay.markDelivered(hire, hash("44"), "0x12"))).to.equal(wrongStatus);
    expect(asked.map(([name]) => name)).to.deep.equal(["markDelivered", "state"]);
  });

  it("looks for the transaction of a deposit again if a node shows the escrow before its event", async () => {
    const looks = [undefined, undefined, EARLIER];
    const calls = {
      ...{ depositWithAuthorization: () => Promise.reject(wrongStatus), idOf: () => hash("1d") },
      ...{ state: async () => ({ status: "held" }), findEvent: async () => looks.shift() },
    } as unknown as EscrowCalls;
    expect(await walletRelay(calls).deposit(hire, authorization)).to.equal(EARLIER);
    expect(looks).to.deep.equal([]);
  });

  it("gives the refusal if the earlier transaction is not found", async () => {
    const calls = {
      ...{ release: () => Promise.reject(wrongStatus), idOf: () => hash("1d") },
      ...{ state: async () => ({ status: "released" }), findEvent: async () => undefined },
    } as unknown as EscrowCalls;
    expect(await rejection(walletRelay(calls).release(hire, "0x12"))).to.equal(wrongStatus);
  });
});

describe("the first of several relays", () => {
  const relayWith = (fault: Error | undefined, name: string, asked: string[]): EscrowRelay => {
    const work = async (...args: unknown[]) => {
      asked.push(`${name} ${args.length}`);
      if (fault) throw fault;
      return name;
    };
    return Object.fromEntries(Object.keys(verbs).map((verb) => [verb, work])) as unknown as EscrowRelay;
  };

  it("that does not fail is used, and none after a refusal by the contract", async () => {
    for (const [verb, work] of Object.entries(verbs)) {
      const count = given[verb]?.length;
      const asked: string[] = [];
      const relay = (fault: Error | undefined, name: string) => relayWith(fault, name, asked);
      const fails = [relay(away, "a"), relay(new Error("oops"), "b")] as const;
      expect(await work(firstRelay([...fails, relay(undefined, "c"), relay(undefined, "d")]))).to.equal("c");
      expect(asked.splice(0), verb).to.deep.equal([`a ${count}`, `b ${count}`, `c ${count}`]);
      const refused = work(firstRelay([fails[0], relay(notAParty, "e"), relay(undefined, "f")]));
      expect(await rejection(refused)).to.equal(notAParty);
      expect(asked, verb).to.deep.equal([`a ${count}`, `e ${count}`]);
      expect(await rejection(work(firstRelay([relay(new Error("first"), "g"), relay(away, "h")])))).to.equal(
        away,
      );
    }
  });
});

describe("the terms of a payment into an escrow, as they are sent", () => {
  it("are read as they were written, and without what may be left out", () => {
    const payload = toEscrowPayload({ hire, authorization });
    expect(payload).to.include({ valid_after: "0", valid_before: "9", signature: "0x12" });
    expect(readEscrowPayload(payload)).to.deep.equal({ hire, authorization });
    const { valid_after: _, ...rest } = payload;
    expect(readEscrowPayload(rest)).to.deep.equal({ hire, authorization });
    for (const bad of [{ signature: "12" }, { valid_before: "-1" }, { hire: {} }, { valid_after: 5 }])
      expect(() => readEscrowPayload({ ...payload, ...bad }), JSON.stringify(bad)).to.throw();
    expect(() => readEscrowPayload({ ...payload, signature: "x" })).to.throw("must be hex");
    expect(() => readEscrowPayload({ ...payload, hire: { ...payload.hire, amount: "x" } }))
      .to.throw()
      .with.property("field", "payload.hire.amount");
  });

  it("have no payee if it is the seller, and no fee unless they name one", () => {
    expect(escrowExtraSchema.parse({ seller: SELLER, note: "x" })).to.deep.equal({
      ...{ seller: SELLER, payee: ZERO_ADDRESS, fee: "0", fee_recipient: ZERO_ADDRESS, note: "x" },
    });
    expect(escrowExtraSchema.safeParse({}).success).to.equal(false);
    const terms = [undefined, SELLER, BUYER].map((payee) => payeeInTerms(SELLER, payee));
    expect(terms).to.deep.equal([ZERO_ADDRESS, ZERO_ADDRESS, BUYER]);
  });
});

describe("what a hire needs for a keeper", () => {
  const refused = (changes: Partial<Hire>, worth: Parameters<typeof requireWorth>[1]) => {
    try {
      requireWorth({ ...hire, ...changes }, worth);
      return "ok";
    } catch (error) {
      const { code, field, message } = error as { code: string; field: string; message: string };
      return [code, field, message];
    }
  };
  it("is its smallest amount, and the fee of the schedule for the right account", () => {
    expect(refused({}, {})).to.equal("ok");
    expect(refused({ amount: 0n }, {})).to.deep.equal([
      "amount_too_small",
      "hire.amount",
      "Only hires of at least 1 atomic units are relayed here.",
    ]);
    expect(refused({}, { minAmount: 1_000_000n })).to.equal("ok");
    expect(refused({}, { minAmount: 1_000_001n })[0]).to.equal("amount_too_small");
    const fee = { recipient: KEEPER };
    const message = `Only hires that pay ${KEEPER} a fee of 5000 atomic units are relayed here.`;
    const paid = { fee: 5_000n, feeRecipient: KEEPER };
    expect(refused(paid, { fee })).to.equal("ok");
    const mixed = KEEPER.replace("fe", "Fe") as typeof KEEPER;
    expect(refused(paid, { fee: { recipient: mixed } }), "in mixed case (EIP-55)").to.equal("ok");
    expect(refused({ ...paid, fee: 4_999n }, { fee })).to.deep.equal(["fee_missing", "hire.fee", message]);
    expect(refused({ ...paid, feeRecipient: BUYER }, { fee })).to.deep.equal([
      ...["fee_missing", "hire.fee_recipient", message],
    ]);
    const fees = [{ fromAtomic: "0", rateMillionths: 0, minAtomic: "7" }];
    expect(refused({ ...paid, fee: 7n }, { fee: { ...fee, fees } })).to.equal("ok");
  });
});
