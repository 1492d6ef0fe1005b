import { expect } from "chai";
import { createApi } from "../../../indexer/api/app.ts";
import * as schema from "../../../indexer/ponder.schema.ts";
import { positionKey } from "../../../indexer/src/positionKey.ts";
import { openApiDatabase } from "../../../tools/bench/api/apiDatabase.ts";
import { DAY, ESCROW, EventLog, wallet } from "../../derive/eventLog.ts";
import { testDatabase } from "../../support/testDatabase.ts";
import { cast, node, openApiStory } from "../support/apiStory.ts";

const [SELLER, RICH, FIRST, SECOND] = [wallet(1), wallet(50), wallet(51), wallet(52)];
const [LONER, HUB, OWN, PAID] = [wallet(53), wallet(54), wallet(55), wallet(56)];
const CHAIN = Array.from({ length: 18 }, (_, n) => wallet(100 + n));
const SECRET = wallet(3);
const [CONTESTED, KIN] = [wallet(9), wallet(57)];

type BuyerFamily = {
  family: { id: string };
  isIndependent: boolean;
  isEstablished: boolean;
  ratedHires: number;
  successes: number;
  successShare: number | null;
  paidUsdc: string;
  broughtUsdc: string;
  returned: { account: string; amountUsdc: string }[];
  keptUsdc: string;
};
type Answer = {
  agent: {
    independentBuyers: number;
    establishedBuyers: number;
    independentSuccessRate: number | null;
    keptUsdc: string;
    receiptCoverage: number;
    unreceiptedPayments: number;
    unreceiptedUsdc: string;
    unansweredEscrows: number;
    familyMember: { family: { id: string } };
    independence: {
      buyerFamilies: { nodes: BuyerFamily[]; totalCount: number };
      directHires: number;
      unreceipted: { nodes: { id: string; buyerAddress: string; amountUsdc: string; block: number }[] };
      unansweredEscrows: { nodes: { id: string }[] };
    } | null;
    explain: { hires: { totalCount: number } };
  };
};

const INDEPENDENCE = `query ($address: Address!) { agent(address: $address) {
  independentBuyers establishedBuyers independentSuccessRate keptUsdc receiptCoverage unreceiptedPayments unreceiptedUsdc
  unansweredEscrows familyMember { family { id } }
  independence {
    buyerFamilies { totalCount nodes { family { id } isIndependent isEstablished hires ratedHires successes successShare paidUsdc broughtUsdc
      returned { account amountUsdc } keptUsdc } }
    directHires unreceipted { nodes { id buyerAddress amountUsdc block } } unansweredEscrows { nodes { id } }
  }
  explain(field: RECEIPT_COVERAGE) { hires { totalCount } }
} }`;

/**
 * The buyers are two wallets of one family, a wallet from a hub, a wallet that the seller funded, and a wallet at the
 * end of a long chain. The log also has a contested hire.
 */
function story(): EventLog {
  const log = new EventLog({ hubs: [HUB] });
  log.transfer(HUB, RICH, 12_000_000);
  log.transfer(RICH, FIRST, 9_000_000);
  log.transfer(FIRST, SECOND, 3_000_000);
  log.transfer(HUB, LONER, 4_000_000);
  log.transfer(SELLER, OWN, 1_000_000);
  for (const [n, to] of CHAIN.entries()) if (n > 0) log.transfer(CHAIN[n - 1] ?? to, to, 2_000_000);
  const settled = log.deposit(wallet(8), RICH, { payee: PAID });
  log.released(settled).transfer(ESCROW, PAID, 500_000);
  log.listing(SELLER, "x.y");
  log.listing(SECRET, "x.y", { private_metrics: true });
  const buyers = [FIRST, SECOND, SECOND, LONER, OWN, PAID, CHAIN.at(-1) ?? RICH];
  for (const [n, buyer] of buyers.entries()) log.after(1).hire(SELLER, buyer, { passed: n !== 1 });
  log.after(1).hire(SECRET, LONER);
  // The first amount is less than FIRST and SECOND paid. The second is more than LONER paid. The third is too small to
  // count.
  log.after(1).transfer(SELLER, RICH, 700_000);
  log.transfer(SELLER, LONER, 600_000);
  log.transfer(SELLER, PAID, 99_999);
  log.after(1).transfer(LONER, SELLER, 250_000, { authorized: true });
  log.timedOut(log.deposit(SELLER, FIRST));
  // The buyer is in the family of the seller CONTESTED. So these purchases do not count as independent.
  log.transfer(CONTESTED, KIN, 1_000_000);
  const contested = log.deposit(CONTESTED, KIN);
  log.delivered(contested).refunded(contested, KIN);
  const taken = log.deposit(CONTESTED, KIN);
  log.delivered(taken).released(taken);
  return log.after(DAY + 1).tick();
}

describe("GraphQL: the evidence behind a reputation", () => {
  let database: Awaited<ReturnType<typeof openApiDatabase>>;
  let app: ReturnType<typeof createApi>;
  let ask: <Data>(query: string, variables?: object) => Promise<Data>;

  before(async () => {
    database = await openApiDatabase(await testDatabase());
    const log = story();
    await database.fill((await log.derive()).store);
    await database.database
      .insert(schema.eventLog)
      .values(log.events.map((event) => ({ position: positionKey(event), json: JSON.stringify(event) })));
    const operations = { readBlocked: async () => null, readBlockedTransfers: async () => null };
    app = createApi({ db: database.db, operations, node, settlementUrl: null });
    ask = async (query, variables = {}) => {
      const response = await app.request("/graphql", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ query, variables }),
      });
      const { data, errors } = (await response.json()) as { data: never; errors?: unknown };
      expect(errors, JSON.stringify(errors)).to.equal(undefined);
      return data;
    };
  });
  after(() => database?.close());

  /** Computes an agent's figures from the shown evidence. */
  function expectRecomputed({ agent }: Answer): void {
    const { buyerFamilies, directHires, unreceipted, unansweredEscrows } =
      agent.independence as never as NonNullable<Answer["agent"]["independence"]>;
    const all = buyerFamilies.nodes;
    const others = all.filter(({ family: { id } }) => id !== "deep" && id !== agent.familyMember.family.id);
    expect(all.filter((it) => it.isIndependent)).to.deep.equal(others);
    expect(agent.independentBuyers).to.equal(others.length);
    expect(agent.establishedBuyers).to.equal(others.filter((it) => it.isEstablished).length);
    let kept = 0;
    for (const { paidUsdc, broughtUsdc, returned, keptUsdc, family } of all) {
      expect(atomic(broughtUsdc), family.id).to.be.at.most(atomic(paidUsdc));
      const rest = atomic(broughtUsdc) - returned.reduce((sum, it) => sum + atomic(it.amountUsdc), 0);
      const own = others.some((it) => it.family.id === family.id) ? Math.max(0, rest) : 0;
      expect(atomic(keptUsdc), family.id).to.equal(own);
      kept += own;
    }
    expect(atomic(agent.keptUsdc)).to.equal(kept);
    const shares = others.filter((it) => it.ratedHires > 0).map((it) => it.successes / it.ratedHires);
    const mean = shares.reduce((sum, it) => sum + it, 0) / shares.length;
    if (shares.length === 0) expect(agent.independentSuccessRate).to.equal(null);
    else expect(agent.independentSuccessRate).to.be.closeTo(mean, 1e-9);
    expect(agent.explain.hires.totalCount).to.equal(directHires);
    const coverage = directHires / (directHires + unreceipted.nodes.length);
    expect(agent.receiptCoverage).to.be.closeTo(coverage, 1e-9);
    expect(agent.unreceiptedPayments).to.equal(unreceipted.nodes.length);
    expect(agent.unansweredEscrows).to.equal(unansweredEscrows.nodes.length);
  }

  it("filters and orders agents, listings and search results by its figures, and private agents by their buckets", async () => {
    const agents = async (args: string) => {
      type Found = { agents: { nodes: { address: string }[] } };
      return (await ask<Found>(`{ agents(${args}) { nodes { address } } }`)).agents.nodes.map(
        (it) => it.address,
      );
    };
    const listings = async (where: string) => {
      type Found = { listings: { nodes: { agentAddress: string }[] } };
      const { listings: found } = await ask<Found>(
        `{ listings(where: {capability: "x.y", ${where}}) { nodes { agentAddress } } }`,
      );
      return found.nodes.map((it) => it.agentAddress).sort();
    };
    const search = async (more: object) => {
      const response = await app.request("/v1/search", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ capability: "x.y", ...more }),
      });
      expect(response.status).to.equal(200);
      return (await response.json()) as { agents: { agent_id: string }[]; next_cursor: string | null };
    };
    // The seller has two families, kept 1.30 USDC, and has receipts for 7 of 8 payments. The private seller has one
    // family, kept 0.50 USDC, and has all receipts.
    for (const [least, found] of [
      ["minIndependentBuyers: 2", [SELLER]],
      ["minIndependentBuyers: 1", [SELLER, SECRET]],
      ['minKeptUsdc: "1.30"', [SELLER]],
      ['minKeptUsdc: "1.300001"', []],
      ['minKeptUsdc: "0.01"', [SELLER]],
      ["minReceiptCoverage: 0.875", [SELLER, SECRET]],
      ["minReceiptCoverage: 0.8751", [SECRET]],
    ] as const) {
      expect((await agents(`where: {${least}}`)).sort(), least).to.deep.equal([...found].sort());
      expect((await agents(`where: {capability: "x.y", ${least}}`)).sort(), least).to.deep.equal(
        [...found].sort(),
      );
      expect(await listings(least), least).to.deep.equal([...found].sort());
    }
    for (const [order, first] of [
      ["independent_buyers", SELLER],
      ["kept_usdc", SELLER],
      ["receipt_coverage", SECRET],
    ] as const) {
      expect((await agents(`orderBy: ${order.toUpperCase()}`))[0], order).to.equal(first);
      const page = await search({ order_by: order, limit: 1 });
      const rest = await search({ order_by: order, limit: 1, cursor: page.next_cursor });
      const found = [...page.agents, ...rest.agents].map((it) => it.agent_id);
      expect(found, order).to.deep.equal([first, first === SELLER ? SECRET : SELLER]);
      expect(rest.next_cursor).to.equal(null);
    }
  });

  it("shows everything that is needed to compute the figures again", async () => {
    const answer = await ask<Answer>(INDEPENDENCE, { address: SELLER });
    expectRecomputed(answer);
    const { agent } = answer;
    expect([agent.independentBuyers, agent.keptUsdc, agent.unreceiptedUsdc]).to.deep.equal([
      2,
      "1.30",
      "0.25",
    ]);
    const shown = new Map(agent.independence?.buyerFamilies.nodes.map((it) => [it.family.id, it]));
    expect([...shown.keys()]).to.have.members([RICH, LONER, SELLER, "deep"]);
    expect(shown.get(RICH)).to.deep.include({ successShare: 0.75, paidUsdc: "2.00", keptUsdc: "1.30" });
    expect(shown.get(RICH)?.returned).to.deep.equal([{ account: SELLER, amountUsdc: "0.70" }]);
    expect(shown.get(LONER)).to.deep.include({ keptUsdc: "0.00" });
    expect(agent.independence?.unreceipted.nodes).to.have.length(1);
    expect(agent.independence?.unreceipted.nodes[0]).to.deep.include({
      buyerAddress: LONER,
      amountUsdc: "0.25",
    });
  });

  it("shows the same for agents of a whole market", async () => {
    const market = await openApiStory();
    for (const address of [cast.busy, cast.modest, cast.ring[0]])
      expectRecomputed(await market.ask<Answer>(INDEPENDENCE, { address }));
  });

  it("explains contested refunds with the refunded hires, and not with other escrow hires", async () => {
    type Explained = { value: number; hires: { nodes: { outcome: string; buyerAddress: string }[] } };
    const field = (name: string) =>
      `${name}: explain(field: ${name}) { value hires { nodes { outcome buyerAddress } } }`;
    const { agent } = await ask<{ agent: { [field: string]: Explained } }>(
      `query ($address: Address!) { agent(address: $address) {
        ${field("REFUNDS_CONTESTED")} ${field("REFUNDS_CONTESTED_FAMILIES")} } }`,
      { address: CONTESTED },
    );
    const explained = { value: 1, hires: { nodes: [{ outcome: "FAILURE", buyerAddress: KIN }] } };
    expect(agent).to.deep.equal({
      REFUNDS_CONTESTED: explained,
      REFUNDS_CONTESTED_FAMILIES: explained,
    });
  });

  it("shows nothing of an agent with private metrics", async () => {
    const { agent } = await ask<Answer>(INDEPENDENCE, { address: SECRET });
    expect(agent.independence).to.equal(null);
    expect(agent.explain.hires).to.equal(null);
  });

  const MEMBERS = `query ($id: ID!) { family(id: $id) { id isEstablished sellerFamilies founder { address }
    members { totalCount nodes { address steps reason payer sender amountUsdc tx block log actedBlock family { id } } } } }`;
  type Members = {
    family: {
      id: string;
      founder: { address: string } | null;
      sellerFamilies: number;
      members: { totalCount: number; nodes: Record<string, string | number | null>[] };
    } | null;
  };

  it("explains why each wallet is in its family, from any wallet of the family", async () => {
    const { family } = await ask<Members>(MEMBERS, { id: SECOND.toUpperCase().replace("0X", "0x") });
    expect(family).to.deep.include({ id: RICH, founder: { address: RICH }, sellerFamilies: 1 });
    const members = new Map(family?.members.nodes.map((it) => [it.address, it]));
    expect([...members.keys()]).to.have.members([RICH, FIRST, SECOND, PAID]);
    expect(members.get(RICH)).to.deep.include({
      ...{ steps: 0, reason: "HUB", payer: null, sender: HUB, amountUsdc: "12.00" },
    });
    expect(members.get(SECOND)).to.deep.include({
      ...{ steps: 2, reason: "TRANSFER", payer: FIRST, sender: FIRST, amountUsdc: "3.00" },
      family: { id: RICH },
    });
    expect(members.get(SECOND)?.tx).to.match(/^0x[0-9a-f]{64}$/);
    // The escrow's contract paid this wallet with the buyer's money.
    expect(members.get(PAID)).to.deep.include({
      reason: "PAYOUT",
      payer: RICH,
      sender: ESCROW,
      amountUsdc: "0.50",
    });
  });

  it("explains why a wallet founds a family of its own", async () => {
    const { family } = await ask<Members>(MEMBERS, { id: LONER });
    expect(family?.members.nodes).to.have.length(1);
    expect(family?.members.nodes[0]).to.deep.include({
      ...{ address: LONER, steps: 0, reason: "HUB", payer: null, sender: HUB, amountUsdc: "4.00" },
    });
  });

  it("shows the family of wallets with a distant founder, and gives null for an id that names no family", async () => {
    const { family } = await ask<Members>(MEMBERS, { id: "deep" });
    expect(family).to.deep.include({ id: "deep", founder: null, sellerFamilies: 0 });
    expect(family?.members.nodes[0]).to.deep.include({
      address: CHAIN.at(-1),
      steps: null,
      reason: "TRANSFER",
    });
    for (const id of [wallet(999), "", "\0", "x".repeat(3_000), "deep "])
      expect(await ask<Members>(MEMBERS, { id })).to.deep.equal({ family: null });
  });
});

function atomic(usdc: string): number {
  return Math.round(Number(usdc) * 1e6);
}
