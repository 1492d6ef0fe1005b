import { expect } from "chai";
import { EventLog, wallet } from "../../derive/eventLog.ts";
import { fillTallies } from "../support/fillTallies.ts";
import { openRestApi, type RestApi } from "../support/openRestApi.ts";

const BUYER = wallet(1);
/** More than the ten rows that are read for a page of one row of a filtered list. */
const SECRET = Array.from({ length: 12 }, (_, n) => wallet(100 + n));

describe("the cursors of lists without agents with private metrics", () => {
  let api: RestApi;

  before(async () => {
    api = await openRestApi();
    const log = new EventLog();
    log.after(1).listing(BUYER, "text.other");
    for (const seller of SECRET) log.after(1).listing(seller, "text.task", { private_metrics: true });
    for (const seller of SECRET) log.after(1).hire(seller, BUYER, { capability: "text.task" });
    await api.fill(log.after(60).tick());
    await fillTallies(api.database, log.events);
  });
  after(() => api?.close());

  it("name none of these agents, nor its figures", async () => {
    const query = `{
      insights { leaderboard(capability: "text.task", first: 1) { nodes { agent { id } } pageInfo { endCursor } } }
      agent(address: "${BUYER}") { counterparties(as: BUYER, first: 1) { nodes { address } pageInfo { endCursor } } }
    }`;
    const { data } = (await (await api.post("/graphql", { query })).json()) as { data: unknown };
    const nothing = { nodes: [], pageInfo: { endCursor: null } };
    expect(data).to.deep.equal({ insights: { leaderboard: nothing }, agent: { counterparties: nothing } });
    const rest = await api.get<{ next_cursor: unknown }>(
      `/v1/agents/${BUYER}/counterparties?as=buyer&limit=1`,
    );
    expect(rest.next_cursor).to.equal(null);
  });
});
