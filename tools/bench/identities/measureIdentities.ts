import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { DeriveEvent } from "tallystick-derive/events";
import { STATE_ID } from "tallystick-derive/stateId";
import { sha256HexByNode } from "tallystick-runtime/hashing/sha256HexByNode";
import { seededRandom } from "tallystick-runtime/seededRandom";
import { Projector } from "../../../indexer/src/rows/projector.ts";
import { type IdentitySize, identityEvents } from "./identityEvents.ts";
import { SqliteRows } from "./sqliteRows.ts";

const PARTS = 10;
const LOOKUPS = 2_000;
/** The number of feedbacks on a page. */
const PAGE = 20;

/** One tenth of the log. */
export type PartFigures = {
  events: number;
  /** Microseconds of processor time for an event, ticks included; and the median time of a tick, in milliseconds. */
  microseconds: number;
  tick: number;
  /** The number of rows that an event reads from the database. */
  finds: number;
  /** Megabytes of live objects at the end of the part. */
  heap: number;
};

export type IdentityFigures = IdentitySize & {
  parts: PartFigures[];
  /** Events in a second of processor time. */
  eventsPerSecond: number;
  /**
   * Microseconds of processor time for an identity with its wallet and a page of its feedback: for any identity, and
   * for the identity that has a tenth of all feedback.
   */
  lookup: { any: number; fullest: number };
  peakMegabytes: number;
  rows: { identity: number; feedback: number; backing: number };
  digest: string;
};

/**
 * Derives the log of two full registries as a node does: event after event through its cache of rows, with all rows in a
 * database on disk.
 */
export async function measureIdentities(size: IdentitySize): Promise<IdentityFigures> {
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-identities-"));
  const database = new SqliteRows(path.join(folder, "rows.sqlite"));
  try {
    const projector = new Projector();
    let all = 0;
    for (const _ of identityEvents(size)) all++;
    const parts: PartFigures[] = [];
    const part = new Part(database);
    let n = 0;
    for (const event of identityEvents(size)) {
      await part.apply(projector, event);
      if (Math.floor((++n * PARTS) / all) > parts.length) parts.push(part.end());
    }
    const state = await database.find("state", STATE_ID);
    const random = seededRandom(20);
    const seconds = parts.reduce((sum, it) => sum + it.microseconds * it.events, 0) / 1e6;
    return {
      ...size,
      parts,
      eventsPerSecond: n / seconds,
      lookup: {
        any: await lookUp(database, () => String(Math.floor(random() * size.identities))),
        fullest: await lookUp(database, () => "0"),
      },
      peakMegabytes: process.resourceUsage().maxRSS / 1024,
      rows: {
        identity: database.count("identity"),
        feedback: database.count("feedback"),
        backing: database.count("backing"),
      },
      digest: state?.digest ?? "",
    };
  } finally {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function lookUp(database: SqliteRows, choose: () => string): Promise<number> {
  const begun = process.cpuUsage();
  for (let n = 0; n < LOOKUPS; n++) {
    const id = choose();
    const identity = await database.find("identity", id);
    if (identity === null) throw new Error(`There is no identity ${id}.`);
    await database.find("identityLink", `${id}/${identity.links - 1}`);
    database.page("feedback", `${id}/`, PAGE);
  }
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / LOOKUPS;
}

class Part {
  readonly #database: SqliteRows;
  #events = 0;
  #finds = 0;
  #time = 0;
  #ticks: number[] = [];

  constructor(database: SqliteRows) {
    this.#database = database;
  }

  async apply(projector: Projector, event: DeriveEvent): Promise<void> {
    const [finds, begun] = [this.#database.finds, process.cpuUsage()];
    const options = { trustSignatures: true, sha256Hex: sha256HexByNode };
    await projector.apply(this.#database, [event], String(event.block), options);
    const { user, system } = process.cpuUsage(begun);
    this.#events++;
    this.#time += user + system;
    this.#finds += this.#database.finds - finds;
    if (event.kind === "tick") this.#ticks.push((user + system) / 1_000);
  }

  end(): PartFigures {
    const events = this.#events;
    const ticks = this.#ticks.sort((a, b) => a - b);
    const figures = {
      events,
      microseconds: this.#time / events,
      tick: ticks[Math.floor(ticks.length / 2)] ?? 0,
      finds: this.#finds / events,
      heap: liveMegabytes(),
    };
    [this.#events, this.#finds, this.#time, this.#ticks] = [0, 0, 0, []];
    return figures;
  }
}

function liveMegabytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed / 2 ** 20;
}
