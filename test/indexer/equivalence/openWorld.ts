import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import { identityRegistryAbi } from "tallystick-protocol/erc8004/identityRegistryAbi";
import { reputationRegistryAbi } from "tallystick-protocol/erc8004/reputationRegistryAbi";
import { ledgerId } from "tallystick-protocol/ledger/anchor";
import { zeroAddress, zeroHash } from "viem";
import { startPostgres } from "../../../scripts/postgres/startPostgres.ts";
import { openSupervisor } from "../../../scripts/processes/openSupervisor.ts";
import { deployRegistries } from "../../support/deployRegistries.ts";
import { startIndexer } from "../support/indexerProcess.ts";
import { CHAIN_ID, newWallet, PROVIDER, startLocalChain } from "../support/localChain.ts";
import { TestLedger } from "../support/testLedger.ts";
import { ARBITER, ATTESTOR, actor, OPERATOR } from "./actors.ts";
import { copyOf, type FollowedLedger, type Progress } from "./realizedLog.ts";

export const TICK_BLOCKS = 3;

export type World = Awaited<ReturnType<typeof openWorld>>;

/**
 * Opens a chain with our contracts, two ledgers and the registries of ERC-8004, and opens a Postgres. Tests play logs
 * on the chain, and nodes follow it.
 */
export async function openWorld() {
  const folder = await mkdtemp(path.join(tmpdir(), "tallystick-equivalence-"));
  const supervisor = await openSupervisor();
  const close = async () => {
    await supervisor.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const [postgres, chain] = await Promise.all([
      startPostgres({ supervisor }),
      startLocalChain(supervisor, folder),
    ]);
    const { anchoredLedger, relayer, client } = chain;
    const registries = await deployRegistries(client);
    const [registrant, rater] = [newWallet(), newWallet()];
    for (const it of [registrant, rater]) await chain.fuel(it);
    /**
     * Adds events of the ERC-8004 registries: one more identity, and feedback about this identity. Returns the time
     * after them.
     */
    const register = async (tag: string): Promise<bigint> => {
      const { identity, reputation } = registries;
      const uri = "https://agent.example";
      const { logs } = await chain.send(identity, identityRegistryAbi, "register", [uri], registrant);
      const id = BigInt(logs[0]?.topics[3] ?? 0);
      const args = [id, 100n, 0, tag, "", "", "", zeroHash];
      await chain.send(reputation, reputationRegistryAbi, "giveFeedback", args, rater);
      return chain.now();
    };
    await register("first");
    const followed: FollowedLedger[] = [];
    for (const name of ["a", "b"]) {
      const origin = `test.local/${name}`;
      await chain.send(anchoredLedger, anchoredLedgerAbi, "open", [origin, relayer, zeroAddress]);
      const id = ledgerId({
        chainId: CHAIN_ID,
        contract: anchoredLedger,
        writer: relayer,
        guardian: zeroAddress,
        origin,
      });
      const ledger = new TestLedger();
      followed.push({ id, ledger, publish: (it) => it.save(path.join(folder, name)) });
    }
    const role = (n: number) => actor(0, n).address;
    const environment: Record<string, string> = {
      RPC_URL: chain.rpcUrl,
      CHAIN_ID: String(CHAIN_ID),
      TOKEN_ADDRESS: chain.token,
      ESCROWS: `${chain.escrow}=${PROVIDER}`,
      ANCHORED_LEDGER: anchoredLedger,
      LEDGERS: followed.map(({ id }, n) => `${id}=${path.join(folder, n === 0 ? "a" : "b")}`).join(","),
      OPERATOR: role(OPERATOR),
      CLAIM_ATTESTORS: role(ATTESTOR),
      AUDIT_ARBITERS: role(ARBITER),
      TICK_BLOCKS: String(TICK_BLOCKS),
      ERC8004_REGISTRIES: `${registries.identity}=${registries.reputation}`,
      ERC8004_IMPLEMENTATIONS: `${registries.identityImplementation},${registries.reputationImplementation}`,
    };
    const progress: Progress = {
      nonce: await client.getTransactionCount({ address: relayer }),
      time: await chain.now(),
      version: 1,
      hubs: [],
      names: new Map(),
      hires: new Map(),
      ledgers: followed.map(({ ledger }) => ledger),
      anchored: followed.map(() => 0),
      nextLedger: 0,
    };
    return {
      supervisor,
      postgres,
      chain,
      followed,
      progress,
      register,
      start: (name: string, databaseUrl: string, more: Record<string, string> = {}) =>
        startIndexer(supervisor, folder, { ...environment, ...more, DATABASE_URL: databaseUrl }, name),
      /**
       * Saves the state of the chain. Gives a function that restores this state and returns the progress of that time.
       * After that, only nodes with new databases may follow the chain.
       */
      keepBeginning: async () => {
        let id = await client.snapshot();
        const kept = copyOf(progress);
        return async (): Promise<Progress> => {
          await client.revert({ id });
          id = await client.snapshot();
          for (const name of ["a", "b"]) await rm(path.join(folder, name), { recursive: true, force: true });
          return copyOf(kept);
        };
      },
      /** Mines up to a tick, and returns its time. */
      mineToTick: async (): Promise<bigint> => {
        while ((await client.getBlockNumber()) % BigInt(TICK_BLOCKS) !== 0n) await chain.mine();
        return chain.now();
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
