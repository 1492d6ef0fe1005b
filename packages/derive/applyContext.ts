import { defineParams, type Params, paramsSchema } from "tallystick-protocol/records/params";
import { type RecoverPublicKey, recoverByNoble } from "tallystick-protocol/signatures/recoverPublicKey";
import { type DeriveEvent, type Position, positionOf } from "./events.ts";
import { type DigestTree, NotingRows } from "./notingRows.ts";
import type { OpenAgent, OpenHireKey, OpenWallet } from "./openRows.ts";
import type { Ask } from "./relevant/reads.ts";
import { BUCKET_SECONDS } from "./scheduleBuckets.ts";
import { type Sha256Hex, sha256HexByNoble } from "./sha256Hex.ts";
import { STATE_ID } from "./stateId.ts";
import { WEIGHTS, type Weights } from "./steward/score.ts";
import type { Store } from "./store.ts";
import type { Row } from "./tables.ts";

/** How an event is applied. */
export type ApplyOptions = {
  /** Whether signatures that are present are accepted without a check, for synthetic logs. */
  trustSignatures?: boolean;
  /** How signers are recovered; in plain JavaScript unless given. */
  recover?: RecoverPublicKey;
  /** How rows are hashed; in plain JavaScript unless given. */
  sha256Hex?: Sha256Hex;
  /** Gives what a relevant log lacks, while that log is made. A finished log lacks nothing. */
  ask?: Ask;
  /** Other weights, to see how trust scores would change. Everything that a node publishes uses {@link WEIGHTS}. */
  stewardWeights?: Weights;
};

/** What applying one event reads and changes: its position, the parameters in force, and the rows touched so far. */
export type ApplyContext = {
  readonly store: Store;
  readonly at: Position;
  /** Whether this event is the first line of the log. Its parameters are in force from the first block. */
  readonly isFirst: boolean;
  readonly params: Params;
  readonly state: Row<"state">;
  readonly trustSignatures: boolean;
  readonly recover: RecoverPublicKey;
  readonly sha256Hex: Sha256Hex;
  readonly ask: Ask;
  readonly stewardWeights: Weights;
  /** The agents read so far. They are written at the end (see `agentRow.ts`). */
  readonly agents: Map<string, OpenAgent>;
  /** The wallets (see `wallets.ts`) and the keys of hires (see `hireKeys.ts`) that were read so far. */
  readonly wallets: Map<string, OpenWallet>;
  readonly hireKeys: Map<string, OpenHireKey>;
  /** Agents that rose to Tier 2, or fell from it, and whether they rose. */
  readonly tiered: Map<string, boolean>;
  /** Agents and clusters whose public fields may have changed. */
  readonly touchedAgents: Set<string>;
  readonly touchedClusters: Set<string>;
  /** Rows of audits, of settlement trust and of trust scores that may have changed, as `<table> <id>`. */
  readonly touchedRows: Set<string>;
  /** The leaves that a tick puts into the digest. */
  readonly leaves: Set<DigestLeaf>;
};

/** A leaf of the digest: its hash, and the hash of its key, which decides its place in its tree. */
export type DigestLeaf = { tree: DigestTree; key: string; hash: string };

/**
 * What an event notes while it is applied. The next event can use the same objects, because making new ones costs
 * more.
 */
export type EventNotes = Pick<
  ApplyContext,
  | "store"
  | "agents"
  | "wallets"
  | "hireKeys"
  | "tiered"
  | "touchedAgents"
  | "touchedClusters"
  | "touchedRows"
  | "leaves"
>;

export function openNotes(store: Store): EventNotes {
  const touchedRows = new Set<string>();
  return {
    store: new NotingRows(store, touchedRows),
    agents: new Map(),
    wallets: new Map(),
    hireKeys: new Map(),
    tiered: new Map(),
    touchedAgents: new Set(),
    touchedClusters: new Set(),
    touchedRows,
    leaves: new Set(),
  };
}

/**
 * The context for the next part of an event, after the rows of the part before were saved. It has copies of the notes,
 * so that an attempt that fails leaves nothing to the next attempt.
 *
 * @param store has the changes of the parts before
 */
export function nextContext(store: Store, before: ApplyContext): ApplyContext {
  const touchedRows = new Set(before.touchedRows);
  return {
    ...before,
    store: new NotingRows(store, touchedRows),
    agents: new Map(),
    wallets: new Map(),
    hireKeys: new Map(),
    tiered: new Map(before.tiered),
    touchedAgents: new Set(before.touchedAgents),
    touchedClusters: new Set(before.touchedClusters),
    touchedRows,
    leaves: new Set(before.leaves),
  };
}

/** Removes the notes of the previous event, even if that event failed. */
function clear(notes: EventNotes): void {
  const { agents, wallets, hireKeys, tiered, touchedAgents, touchedClusters, touchedRows, leaves } = notes;
  for (const noted of [
    agents,
    wallets,
    hireKeys,
    tiered,
    touchedAgents,
    touchedClusters,
    touchedRows,
    leaves,
  ])
    if (noted.size > 0) noted.clear();
}

/**
 * Opens the context of `event`. The first event of a log also inserts the state, with the default parameters.
 *
 * @param notes the notes of the previous event, if that event was applied to the same store
 */
export function openContext(
  store: Store,
  event: DeriveEvent,
  {
    trustSignatures = false,
    recover = recoverByNoble,
    sha256Hex = sha256HexByNoble,
    ask = hasAll,
    stewardWeights = WEIGHTS,
  }: ApplyOptions = {},
  notes: EventNotes = openNotes(store),
): ApplyContext {
  clear(notes);
  const state = stateAt(store, event);
  return {
    ...notes,
    at: positionOf(event),
    isFirst: event.kind === "params",
    params: parseParams(state.params),
    state,
    trustSignatures,
    recover,
    sha256Hex,
    ask,
    stewardWeights,
  };
}

function hasAll(): boolean {
  return true;
}

function stateAt(store: Store, event: DeriveEvent): Row<"state"> {
  const known = store.get("state", STATE_ID);
  if (known !== null) return known;
  const state = initialState(event);
  store.insert("state", state);
  return state;
}

function initialState(event: DeriveEvent): Row<"state"> {
  const params = event.kind === "params" ? event.params : defineParams();
  return {
    id: STATE_ID,
    block: 0,
    time: 0,
    ticks: 0,
    scheduleBucket: Math.floor(event.time / BUCKET_SECONDS),
    trips: 0,
    tokenSets: 0,
    paramsVersion: params.version,
    params: JSON.stringify(params),
    chainId: (event.kind === "params" ? event.chainId : undefined) ?? null,
    form: (event.kind === "params" ? event.form : undefined) ?? "all",
    registries: event.kind === "params" && event.registries !== undefined,
    root: "",
    stewardRoot: "",
    identityRoot: "",
    digest: null,
  };
}

/** Parses the text of the parameters. The same text is parsed only once. */
const parseParams = (() => {
  let last: { text: string; params: Params } | undefined;
  return (text: string): Params => {
    if (last?.text !== text) last = { text, params: paramsSchema.parse(JSON.parse(text)) };
    return last.params;
  };
})();
