import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Hex, toHex } from "tallystick-protocol/hex";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { verifyLedgerFile } from "../../../scripts/commands/verifyLedger.ts";
import { readConfig } from "../../../services/settlement/config.ts";
import { hashKey } from "../../../services/settlement/keys/keyFile.ts";
import { openService } from "../../../services/settlement/service.ts";
import { putImage } from "./diskImage.ts";
import { type Ending, type EndingKind, recordEndings } from "./recordEndings.ts";
import {
  AGENT_KEY,
  API_KEY,
  agent,
  type Confirmed,
  failure,
  nothingConfirmed,
  OPERATOR_KEY,
  operator,
  SettlementClient,
  type Step,
} from "./settlementClient.ts";
import { watchWrites } from "./watchWrites.ts";

/** The chain that a service anchors to. */
export type CrashChain = {
  /** The settings of a service that anchors there. Its writer does not send its anchors itself. */
  settings: { [name: string]: string };
  /** The ledger's head in the contract; undefined if the ledger is not open. */
  head: (ledger: Hex) => Promise<{ size: number; root: Hex } | undefined>;
  /** Saves the chain's state, and restores a saved state. The latest saved state must be restored first. */
  keep: () => Promise<unknown>;
  goBack: (state: unknown) => Promise<void>;
};

export type CrashFlow = {
  name: string;
  steps: readonly Step[];
  /** How many entries the ledger has at the end. */
  entries: number;
  chain?: CrashChain;
  /** Whether the service has the operator's key, and so publishes outcomes by itself. */
  tells?: boolean;
};

export type CrashOptions = {
  /** Which endings are played, by their numbers. Default: all. */
  choose?: (kinds: readonly EndingKind[]) => ReadonlySet<number>;
  /** Called after every ending. */
  onSeen?: (seen: number, of: number) => void;
};

/** `endings`: the number of different endings. `seen`: how many of them were played. */
export type CrashCount = { writes: number; endings: number; seen: number };

/** The boot ids of the machine: before the loss of power, and after it. */
const BOOTS = ["11111111-1111-4111-8111-111111111111\n", "22222222-2222-4222-8222-222222222222\n"] as const;

/** The keys file is outside of the disk that is recorded. */
const KEYS_FILE = "keys.json";

/** Watches nothing. */
const NOBODY = { watches: () => false, before: async () => {}, beforeSync: () => {}, done: () => {} };

type World = { root: string; flow: CrashFlow; bootId: string };

/**
 * Ends a settlement service at every write to its disk, by a kill and by a loss of power. It starts the
 * service again on the files that were left, and the clients repeat every request that got no answer. Then it
 * checks that everything that the service confirmed is still true, that nothing is in the ledger twice, and
 * that nothing contradicts what the service signed.
 *
 * @throws TallystickError `crash_test_failed` saying at which write; LedgerLineError
 */
export async function crashAtEveryWrite(flow: CrashFlow, options: CrashOptions = {}): Promise<CrashCount> {
  const { choose = (kinds) => new Set(kinds.keys()), onSeen = () => {} } = options;
  const first = await inFolder(async (root) => {
    writeKeys(root);
    const world = { root, flow, bootId: BOOTS[0] };
    return recordLife(world, nothingConfirmed());
  });
  const chosen = choose(first.endings.map(({ kind }) => kind));
  const count = { writes: first.writes, endings: first.endings.length, seen: 0 };
  // The latest ending comes first, because a chain that was set back has lost all later states.
  for (const [number, ending] of [...first.endings.entries()].reverse()) {
    if (!chosen.has(number)) continue;
    await seeThrough(flow, ending).catch((error) => {
      throw failure(`${flow.name}, ${ending.kind} ${ending.at}: ${error.stack ?? error}`);
    });
    onSeen(++count.seen, chosen.size);
  }
  return count;
}

/**
 * Chooses some endings at random, as many losses of power as kills. It always takes the last ending of each kind,
 * because everything is confirmed before it. The same random numbers give the same endings.
 */
export function sample(size: number, random: () => number): NonNullable<CrashOptions["choose"]> {
  return (kinds) => {
    const chosen = (["killed", "power lost"] as const).flatMap((kind) => {
      const left = [...kinds.keys()].filter((number) => kinds[number] === kind);
      while (left.length > size / 2) left.splice(Math.floor(random() * (left.length - 1)), 1);
      return left;
    });
    return new Set(chosen);
  };
}

/** The key of the agent, as `tallystick keys add --agent` would store it. */
function writeKeys(root: string): void {
  const key = {
    id: "AGENT",
    name: "agent",
    sha256: hashKey(AGENT_KEY),
    created_at: 0,
    revoked_at: null,
    agent,
  };
  writeFileSync(path.join(root, KEYS_FILE), JSON.stringify({ version: 1, keys: [key] }));
}

async function inFolder<T>(work: (root: string) => Promise<T>): Promise<T> {
  const root = realpathSync(mkdtempSync(path.join(tmpdir(), "tallystick-crash-")));
  try {
    return await work(root);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Runs a service once, and records all of its writes. */
async function recordLife(world: World, confirmed: Confirmed) {
  let look = async (): Promise<void> => {};
  const recorded = await recordEndings({
    root: world.root,
    run: () =>
      live(world, confirmed, (client) => {
        look = () => client.look();
      }),
    confirmed: () => structuredClone(confirmed),
    look: () => look(),
    keepChain: async () => world.flow.chain?.keep(),
    bootId: world.bootId,
  });
  if (recorded.unseen.length > 0)
    throw failure(`${world.flow.name}: no watched write explains ${recorded.unseen.join(", ")}`);
  return recorded;
}

async function seeThrough(
  flow: CrashFlow,
  { disk, confirmed, chain, kind }: Ending<Confirmed>,
): Promise<void> {
  await inFolder(async (root) => {
    putImage(disk, root);
    if (flow.chain) await flow.chain.goBack(chain);
    const bootId = kind === "killed" ? BOOTS[0] : BOOTS[1];
    const stop = await watchWrites({ ...NOBODY, bootId: () => bootId });
    try {
      await live({ root, flow, bootId }, confirmed);
    } finally {
      stop();
    }
  });
}

/**
 * Runs a service from its start to its stop. All clients complete their steps, and the answers must agree with
 * earlier ones.
 */
async function live(
  { root, flow }: World,
  confirmed: Confirmed,
  opened: (client: SettlementClient) => void = () => {},
): Promise<void> {
  const config = readConfig({
    LEDGER_DIR: path.join(root, "disk"),
    SETTLEMENT_API_KEYS: API_KEY,
    KEYS_FILE: path.join(root, KEYS_FILE),
    OPERATOR: operator.address,
    DEV_MODE: "1",
    ...(flow.tells && { OPERATOR_PRIVATE_KEY: OPERATOR_KEY, PULSE_INTERVAL_SECONDS: "0" }),
    ...(flow.chain && { ANCHOR_WORDS_DIR: path.join(root, "words"), ...flow.chain.settings }),
  });
  const logged: string[] = [];
  const failures: Error[] = [];
  const anchored = async () =>
    config.ledger === "local" ? undefined : await flow.chain?.head(config.ledger);
  const before = await anchored();
  if (before) confirmed.heads.push(before);
  const service = await openService({
    config,
    now: () => confirmed.now,
    log: (sentence, fields) => logged.push(`${sentence} ${JSON.stringify(fields)}`),
    onFailure: (error) => failures.push(error),
  });
  try {
    const client = new SettlementClient(service, config.ledger, confirmed);
    opened(client);
    await client.check(confirmed);
    for (const step of flow.steps) await step(client);
    const { ledger } = service;
    for (let head = await anchored(); flow.chain && head?.size !== ledger.size; head = await anchored()) {
      if (failures[0]) throw failures[0];
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await client.look();
    const last = await anchored();
    await client.check({ ...confirmed, heads: [...confirmed.heads, ...(last ? [last] : [])] });
    if (ledger.size !== flow.entries)
      throw failure(`the ledger has ${ledger.size} entries, not ${flow.entries}`);
    const { json } = await client.verify();
    if (json.valid !== true) throw failure(`the service says of its ledger ${JSON.stringify(json)}`);
  } catch (error) {
    throw failure(`${(error as Error).stack}\nThe service has logged:\n${logged.join("\n")}`);
  } finally {
    await service.close();
  }
  if (failures[0]) throw failures[0];
  const verified = await verifyLedgerFile(service.ledger.path);
  if (verified instanceof LedgerLineError) throw verified;
  const head = toHex(service.ledger.tree.root());
  if (toHex(verified.root) !== head) throw failure(`the file has root ${toHex(verified.root)}, not ${head}`);
}
