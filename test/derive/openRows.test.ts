import { expect } from "chai";
import {
  agentRow,
  changeAgent,
  findAgent,
  insertAgent,
  saveAgents,
  updateAgent,
} from "tallystick-derive/agentRow";
import { ensureAgent, isHubNow } from "tallystick-derive/agents";
import { openContext } from "tallystick-derive/applyContext";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import type { Row } from "tallystick-derive/tables";
import {
  findWallet,
  isHubOrEscrow,
  markWallet,
  saveWallets,
  unmarkHub,
  walletToChange,
} from "tallystick-derive/wallets";
import { EventLog, wallet } from "./eventLog.ts";

const [agent, funder, stranger] = [wallet(1), wallet(100), wallet(7)];

/** The rows of an agent and of the wallet that funded it. What is read and written after that is counted. */
async function open() {
  const log = new EventLog();
  log.transfer(funder, agent, 1_000_000);
  log.after(1).listing(agent, "text.translate");
  const { store } = await log.derive();
  const calls: string[] = [];
  const counted = new Proxy(store, {
    get(target, name: keyof MemoryStore) {
      if (name !== "get" && name !== "put") return Reflect.get(target, name).bind(target);
      return (table: string, it: string | { id: string }) => {
        if (table !== "list" && table !== "state")
          calls.push(`${name} ${table} ${typeof it === "string" ? it : it.id}`);
        return (target[name] as (table: string, it: unknown) => unknown).call(target, table, it);
      };
    },
  });
  const context = openContext(counted, { kind: "tick", block: log.block + 1, time: log.time + 9 });
  calls.length = 0;
  return { store, context, calls };
}

describe("the agents of an event", () => {
  it("are read once and written once, and the stored row does not change before", async () => {
    const { store, context, calls } = await open();
    const before = store.rows("agent").get(agent) as Row<"agent">;
    const copy = { ...before };
    expect(findAgent(context, agent)).to.equal(before);
    changeAgent(context, agent, { bought: 5 });
    const changed = agentRow(context, agent);
    expect(changed).to.deep.equal({ ...copy, bought: 5 });
    updateAgent(context, agent, { windowHires: 7 });
    expect(agentRow(context, agent), "the same copy").to.equal(changed);
    expect(before).to.deep.equal(copy);
    expect(store.rows("agent").get(agent)).to.equal(before);
    saveAgents(context);
    expect(store.rows("agent").get(agent)).to.deep.equal({ ...copy, bought: 5, windowHires: 7 });
    expect(calls).to.deep.equal([`get agent ${agent}`, `put agent ${agent}`]);
  });

  it("are settled at the end of the event if a published field may have changed, and are not written if nothing did", async () => {
    const { context, calls } = await open();
    findAgent(context, agent);
    changeAgent(context, agent, {});
    expect([...context.touchedAgents]).to.deep.equal([]);
    updateAgent(context, agent, {});
    expect([...context.touchedAgents]).to.deep.equal([agent]);
    const other = openContext(context.store, { kind: "tick", block: 9, time: 9 });
    findAgent(other, agent);
    calls.length = 0;
    saveAgents(other);
    expect(calls).to.deep.equal([]);
  });

  it("are written if they are new, and everything else says that an address is not an agent", async () => {
    const { store, context } = await open();
    expect(findAgent(context, stranger)).to.equal(null);
    expect(() => agentRow(context, stranger)).to.throw(`${stranger} is not an agent.`);
    expect(() => changeAgent(context, stranger, {})).to.throw(`${stranger} is not an agent.`);
    const row = { ...(store.rows("agent").get(agent) as Row<"agent">), id: stranger };
    insertAgent(context, row);
    expect([...context.touchedAgents]).to.deep.equal([stranger]);
    changeAgent(context, stranger, { bought: 3 });
    saveAgents(context);
    expect(store.rows("agent").get(stranger)).to.deep.equal({ ...row, bought: 3 });
  });

  it("are registered once, at the place of the event, with nothing to their names; hubs and escrows are not", async () => {
    const { context } = await open();
    const known = agentRow(context, agent);
    expect(ensureAgent(context, agent)).to.equal(known);
    expect(ensureAgent(context, stranger)).to.include({
      ...{
        id: stranger,
        registeredBlock: context.at.block,
        registeredTime: context.at.time,
        registeredLog: 0,
      },
      ...{ claimStatus: "unclaimed", freeHires: 0, windowWeight: "0", trustTier: 0, signalsTripped: "" },
      ...{ successPercent: null, starTenths: null },
    });
    for (const [kind, n] of [
      ["hub", 8],
      ["escrow", 9],
    ] as const) {
      markWallet(context, wallet(n), kind);
      expect([ensureAgent(context, wallet(n)), findAgent(context, wallet(n))]).to.deep.equal([null, null]);
      expect(isHubNow(context, wallet(n))).to.equal(true);
    }
    expect([agent, stranger, wallet(10)].map((it) => isHubNow(context, it))).to.deep.equal([
      false,
      false,
      false,
    ]);
    markWallet(context, agent, "hub");
    expect([isHubNow(context, agent), ensureAgent(context, agent)?.isHub]).to.deep.equal([true, true]);
  });
});

describe("the wallets of an event", () => {
  it("are read once and written once, and the stored row does not change before", async () => {
    const { store, context, calls } = await open();
    const before = store.rows("wallet").get(agent) as Row<"wallet">;
    const copy = { ...before };
    expect(findWallet(context, agent)).to.equal(before);
    const changed = walletToChange(context, agent);
    changed.incoming = 5;
    expect(walletToChange(context, agent), "the same copy").to.equal(changed);
    expect(findWallet(context, agent)).to.equal(changed);
    expect(before).to.deep.equal(copy);
    expect(findWallet(context, stranger)).to.equal(null);
    findWallet(context, funder);
    saveWallets(context);
    expect(store.rows("wallet").get(agent)).to.deep.equal({ ...copy, incoming: 5 });
    expect(calls).to.deep.equal([
      `get wallet ${agent}`,
      `get wallet ${stranger}`,
      `get wallet ${funder}`,
      `put wallet ${agent}`,
    ]);
  });

  it("get an empty row when they first change", async () => {
    const { store, context } = await open();
    walletToChange(context, stranger).incoming++;
    saveWallets(context);
    const texts = { fundings: "", origin: "", begun: "", reachedTail: "" };
    expect(store.rows("wallet").get(stranger)).to.include({
      id: stranger,
      incoming: 1,
      outgoing: 0,
      kind: null,
      ...texts,
    });
  });

  it("are hubs until nobody publishes them as such, and escrows for ever; an agent's row says so too", async () => {
    const { context, calls } = await open();
    const kind = (it = agent) => findWallet(context, it)?.kind ?? null;
    const isHub = () => agentRow(context, agent).isHub;
    expect([kind(), isHub(), isHubOrEscrow(context, agent)]).to.deep.equal([null, false, false]);
    unmarkHub(context, agent);
    saveWallets(context);
    expect(calls.filter((it) => it.startsWith("put"))).to.deep.equal([]);
    markWallet(context, agent, "hub");
    expect([kind(), isHub(), isHubOrEscrow(context, agent)]).to.deep.equal(["hub", true, true]);
    unmarkHub(context, agent);
    expect([kind(), isHub(), isHubOrEscrow(context, agent)]).to.deep.equal([null, false, false]);
    markWallet(context, agent, "hub");
    markWallet(context, agent, "escrow");
    expect([kind(), isHub()]).to.deep.equal(["escrow", true]);
    markWallet(context, agent, "hub");
    unmarkHub(context, agent);
    expect([kind(), isHub()]).to.deep.equal(["escrow", true]);
    markWallet(context, stranger, "escrow");
    expect([kind(stranger), findAgent(context, stranger)]).to.deep.equal(["escrow", null]);
    expect(isHubOrEscrow(context, wallet(8))).to.equal(false);
  });
});
