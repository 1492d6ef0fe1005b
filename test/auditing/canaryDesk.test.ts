import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { hireId } from "tallystick-protocol/hire/hireIds";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { type Canary, canaryCommitment } from "tallystick-protocol/records/auditCanary";
import type { Log } from "tallystick-runtime/stderrLog";
import { createBuyer } from "tallystick-sdk/createBuyer";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { createCanaryDesk } from "../../services/auditing/canaryDesk.ts";
import { type CanaryPlan, readCanaryPlan } from "../../services/auditing/canaryPlan.ts";
import { MEAN, mean, NODE, type OpenSeller } from "../sdk/support/market.ts";
import { newWallet, type Wallet } from "../sdk/support/sdkChain.ts";
import { newPurse, useMarket } from "../sdk/support/useMarket.ts";
import { endAtEveryWrite, type MortalProcess } from "../support/endAtEveryWrite.ts";

const PRICE = 50_000n;
const REVEAL = 1_700_000_000;
const LATER_MS = 120_000;
/** The key of the plan in the store. */
const KEY = "canary/first";
const forever = new AbortController().signal;

type Purse = Wallet & { paid: () => Promise<bigint> };
type Scene = {
  store: KeyValueStore;
  journals: Map<string, KeyValueStore>;
  purses: Purse[];
  seller: OpenSeller;
  plan: CanaryPlan;
  settled: { body: RecordBody }[];
};

describe("canaries", () => {
  const world = useMarket();

  const open = async (count = 2): Promise<Scene> => {
    const listing = { capability: MEAN, price_usdc: "0.05", max_latency_ms: 20_000 };
    const seller = await world.market.openSeller({ listings: [listing], handlers: { [MEAN]: mean } });
    const purses = await Promise.all(Array.from({ length: count }, () => newPurse(world.chain)));
    const plan = readCanaryPlan(
      JSON.stringify({
        name: "first",
        reveal_after: REVEAL,
        hires: purses.map(({ privateKey }, n) => ({
          ...{ private_key: privateKey, seller: seller.address, capability: MEAN, max_price_usdc: "0.05" },
          ...{ params: { data: [1, n] }, max_latency_ms: 30_000, truth: n === 0 ? "good" : "bad" },
        })),
      }),
    );
    return { store: memoryStore(), journals: new Map(), purses, seller, plan, settled: [] };
  };
  const deskOf = (
    scene: Scene,
    {
      process,
      ahead = 0,
      plans = [scene.plan],
      log = () => {},
    }: { process?: MortalProcess; ahead?: number; plans?: CanaryPlan[]; log?: Log } = {},
  ) => {
    const keep = (store: KeyValueStore) => (process ? process.store(store) : store);
    const cut = <Args extends unknown[], T>(work: (...args: Args) => Promise<T>) =>
      process ? process.cut(work) : work;
    const desk = createCanaryDesk({
      plans,
      store: keep(scene.store),
      openBuyer: (account) => {
        const journal = scene.journals.get(account.address) ?? memoryStore();
        scene.journals.set(account.address, journal);
        return createBuyer({
          account,
          baseUrl: NODE,
          network: world.chain.network,
          ledger: "local",
          client: world.chain.client as never,
          search: world.market.search,
          journal: keep(journal),
          devMode: true,
          fetch: cut((...given: Parameters<typeof world.market.fetch>) => world.market.fetch(...given)),
          now: () => Date.now() + ahead,
          chainNow: Date.now,
        });
      },
      // A ledger stores the same record only once.
      settle: cut(async (_, body) => {
        const known = scene.settled.findIndex((it) => JSON.stringify(it.body) === JSON.stringify(body));
        const index = known < 0 ? scene.settled.push({ body }) - 1 : known;
        return { ledger: "local", index };
      }),
      log,
    });
    let open: number | undefined;
    return {
      /** The number of plans that the last round told as not published. */
      open: () => open,
      round: async (...[moment, signal]: [Parameters<typeof desk.round>[0], AbortSignal]) => {
        open = undefined;
        await desk.round(moment, signal, (told) => {
          open = told;
        });
        return open;
      },
    };
  };
  const anchored = { time: REVEAL - 1, isAnchored: async () => true };
  const paid = (scene: Scene) => Promise.all(scene.purses.map((purse) => purse.paid()));
  const revealOf = (scene: Scene) =>
    scene.settled.at(-1)?.body.reveal as unknown as { salt: string; hires: Canary[] } | undefined;

  it("have a commitment before the hires are made, and are revealed at their set time", async () => {
    const scene = await open();
    const desk = deskOf(scene);
    expect(await desk.round({ time: REVEAL - 1, isAnchored: async () => false }, forever)).to.equal(1);
    expect(await paid(scene)).to.deep.equal([0n, 0n]);
    for (let n = 0; n < 2; n++) expect(await desk.round(anchored, forever)).to.equal(1);
    expect(await paid(scene)).to.deep.equal([PRICE, PRICE]);
    expect(scene.settled).to.have.length(1);
    expect(await desk.round({ ...anchored, time: REVEAL }, forever)).to.equal(0);
    expect(await desk.round({ ...anchored, time: REVEAL }, forever)).to.equal(0);
    const reveal = revealOf(scene);
    expect(scene.settled).to.have.length(2);
    expect(canaryCommitment(reveal as never)).to.equal(scene.settled[0]?.body.commitment);
    expect(reveal?.hires.map(({ buyer, truth }) => [buyer, truth])).to.deep.equal([
      [scene.purses[0]?.address, "good"],
      [scene.purses[1]?.address, "bad"],
    ]);
  });

  it("are hired from their set time on, and not after they are revealed", async () => {
    const scene = await open(1);
    scene.plan = { ...scene.plan, hire_after: REVEAL - 10 };
    const desk = deskOf(scene);
    expect(await desk.round({ ...anchored, time: REVEAL - 11 }, forever)).to.equal(1);
    expect(await paid(scene)).to.deep.equal([0n]);
    expect(await desk.round({ ...anchored, time: REVEAL - 10 }, forever)).to.equal(1);
    expect(await paid(scene)).to.deep.equal([PRICE]);
    const late = await open(1);
    expect(await deskOf(late).round({ ...anchored, time: REVEAL }, forever)).to.equal(0);
    expect(revealOf(late)?.hires).to.have.length(1);
    expect(await paid(late)).to.deep.equal([0n]);
  });

  it("are made once, under the committed nonce, even if the process ends at any write", async () => {
    let made = 0;
    const writes = await endAtEveryWrite<Scene>({
      open: () => open(1),
      run: async (scene, process) => deskOf(scene, { process }).round(anchored, forever),
      resume: async (scene) => {
        const desk = deskOf(scene, { ahead: LATER_MS });
        for (let n = 0; n < 2; n++) await desk.round(anchored, forever);
        await desk.round({ ...anchored, time: REVEAL }, forever);
      },
      check: async (scene, at) => {
        const reveal = revealOf(scene);
        expect(scene.settled, at).to.have.length(2);
        const lines = (
          await world.market.ledger.get(`/v1/ledger/entries?from=0&to=${world.market.ledger.ledger.size}`)
        ).text
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line).payload)
          .filter(({ type }) => type === "receipt");
        for (const [n, spent] of (await paid(scene)).entries()) {
          const { buyer = "", nonce = "" } = reveal?.hires[n] ?? {};
          expect(spent === 0n || spent === PRICE, `${at}: paid ${spent}`).to.equal(true);
          const receipts = lines.filter(({ body }) => body.buyer === buyer);
          for (const { body } of receipts)
            expect(body.hire_id, at).to.equal(hireId(buyer as Canary["buyer"], nonce as `0x${string}`));
          if (spent > 0n) made++;
        }
      },
    });
    expect(writes).to.be.greaterThan(8);
    expect(made).to.be.greaterThan(writes / 2);
  });

  it("are refused if their plan has other wallets or verdicts than before under the same name", async () => {
    const scene = await open();
    await deskOf(scene).round(anchored, forever);
    const { hires } = scene.plan;
    const others: CanaryPlan["hires"][] = [
      hires.slice(1),
      hires.toReversed(),
      hires.map((it) => ({ ...it, truth: "bad" as const })),
      hires.map((it, n) => ({ ...it, private_key: newWallet().privateKey, truth: n === 0 ? "good" : "bad" })),
    ];
    for (const [n, changed] of others.entries()) {
      const desk = deskOf(scene, { plans: [{ ...scene.plan, hires: changed }] });
      const error = await desk
        .round({ ...anchored, time: REVEAL }, forever)
        .catch((it: { code: string; message: string }) => it);
      expect(error, String(n)).to.include({ code: "canary_plan_changed" });
    }
    // Nothing else was settled, so the list that was committed to can still be revealed.
    expect(scene.settled).to.have.length(1);
    expect(await deskOf(scene).round({ ...anchored, time: REVEAL }, forever)).to.equal(0);
    expect(canaryCommitment(revealOf(scene) as never)).to.equal(scene.settled[0]?.body.commitment);
  });

  it("are still revealed if an earlier version arranged their plan and kept no commitment", async () => {
    const scene = await open();
    await deskOf(scene).round(anchored, forever);
    const { commitment: _, ...earlier } = (await scene.store.get<{ commitment?: string }>(KEY)) ?? {};
    await scene.store.put(KEY, earlier);
    const fewer = deskOf(scene, { plans: [{ ...scene.plan, hires: scene.plan.hires.slice(1) }] });
    const error = await fewer.round(anchored, forever).catch((it: { code: string }) => it);
    expect(error).to.include({ code: "canary_plan_changed" });
    expect(await deskOf(scene).round({ ...anchored, time: REVEAL }, forever)).to.equal(0);
    expect(scene.settled).to.have.length(2);
    expect(canaryCommitment(revealOf(scene) as never)).to.equal(scene.settled[0]?.body.commitment);
  });

  it("are arranged although the plan before theirs was changed, which the round reports", async () => {
    const scene = await open(2);
    const notYet = { time: 0, isAnchored: async () => false };
    await deskOf(scene).round(notYet, forever);
    const changed = { ...scene.plan, hires: scene.plan.hires.slice(1) };
    const told: unknown[] = [];
    const plans = [changed, { ...scene.plan, name: "second" }];
    const desk = deskOf(scene, { plans, log: (sentence, fields) => told.push([sentence, fields?.plan]) });
    const error = await desk.round(notYet, forever).catch((it: { code: string }) => it);
    expect(error).to.include({ code: "canary_plan_changed" });
    expect(desk.open()).to.equal(2);
    expect(scene.settled).to.have.length(2);
    expect(told[0]).to.deep.equal(["A plan of canaries failed. The next round repeats it.", "first"]);
  });

  it("are hired although the notes about the canary before them cannot be read, which the round reports", async () => {
    const scene = await open(2);
    const [first] = scene.purses;
    const unreadable = new TallystickError({ code: "unreadable_value", message: "damaged" });
    const get = async () => Promise.reject(unreadable);
    scene.journals.set(String(first?.account.address), { ...memoryStore(), get });
    const error = await deskOf(scene)
      .round(anchored, forever)
      .catch((it: unknown) => it);
    expect(error).to.equal(unreadable);
    expect(await paid(scene)).to.deep.equal([0n, PRICE]);
  });

  it("are arranged although the file of another plan is damaged, which counts as not revealed", async () => {
    const scene = await open(1);
    const { store } = scene;
    const damaged = "canary/damaged";
    await store.put(damaged, {});
    const get = async <T>(key: string): Promise<T | undefined> => {
      if (key === damaged) throw new TallystickError({ code: "unreadable_value", message: key });
      return await store.get<T>(key);
    };
    const desk = deskOf({ ...scene, store: { ...store, get } });
    expect(await desk.round({ time: 0, isAnchored: async () => false }, forever)).to.equal(2);
    expect(scene.settled).to.have.length(1);
  });

  it("are reported once, and counted as not revealed, when their plan is missing from the file", async () => {
    const scene = await open(1);
    const time = { time: 0, isAnchored: async () => false };
    await deskOf(scene).round(time, forever);
    const lines: unknown[] = [];
    const desk = deskOf(scene, { plans: [], log: (...line) => lines.push(line) });
    for (let n = 0; n < 2; n++) expect(await desk.round(time, forever)).to.equal(1);
    expect(lines).to.have.length(1);
    expect(JSON.stringify(lines)).to.contain(`"${scene.plan.name}"`);
    // A plan that was revealed may leave the file.
    await deskOf(scene).round({ ...anchored, time: REVEAL }, forever);
    expect(await deskOf(scene, { plans: [] }).round(time, forever)).to.equal(0);
  });

  it("need one wallet each, and an error about their file shows no key", () => {
    const key = `0x${"12".repeat(32)}`;
    const hire = {
      private_key: key,
      seller: "0x12",
      capability: MEAN,
      params: {},
      max_price_usdc: "1",
      truth: "good",
    };
    const problems = (hires: object[]) => {
      try {
        readCanaryPlan(JSON.stringify({ name: "x", reveal_after: 1, hires }));
      } catch (error) {
        return String(error);
      }
      return "";
    };
    expect(problems([hire]))
      .to.contain("seller")
      .and.not.to.contain(key.slice(2));
    const good = { ...hire, seller: `0x${"ab".repeat(20)}` };
    expect(problems([good, { ...good, private_key: key.toUpperCase().replace("0X", "0x") }])).to.contain(
      "wallet",
    );
    expect(problems([])).not.to.equal("");
  });
});
