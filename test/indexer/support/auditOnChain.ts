import { expect } from "chai";
import type { Row } from "tallystick-derive/tables";
import type { Hex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { bindBody } from "tallystick-protocol/records/binding";
import type { IndexerProcess } from "./indexerProcess.ts";
import { type LocalChain, newWallet, type Wallet } from "./localChain.ts";
import type { TestLedger } from "./testLedger.ts";

type Scene = {
  chain: LocalChain;
  ledger: TestLedger;
  ledgerId: Hex;
  /** Publishes and anchors the signed records. */
  anchor: () => Promise<unknown>;
  /** Who publishes parameters. */
  operator: Wallet;
};

export type AuditOnNode = {
  status: string;
  draw: { block: number; tickHash: string } | null;
  hire: { outcome: string; evidence: string } | null;
  rounds: { attempts: { auditorAddress: string; tickHash: string; assignedBlock: number }[] }[];
};

const AUDIT = `query ($id: ID!) { audit(id: $id) { status draw { block tickHash } hire { outcome evidence }
  rounds { attempts { auditorAddress tickHash assignedBlock } } } }`;

const CAPABILITY = "text.audited";
const HASHES = { params_hash: `0x${"a1".repeat(32)}`, result_hash: `0x${"b2".repeat(32)}` };

/** Audits on a real chain, step by step: a seller that agreed to them, and three auditors in Tier 2. */
export async function openAuditsOnChain({ chain, ledger, ledgerId, anchor, operator }: Scene) {
  const [seller, buyer, judge, pool] = [newWallet(), newWallet(), newWallet(), newWallet()];
  const auditors = [newWallet(), newWallet(), newWallet()];

  const say = (by: Wallet, type: string, fields: RecordBody) =>
    ledger.sign(by, type, bindBody(fields, { type, ledger: ledgerId }));
  const list = (by: Wallet, more: RecordBody = {}) =>
    say(by, "listing", {
      agent_id: by.address,
      capability: CAPABILITY,
      endpoint: `https://${by.address}.example`,
      max_latency_ms: 1000,
      price_usdc: "0.50",
      ...more,
    });
  /** Makes a hire with a payment and a receipt. Returns its id as audits name it. */
  const hire = async (by: Wallet, more: RecordBody = {}): Promise<string> => {
    const { transactionHash, logs } = await chain.pay(buyer, by, 500_000n);
    await say(by, "receipt", {
      agent_id: by.address,
      amount_usdc_atomic: "500000",
      buyer: buyer.address,
      capability: CAPABILITY,
      completed_at: 1_767_225_600,
      hire_id: `0x${ledger.size.toString(16).padStart(64, "0")}`,
      network: "eip155:31337",
      protocol_version: "swarmwage/v0.3",
      tx_hash: transactionHash,
      verification: { all_passed: true, checks: {} },
      ...more,
    });
    // The token logs the used authorization first. So the transfer is the last log.
    return `${transactionHash}-${logs.at(-1)?.logIndex}`;
  };

  return {
    seller,
    /**
     * Publishes parameters, listings and offers, and makes a hire of each auditor, so that the auditors are in Tier 2.
     */
    prepare: async (params: RecordBody) => {
      await chain.mint(buyer, 100_000_000n);
      await say(operator, "params", {
        ...params,
        version: Number(params.version) + 1,
        tier2MinSuccesses: 1,
        tier2MinCapabilities: 1,
        audit: {
          ...(params.audit as RecordBody),
          operators: { [judge.address]: { pool: pool.address } },
          ratePpm: 1_000_000,
          recheckPpm: 0,
          consentSeconds: 1,
        },
      });
      await anchor();
      await list(seller, { audit: { operator: judge.address } });
      for (const by of auditors) {
        await list(by, {
          price_usdc: `0.${auditors.indexOf(by) + 2}`,
          max_latency_ms: 2 ** auditors.indexOf(by),
        });
      }
      // The auditors act before they are paid, because a wallet whose first money comes from a buyer belongs to that
      // buyer's family.
      await anchor();
      for (const by of auditors) {
        await hire(by);
        await say(by, "auditor", {
          agent_id: by.address,
          operator: judge.address,
          capabilities: [CAPABILITY],
          endpoint: `https://${by.address}.example`,
          active: true,
          issued_at: 1,
        });
      }
      await anchor();
      await chain.mine(3);
    },
    /** Makes a hire that may be drawn at the tick of the next block. */
    hire: async () => {
      const id = await hire(seller, HASHES);
      await anchor();
      return id;
    },
    /** Adds the verdict of the auditor that was asked last. */
    answer: async (told: AuditOnNode, hire: string, verdict: string) => {
      const round = told.rounds.length;
      const asked = told.rounds.at(-1)?.attempts.at(-1);
      const by = auditors.find(({ address }) => address === asked?.auditorAddress) as Wallet;
      const reasons = [{ code: "fabricated", detail: "No such source." }];
      const attempt = told.rounds.at(-1)?.attempts.length ?? 0;
      await say(by, "audit_verdict", { hire, round, attempt, verdict, reasons, ...HASHES });
      await anchor();
    },
    rollBack: async (hire: string) => {
      const reasons = [{ code: "fabricated", detail: "Two auditors agree." }];
      await say(judge, "audit_actuation", { hire, decision: "rollback", reasons });
      await anchor();
    },
    told: async (indexer: IndexerProcess, hire: string) =>
      (await indexer.query<{ audit: AuditOnNode | null }>(AUDIT, { id: hire })).audit,
    /** Checks that GraphQL shows the same audit as the rows and the chain's blocks. */
    expectSameAsRows: async (audit: AuditOnNode, rows: Row<"auditAssignment">[]) => {
      const hashOf = async (block: number) =>
        (await chain.client.getBlock({ blockNumber: BigInt(block) })).hash;
      expect(audit.draw?.tickHash).to.equal(await hashOf(audit.draw?.block ?? 0));
      const attempts = audit.rounds.flatMap((it) => it.attempts);
      expect(attempts).to.deep.equal(
        await Promise.all(
          rows.map(async ({ auditor, block }) => ({
            auditorAddress: auditor,
            tickHash: await hashOf(block),
            assignedBlock: block,
          })),
        ),
      );
    },
  };
}
