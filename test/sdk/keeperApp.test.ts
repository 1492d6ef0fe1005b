import { expect } from "chai";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { toHireJson } from "tallystick-protocol/escrow/hireJson";
import { ZERO_HASH } from "tallystick-protocol/hex";
import { ChainError, RelayRefusedError } from "tallystick-sdk/errors";
import type { EscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import type { Keeper } from "tallystick-sdk/escrow/keeper";
import { keeperApp } from "tallystick-sdk/escrow/keeperApp";
import type { KeeperHealth } from "tallystick-sdk/escrow/keeperHealth";

const address = (byte: string) => `0x${byte.repeat(20)}` as const;
const hash = (byte: string) => `0x${byte.repeat(32)}` as const;
const [ESCROW, SELLER, ID, TX] = [address("e5"), address("5e"), hash("1d"), hash("aa")];
const hire: Hire = {
  ...{ hireId: hash("33"), buyer: address("b1"), seller: SELLER, payee: ZERO_ADDRESS, amount: 7n },
  ...{ fee: 0n, feeRecipient: ZERO_ADDRESS, deadline: 2n ** 40n, arbiter: ZERO_ADDRESS },
};
const sent = { hire: toHireJson(hire), signature: "0x12" };

describe("a keeper's HTTP interface", () => {
  let status: string;
  let statuses: string[];
  let looks: number;
  let tx: string | undefined;
  let isUnsearchable: boolean;
  let fault: Error | undefined;
  let otherChain: Error | undefined;
  let health: KeeperHealth;
  let did: unknown[][];
  let logged: string[];
  beforeEach(() => {
    [status, statuses, looks, tx, fault, did, logged] = ["held", [], 0, TX, undefined, [], []];
    [isUnsearchable, otherChain, health] = [false, undefined, { ok: true }];
  });
  const keep =
    (name: string) =>
    async (...args: unknown[]) => {
      did.push([name, ...args]);
      if (fault) throw fault;
      return TX;
    };
  const open = (waitMs = 0) =>
    keeperApp({
      calls: {
        ...{ deployment: { chainId: 31_337, escrow: ESCROW }, idOf: () => ID },
        requireChain: async () => {
          if (otherChain) throw otherChain;
        },
        state: async () => {
          looks++;
          if (fault && did.length === 0) throw fault;
          status = statuses.shift() ?? status;
          return { status, delivered: true, amount: 7n };
        },
        findEvent: async (id: string, what: string) => {
          if (isUnsearchable) throw new Error("too many blocks");
          return id === ID && what === "settlement" ? tx : undefined;
        },
      } as unknown as EscrowCalls,
      keeper: {
        ...{ deposit: keep("deposit"), markDelivered: keep("markDelivered") },
        ...{ release: keep("release"), refund: keep("refund"), health: async () => health },
      } as unknown as Keeper,
      ...{ waitMs, log: (sentence: string) => void logged.push(sentence) },
    });
  const post = async (path: string, body: unknown, app = open()) => {
    const answer = await app.request(path, {
      ...{ method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) },
    });
    return { status: answer.status, headers: answer.headers, json: await answer.json() };
  };
  const state = { escrow_id: ID, delivered: true, amount: "7" };

  it("passes deposits and deliveries on, and says in which transaction they went", async () => {
    const done = { escrow_id: ID, tx_hash: TX };
    const whole = { ...sent, valid_after: "3", valid_before: "9" };
    expect((await post("/deposit", whole)).json).to.deep.equal(done);
    expect((await post("/deposit", { ...sent, valid_before: "9" })).json).to.deep.equal(done);
    expect((await post("/delivered", { ...sent, result_hash: hash("44") })).json).to.deep.equal(done);
    expect((await post("/delivered", sent)).json).to.deep.equal(done);
    const authorization = { validAfter: 3n, validBefore: 9n, signature: "0x12" };
    expect(did).to.deep.equal([
      ["deposit", hire, authorization],
      ["deposit", hire, { ...authorization, validAfter: 0n }],
      ["markDelivered", hire, hash("44"), "0x12"],
      ["markDelivered", hire, ZERO_HASH, "0x12"],
    ]);
  });

  it("answers 202 to a release or refund that waits, and 200 with the end when it is carried out", async () => {
    const signer = { signer: SELLER };
    for (const [path, end, args] of [
      ["/release", "released", ["release", hire, "0x12"]],
      ["/refund", "refunded", ["refund", hire, SELLER, "0x12"]],
    ] as const) {
      [status, did] = ["held", []];
      const late = await post(path, { ...sent, ...signer });
      expect([late.status, late.json]).to.deep.equal([
        202,
        { ...state, status: "held", tx_hash: null, queued: true },
      ]);
      expect(did).to.deep.equal([args]);
      statuses = ["held", "held", end];
      const done = await post(path, { ...sent, ...signer }, open(60_000));
      expect([done.status, done.json]).to.deep.equal([200, { ...state, status: end, tx_hash: TX }]);
      statuses = ["none", "none", end];
      const behind = await post(path, { ...sent, ...signer }, open(60_000));
      expect(behind.json.status, "a node without the newest deposits says none").to.equal(end);
      did = [];
      const again = await post(path, { ...sent, ...signer });
      expect([again.status, again.json.status, did]).to.deep.equal([200, end, []]);
    }
  });

  it("refuses malformed requests with their fields, and takes nothing", async () => {
    const long = `0x${"12".repeat(2_049)}`;
    const cases: [path: string, body: unknown, field: string][] = [
      ["/deposit", sent, "valid_before"],
      ["/deposit", { ...sent, valid_before: "-1" }, "valid_before"],
      ["/deposit", { ...sent, valid_before: "9", valid_after: "x" }, "valid_after"],
      ["/delivered", { ...sent, result_hash: "0x12" }, "result_hash"],
      ["/delivered", { ...sent, result_hash: "x" }, "result_hash"],
      ["/release", { ...sent, signature: "0x" }, "signature"],
      ["/release", { ...sent, signature: long }, "signature"],
      ["/release", { ...sent, signature: "12" }, "signature"],
      ["/release", { hire: sent.hire }, "signature"],
      ["/release", { signature: "0x12" }, "hire"],
      ["/release", { ...sent, hire: { ...sent.hire, amount: -1 } }, "hire.amount"],
      ["/refund", sent, "signer"],
      ["/refund", { ...sent, signer: "0x12" }, "signer"],
    ];
    for (const [path, body, field] of cases) {
      const answer = await post(path, body);
      expect([answer.status, answer.json.errors[0].field], `${path} ${field}`).to.deep.equal([400, field]);
    }
    const tooLong = await post("/release", { ...sent, signature: long });
    expect(tooLong.json.detail).to.contain("must be 1 to 2048 bytes");
    expect((await post("/release", "x".repeat(70_000))).status).to.equal(413);
    expect(did).to.deep.equal([]);
    const longest = { ...sent, signature: `0x${"12".repeat(2_048)}` };
    expect((await post("/release", longest)).status).to.equal(202);
  });

  it("says whether the keeper, the contract or the chain is the reason for a refusal", async () => {
    const cases: [fault: Error, status: number, body: object, retryAfter: string | null][] = [
      [
        new RelayRefusedError({ code: "gas_limit", message: "Wait.", secondsToWait: 60 }),
        429,
        { code: "gas_limit", detail: "Wait.", hint: "Send it yourself: anybody may.", retry_after: 60 },
        "60",
      ],
      [
        new RelayRefusedError({ code: "fee_missing", message: "No fee.", field: "hire.fee" }),
        403,
        { code: "fee_missing", errors: [{ field: "hire.fee", message: "No fee." }] },
        null,
      ],
      [
        new ChainError({ code: "call_refused", message: "It says no.", reason: "NotAParty" }),
        409,
        { code: "call_refused", detail: "It says no.", reason: "NotAParty" },
        null,
      ],
      [
        new ChainError({ code: "chain_unreachable", message: "It is away." }),
        503,
        { code: "chain_unreachable", detail: "It is away." },
        "5",
      ],
    ];
    for (const [error, wanted, body, retryAfter] of cases) {
      fault = error;
      const answer = await post("/delivered", sent);
      expect(answer.status).to.equal(wanted);
      expect(answer.json).to.deep.include(body);
      if (!("reason" in body)) expect(answer.json).not.to.have.property("reason");
      if (!("retry_after" in body)) expect(answer.json).not.to.have.property("retry_after");
      expect(answer.headers.get("retry-after")).to.equal(retryAfter);
    }
    const foreign = { message: "batch: Error: a secret", cause: new Error("a secret") };
    for (const [code, wanted, detail] of [
      ["chain_unreachable", 503, "The chain cannot be asked at the moment."],
      ["call_refused", 409, "The contract refuses this, and names no reason."],
    ] as const) {
      fault = new ChainError({ code, ...foreign });
      const { status: said, json } = await post("/delivered", sent);
      expect([said, json.code, json.detail]).to.deep.equal([wanted, code, detail]);
      expect(JSON.stringify(json)).not.to.contain("secret");
      expect(logged.splice(0)).to.deep.equal([detail]);
    }
    fault = new Error("a secret");
    const internal = await post("/delivered", sent);
    expect([internal.status, internal.json.code]).to.deep.equal([500, "internal"]);
    expect(JSON.stringify(internal.json)).not.to.contain("secret");
    expect(logged).to.deep.equal(["A request failed."]);
  });

  it("describes an escrow, and asks the chain again only after some time", async () => {
    const app = open();
    const get = async (path: string) => {
      const answer = await app.request(path);
      return { status: answer.status, json: await answer.json() };
    };
    const { now } = performance;
    let timeMs = 0;
    performance.now = () => timeMs;
    try {
      for (const [next, settled, keptMs] of [
        ["none", TX, 40],
        ["held", TX, 40],
        ["released", undefined, 5_000],
        ["refunded", TX, 60_000],
      ] as const) {
        [status, tx, looks] = [next, settled, 0];
        timeMs += 100_000;
        const tx_hash = next === "none" || next === "held" ? null : (settled ?? null);
        const wanted = { status: 200, json: { ...state, status: next, tx_hash } };
        for (const [passedMs, count] of [
          [0, 1],
          [keptMs - 1, 1],
          [1, 2],
        ] as const) {
          timeMs += passedMs;
          expect(await get(`/escrows/${ID}`)).to.deep.equal(wanted);
          expect(looks, next).to.equal(count);
        }
      }
    } finally {
      performance.now = now;
    }
    for (const id of ["0x12", "x", `${ID}00`])
      expect((await get(`/escrows/${id}`)).json).to.include({ code: "not_found", status: 404 });
  });

  it("says whether the keeper can work, and if not why", async () => {
    const ask = async () => {
      const answer = await open().request("/health");
      return [answer.status, await answer.json()];
    };
    expect(await ask()).to.deep.equal([200, { ok: true, escrow: ESCROW }]);
    health = { ok: false, code: "wrong_chain", reason: "It is of another chain." };
    expect(await ask()).to.deep.equal([503, { ...health, escrow: ESCROW }]);
  });

  it("says that an escrow is released also if the chain does not let it search for the transaction", async () => {
    isUnsearchable = true;
    statuses = ["held", "released"];
    const done = await post("/release", sent);
    expect([done.status, done.json]).to.deep.equal([200, { ...state, status: "released", tx_hash: null }]);
  });

  it("says nothing of an escrow while its RPC is of another chain", async () => {
    const app = open();
    otherChain = new ChainError({ code: "wrong_chain", message: "It is of another chain." });
    const answer = await app.request(`/escrows/${ID}`);
    expect([answer.status, (await answer.json()).code, looks]).to.deep.equal([503, "wrong_chain", 0]);
    otherChain = undefined;
    expect((await app.request(`/escrows/${ID}`)).status).to.equal(200);
  });

  it("asks the chain again at once after an answer that failed", async () => {
    const app = open();
    fault = new ChainError({ code: "chain_unreachable", message: "away" });
    expect((await app.request(`/escrows/${ID}`)).status).to.equal(503);
    fault = undefined;
    expect((await app.request(`/escrows/${ID}`)).status).to.equal(200);
    expect(looks).to.equal(2);
  });
});
