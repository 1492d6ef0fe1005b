import { expect } from "chai";
import type { DeriveEvent, RecordEvent } from "tallystick-derive/events";
import type { Address } from "tallystick-protocol/address";
import { recordSigningHash } from "tallystick-protocol/records/record";
import { privateKeyToAccount } from "viem/accounts";
import { deriveLogOf } from "../../../scripts/audits/derivedLog.ts";
import { EventLog, LEDGER, OTHER_LEDGER, TOKEN, wallet } from "../../derive/eventLog.ts";
import { fakeNode } from "../../sdk/openLog/fakeNode.ts";

describe("the log of a node whose audits are verified", () => {
  it("has all parameters that were in force, and when they began, also if others say more", async () => {
    const account = privateKeyToAccount(`0x${"7".repeat(64)}`);
    const operator = account.address.toLowerCase() as Address;
    const log = new EventLog({ operator, ledgers: { [LEDGER]: ["params"] } });
    log.events[0] = { ...log.events[0], token: { address: TOKEN, firstBlock: 1 } } as DeriveEvent;
    for (const version of [3, 2]) {
      log.after(20, 5).record("params", operator, { version, operator });
      const record = log.events.at(-1) as RecordEvent;
      record.signature = await account.sign({ hash: recordSigningHash(record.body) });
    }
    log.after(20, 139).tick();
    const node = await fakeNode(log);
    try {
      const { history } = await deriveLogOf(node.url);
      // The second record has no higher version, so it is not valid.
      expect(history.map(({ from, params }) => [from.block, params.version])).to.deep.equal([
        [1, 1],
        [6, 3],
      ]);
    } finally {
      await node.close();
    }
  });

  it("has transfers from the token's first block on, also if the node began later", async () => {
    const log = new EventLog({}, { form: "relevant", token: { address: TOKEN, firstBlock: 3 } });
    (log.events[0] as DeriveEvent).block = 10;
    log.after(20, 149).tick();
    const node = await fakeNode(log);
    try {
      expect((await deriveLogOf(node.url)).firstBlock).to.equal(3);
    } finally {
      await node.close();
    }
  });

  it("keeps the distance of its ticks when a later record gives other parameters", async () => {
    const account = privateKeyToAccount(`0x${"7".repeat(64)}`);
    const operator = account.address.toLowerCase() as Address;
    const log = new EventLog({ tickBlocks: 10, operator, ledgers: { [LEDGER]: ["params"] } });
    log.events[0] = { ...log.events[0], token: { address: TOKEN, firstBlock: 1 } } as DeriveEvent;
    log.after(20, 9).tick();
    // The record names no distance, so it has the default.
    log.after(20, 5).record("params", operator, { version: 2, operator });
    const record = log.events.at(-1) as RecordEvent;
    record.signature = await account.sign({ hash: recordSigningHash(record.body) });
    log.after(20, 4).tick();
    const node = await fakeNode(log);
    try {
      const { params, tickBlocks, ticks } = await deriveLogOf(node.url);
      expect([params.version, params.tickBlocks]).to.deep.equal([2, 150]);
      expect(tickBlocks).to.equal(10);
      expect(ticks.map(({ block }) => block)).to.deep.equal([10, 20]);
    } finally {
      await node.close();
    }
  });

  it("has the place at which a receipt came first, also if its entry is in a copy of its ledger", async () => {
    const log = new EventLog();
    log.events[0] = { ...log.events[0], token: { address: TOKEN, firstBlock: 1 } } as DeriveEvent;
    const hash = log.receipt(wallet(1), wallet(2));
    const first = log.events.at(-1) as RecordEvent;
    const { block, time } = log.after(20, 5);
    log.events.push({ ...first, ledger: OTHER_LEDGER, block, time, log: 0 });
    log.after(20, 144).tick();
    const node = await fakeNode(log);
    try {
      const { receipts, records } = await deriveLogOf(node.url);
      expect([...records.keys()]).to.deep.equal([LEDGER, OTHER_LEDGER]);
      expect(receipts.get(hash)).to.deep.equal({ block: first.block, log: first.log });
    } finally {
      await node.close();
    }
  });
});
