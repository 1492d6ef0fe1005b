import { expect } from "chai";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { toHireJson } from "tallystick-protocol/escrow/hireJson";
import { httpRelay } from "tallystick-sdk/escrow/httpRelay";
import { rejection } from "./support/tamper.ts";

const ID = `0x${"11".repeat(32)}`;
const TX = `0x${"22".repeat(32)}`;
const hire: Hire = {
  hireId: `0x${"33".repeat(32)}`,
  buyer: `0x${"44".repeat(20)}`,
  seller: `0x${"55".repeat(20)}`,
  payee: ZERO_ADDRESS,
  amount: 1_000_000n,
  fee: 0n,
  feeRecipient: ZERO_ADDRESS,
  deadline: 2n ** 40n,
  arbiter: ZERO_ADDRESS,
};

describe("a keeper over HTTP", () => {
  /** A relay to a keeper that gives these answers one after the other. `asked` has its requests. */
  const relayTo = (answers: Response[], waitMs = 60_000) => {
    const asked: string[] = [];
    const fetch = async (input: unknown, init?: RequestInit) => {
      asked.push(`${init?.method ?? "GET"} ${new URL(String(input)).pathname}`);
      return answers.shift() ?? Response.error();
    };
    return { asked, relay: httpRelay({ url: "http://keeper.test", fetch: fetch as never, waitMs }) };
  };
  const held = () => Response.json({ escrow_id: ID, status: "held" }, { status: 202 });
  const released = () => Response.json({ escrow_id: ID, status: "released", tx_hash: TX });
  const busy = (seconds: string) =>
    Response.json(
      { code: "rate_limited", status: 429, detail: "try again later" },
      { status: 429, headers: { "retry-after": seconds } },
    );

  it("gets every instruction at its own path, as JSON, at the URL with or without a slash at its end", async () => {
    const asked: unknown[] = [];
    const answer = { escrow_id: ID, tx_hash: TX };
    const relayAt = (url: string, said: object, status = 200) =>
      httpRelay({
        url,
        fetch: async (input, init) => {
          const body = init?.body === undefined ? undefined : JSON.parse(String(init.body));
          asked.push([input, init?.method, new Headers(init?.headers).get("content-type"), body]);
          return Response.json(said, { status });
        },
      });
    const base = "http://keeper.test/base";
    const authorization = { validAfter: 3n, validBefore: 9n, signature: "0x12" } as const;
    const hash = `0x${"44".repeat(32)}` as const;
    const signer = hire.seller;
    const ends: unknown[] = [
      await relayAt(`${base}/`, answer).deposit(hire, authorization),
      await relayAt(base, answer).markDelivered(hire, hash, "0x12"),
      await relayAt(base, { ...answer, status: "released" }).release(hire, "0x12"),
      await relayAt(base, { ...answer, status: "refunded" }).refund(hire, signer, "0x12"),
    ];
    expect(ends).to.deep.equal([TX, TX, TX, TX]);
    const json = "application/json";
    const [terms, signature] = [toHireJson(hire), "0x12"];
    expect(asked.splice(0)).to.deep.equal([
      [`${base}/deposit`, "POST", json, { hire: terms, valid_after: "3", valid_before: "9", signature }],
      [`${base}/delivered`, "POST", json, { hire: terms, result_hash: hash, signature }],
      [`${base}/release`, "POST", json, { hire: terms, signature }],
      [`${base}/refund`, "POST", json, { hire: terms, signer, signature }],
    ]);
    const held = { status: "held", delivered: true, amount: "7" };
    expect(await relayAt(base, held).state(ID as `0x${string}`)).to.deep.equal({ ...held, amount: 7n });
    expect(asked).to.deep.equal([[`${base}/escrows/${ID}`, undefined, null, undefined]]);
    expect(await rejection(relayAt(base, held, 404).state(ID as `0x${string}`))).to.include({
      code: "chain_unreachable",
    });
  });

  it("is told apart: a refusal by the contract, a refusal by the keeper, an end of another kind, and no answer", async () => {
    const cases: [status: number, answer: unknown, error: object][] = [
      [
        409,
        { code: "call_refused", detail: "No.", reason: "NotAParty" },
        { code: "call_refused", message: "No.", reason: "NotAParty", hint: "Nothing was sent." },
      ],
      [403, { code: "fee_missing", detail: "No fee." }, { code: "relay_refused", message: "No fee." }],
      [400, {}, { code: "relay_refused", message: "/release answered 400" }],
      [400, null, { code: "relay_refused", message: "/release answered 400" }],
      [500, { detail: "Oops." }, { code: "chain_unreachable", message: "Oops." }],
      [503, { code: "call_refused", detail: "Away." }, { code: "chain_unreachable", message: "Away." }],
      [
        200,
        { escrow_id: ID, status: "refunded", tx_hash: TX },
        {
          code: "call_refused",
          message: "The escrow is refunded, not released.",
          hint: "Read the state again.",
        },
      ],
      [
        200,
        { escrow_id: ID, status: "released", tx_hash: "0x12" },
        {
          code: "chain_unreachable",
          message: "The keeper has taken the instruction, but does not say in which transaction it went.",
          hint: "If this was an instruction, it is not known whether the keeper sent it. Read the state again.",
        },
      ],
    ];
    for (const [status, answer, error] of cases) {
      const { relay } = relayTo([Response.json(answer, { status })]);
      const refused = await rejection(relay.release(hire, "0x12"));
      expect(refused, JSON.stringify(answer)).to.include(error);
      if (!("reason" in error)) expect(refused.reason).to.equal(undefined);
    }
    const failing = httpRelay({
      ...{ url: "http://keeper.test", fetch: () => Promise.reject(new TypeError("fetch failed")) },
    });
    expect(await rejection(failing.release(hire, "0x12"))).to.include({
      code: "chain_unreachable",
      message: "http://keeper.test/release: fetch failed",
    });
    const garbage = relayTo([new Response("<html>")]);
    expect(await rejection(garbage.relay.release(hire, "0x12"))).to.include({ code: "chain_unreachable" });
    const long = relayTo([new Response(`"${"x".repeat(70_000)}"`)]);
    expect(await rejection(long.relay.release(hire, "0x12"))).to.include({ code: "chain_unreachable" });
  });

  it("is waited for while its node does not know the newest deposits", async () => {
    const { relay } = relayTo([Response.json({ escrow_id: ID, status: "none" }), released()]);
    expect(await relay.release(hire, "0x12")).to.equal(TX);
  });

  it("has not refused an instruction if its node does not know the escrow in the whole time", async () => {
    const none = () => Response.json({ escrow_id: ID, status: "none" });
    const { relay } = relayTo([none(), none(), none()], 400);
    const error = await rejection(relay.release(hire, "0x12"));
    expect(error).to.include({ code: "chain_unreachable", message: "The escrow is none, not released." });
  });

  it("is asked again after the time that it names, because an instruction may be sent twice", async () => {
    const { asked, relay } = relayTo([busy("0"), busy("1"), released()]);
    expect(await relay.release(hire, "0x12")).to.equal(TX);
    expect(asked).to.deep.equal(["POST /release", "POST /release", "POST /release"]);
  });

  it("is asked for the state of an escrow again if it refuses or fails", async () => {
    const fault = Response.json({ code: "internal", status: 500 }, { status: 500 });
    const { asked, relay } = relayTo([held(), busy("0"), fault, held(), released()]);
    expect(await relay.release(hire, "0x12")).to.equal(TX);
    expect(asked.slice(1)).to.deep.equal(Array(4).fill(`GET /escrows/${ID}`));
  });

  it("says nothing of an escrow if its answer has another form, because money is booked by the answer", async () => {
    const state = { status: "held", delivered: true, amount: "1000000" };
    const stateOf = (answer: unknown) => relayTo([Response.json(answer)]).relay.state(ID as never);
    expect(await stateOf(state)).to.deep.equal({ ...state, amount: 1_000_000n });
    for (const change of [
      ...[{ status: "gone" }, { status: null }, { status: 7 }, { delivered: "yes" }],
      ...[{ amount: "-1" }, { amount: 1 }, { amount: null }, { amount: "1.5" }, { amount: {} }],
    ]) {
      const error = await rejection(stateOf({ ...state, ...change }));
      expect(error, JSON.stringify(change)).to.include({ name: "ChainError", code: "chain_unreachable" });
    }
    for (const answer of [{}, { status: {} }, { escrow_id: {}, status: "held" }, { status: "released" }]) {
      const { relay } = relayTo([Response.json(answer, { status: 202 })]);
      const error = await rejection(relay.release(hire, "0x12"));
      expect(error, JSON.stringify(answer)).to.include({ name: "ChainError", code: "chain_unreachable" });
    }
  });

  it("is not asked forever if it always says to retry at once", async () => {
    const { asked, relay } = relayTo(
      Array.from({ length: 1_000 }, () => busy("0")),
      1_000,
    );
    expect(await rejection(relay.release(hire, "0x12"))).to.include({ code: "relay_refused" });
    expect(asked.length).to.be.within(1, 6);
  });

  it("is not waited for longer than the remaining time", async () => {
    const { asked, relay } = relayTo([busy("86400")]);
    const refused = await rejection(relay.release(hire, "0x12"));
    expect(refused).to.include({ code: "relay_refused", message: "try again later" });
    expect(refused).to.have.deep.property("details", { is_temporary: true });
    expect(asked).to.have.length(1);
    const slow = relayTo([held(), held(), held()], 400);
    const open = await rejection(slow.relay.release(hire, "0x12"));
    expect(open).to.include({ code: "chain_unreachable" });
    expect(slow.asked.length).to.be.at.most(2);
  });

  it("is not waited for longer if the clock of this machine is set back", async () => {
    const clock = Date.now;
    try {
      for (const busyFor of [undefined, "30"]) {
        Date.now = clock;
        const fetch = async () => {
          Date.now = () => clock() - 86_400_000;
          return busyFor === undefined ? held() : busy(busyFor);
        };
        const relay = httpRelay({ url: "http://keeper.test", fetch: fetch as never, waitMs: 400 });
        const code = busyFor === undefined ? "chain_unreachable" : "relay_refused";
        expect(await rejection(relay.release(hire, "0x12"))).to.include({ code });
      }
    } finally {
      Date.now = clock;
    }
  });
});
