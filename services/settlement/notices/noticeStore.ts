import type { DatabaseSync } from "node:sqlite";
import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import { hostOf } from "tallystick-protocol/net/publicAddress";
import type { NoticeSubscription } from "tallystick-protocol/notices/noticeSubscription";
import { registeredNameOf } from "tallystick-runtime/http/registeredNameOf";
import { siteOf } from "tallystick-runtime/http/siteOf";
import { inTransaction } from "../sqlite/inTransaction.ts";
import { openDatabase } from "../sqlite/openDatabase.ts";

/**
 * Name of the file next to the ledger. It is private. It does not follow from entries, so copies of the
 * ledger do not have it.
 */
const NOTICES_FILE = "notices.sqlite";

/** The most subscriptions of one buyer. */
const MAX_PER_BUYER = 8;

/** How long a subscription lasts without renewal, and how long a cancelled one is remembered, in seconds. */
export const SUBSCRIPTION_SECONDS = 90 * 86_400;
const REMEMBERED_SECONDS = 3_600;

/** An active subscription. `since` and `expiresAt`: unix seconds. */
export type KeptSubscription = {
  id: string;
  buyer: Address;
  url: string;
  agents: Address[];
  since: number;
  expiresAt: number;
  /** Whether the sender said that the address wants notices. */
  isConfirmed: boolean;
};

/** A subscription as the sender read it. */
export type ConfirmedSubscription = Pick<KeptSubscription, "id" | "since">;

type StoredRow = {
  id: string;
  buyer: string;
  url: string;
  agents: string;
  issued_at: number;
  since: number;
  expires_at: number;
  confirmed: number;
};

/**
 * The buyers' subscriptions, on disk, with a limited number. A stranger with many wallets cannot take others'
 * places. When the store is full, the registered name with the most subscriptions loses one: the newest of its site with the
 * most. If the new subscription is of that same site, it is refused instead. Anybody can invent sites. So this counts and
 * removes only addresses that never said that they want notices, as long as there are any.
 */
export class NoticeStore {
  readonly #database: DatabaseSync;
  readonly #most: number;

  /** @param folder of the ledger. Without a folder, the subscriptions are in memory */
  constructor(folder?: string, most = 10_000) {
    this.#most = most;
    this.#database = openDatabase({
      folder,
      name: NOTICES_FILE,
      tables: `CREATE TABLE IF NOT EXISTS subscription (
         id TEXT PRIMARY KEY, buyer TEXT NOT NULL, url TEXT NOT NULL, site TEXT NOT NULL, agents TEXT NOT NULL,
         issued_at INTEGER NOT NULL, since INTEGER NOT NULL, expires_at INTEGER NOT NULL
       ) WITHOUT ROWID;
       CREATE INDEX IF NOT EXISTS subscription_buyer ON subscription (buyer);
       CREATE INDEX IF NOT EXISTS subscription_site ON subscription (site, since);
       CREATE INDEX IF NOT EXISTS subscription_end ON subscription (expires_at)`,
      loss: "Buyers have to send their notice addresses again.",
      migrate,
    });
  }

  /**
   * Stores a buyer's subscription for one address. Without agents it cancels the earlier one.
   *
   * @param now unix seconds
   * @throws TallystickError `stale_subscription`, `too_many_subscriptions`, `notices_full`, `disk_unavailable`; then
   * nothing changed
   */
  keep(id: string, word: NoticeSubscription, now: number): KeptSubscription {
    return inTransaction(this.#database, () => this.#keep(id, word, now));
  }

  /**
   * Notes that the addresses of these subscriptions said that they want notices.
   *
   * @throws TallystickError `disk_unavailable`
   */
  confirm(subscriptions: readonly ConfirmedSubscription[]): void {
    if (subscriptions.length === 0) return;
    const confirm = "UPDATE subscription SET confirmed = 1 WHERE id = ? AND since = ? AND agents != ''";
    inTransaction(this.#database, () => {
      for (const { id, since } of subscriptions) this.#run(confirm, id, since);
    });
  }

  /** The active subscriptions whose ids come after `after`, in the order of their ids. `now` in unix seconds. */
  list(after: string, limit: number, now: number): KeptSubscription[] {
    const rows = this.#database
      .prepare(
        "SELECT * FROM subscription WHERE id > ? AND expires_at > ? AND agents != '' ORDER BY id LIMIT ?",
      )
      .all(after, now, limit);
    return rows.map((row) => keptOf(row as StoredRow));
  }

  close(): void {
    this.#database.close();
  }

  #keep(id: string, word: NoticeSubscription, now: number): KeptSubscription {
    this.#run("DELETE FROM subscription WHERE expires_at <= ?", now);
    const known = this.#row("SELECT * FROM subscription WHERE id = ?", id);
    const agents = word.agents.join(",");
    if (known !== undefined && word.issued_at <= known.issued_at) {
      if (word.issued_at === known.issued_at && known.agents === agents) return keptOf(known);
      throw new TallystickError({
        code: "stale_subscription",
        message: "This buyer has already sent a request for this address with the same or a later time.",
        field: "body.issued_at",
        hint: "Sign it again with the present time.",
      });
    }
    const isHeld = known !== undefined && known.agents !== "";
    if (!isHeld && agents !== "") this.#makeRoom(id, word);
    const row: StoredRow = {
      id,
      ...{ buyer: word.buyer, url: word.url, agents, issued_at: word.issued_at },
      since: isHeld ? known.since : now,
      expires_at: now + (agents === "" ? REMEMBERED_SECONDS : SUBSCRIPTION_SECONDS),
      confirmed: isHeld && agents !== "" ? known.confirmed : 0,
    };
    // There is nothing to cancel, so nothing is stored. Otherwise such requests would fill the store.
    if (known === undefined && agents === "") return keptOf(row);
    this.#database
      .prepare(
        `INSERT OR REPLACE INTO subscription (id, buyer, url, site, registered, agents, issued_at, since, expires_at, confirmed)
         VALUES (:id, :buyer, :url, :site, :registered, :agents, :issued_at, :since, :expires_at, :confirmed)`,
      )
      .run({ ...row, site: siteOfUrl(word.url), registered: registeredNameOfUrl(word.url) });
    return keptOf(row);
  }

  /** Makes room for a subscription. A cancelled subscription that is renewed has its place already. */
  #makeRoom(id: string, { buyer, url }: NoticeSubscription): void {
    const others = "SELECT count(*) AS n FROM subscription WHERE id <> ?";
    if (this.#count(`${others} AND buyer = ?`, id, buyer) >= MAX_PER_BUYER) {
      throw new TallystickError({
        code: "too_many_subscriptions",
        message: `A buyer has at most ${MAX_PER_BUYER} addresses for notices.`,
        hint: "Cancel one first: sign it again without agents, and wait an hour.",
      });
    }
    if (this.#count(others, id) < this.#most) return;
    const unconfirmed = "confirmed = (SELECT min(confirmed) FROM subscription)";
    const largest = this.#row(
      `SELECT site AS id FROM subscription WHERE ${unconfirmed} GROUP BY registered, site ORDER BY
         sum(count(*)) OVER (PARTITION BY registered) DESC, count(*) DESC, max(since) DESC LIMIT 1`,
    );
    if (largest === undefined || largest.id === siteOfUrl(url)) {
      throw new TallystickError({
        code: "notices_full",
        message: "This node has no room for more notice addresses.",
        hint: "Follow its stream (GET /v1/stream?topics=sla), or use another node.",
      });
    }
    this.#run(
      `DELETE FROM subscription WHERE id =
         (SELECT id FROM subscription WHERE site = ? AND ${unconfirmed} ORDER BY since DESC, id DESC LIMIT 1)`,
      largest.id,
    );
  }

  #row(statement: string, ...values: (string | number)[]): StoredRow | undefined {
    return this.#database.prepare(statement).get(...values) as StoredRow | undefined;
  }

  #count(statement: string, ...values: string[]): number {
    return Number((this.#database.prepare(statement).get(...values) as { n: number }).n);
  }

  #run(statement: string, ...values: (string | number)[]): void {
    this.#database.prepare(statement).run(...values);
  }
}

/** Gives a store of an earlier version the columns that it lacks, and finds all sites and registered names again. */
function migrate(database: DatabaseSync): void {
  const columns = database.prepare("PRAGMA table_info(subscription)").all();
  if (!columns.some(({ name }) => name === "confirmed"))
    database.exec("ALTER TABLE subscription ADD COLUMN confirmed INTEGER NOT NULL DEFAULT 0");
  if (!columns.some(({ name }) => name === "registered"))
    database.exec("ALTER TABLE subscription ADD COLUMN registered TEXT NOT NULL DEFAULT ''");
  database.function("site_of", (url) => siteOfUrl(String(url)));
  database.function("registered_name_of", (url) => registeredNameOfUrl(String(url)));
  // Earlier versions, and earlier lists of public suffixes, found other sites. These functions are slow, so they are
  // called only here.
  database.exec(
    `UPDATE subscription SET site = site_of(url), registered = registered_name_of(url)
       WHERE site <> site_of(url) OR registered <> registered_name_of(url)`,
  );
}

function siteOfUrl(url: string): string {
  return siteOf(hostOf(new URL(url)));
}

function registeredNameOfUrl(url: string): string {
  return registeredNameOf(hostOf(new URL(url)));
}

function keptOf(row: StoredRow): KeptSubscription {
  const { id, buyer, url, agents, since, expires_at: expiresAt, confirmed } = row;
  const named = agents === "" ? [] : (agents.split(",") as Address[]);
  return { id, buyer: buyer as Address, url, agents: named, since, expiresAt, isConfirmed: confirmed === 1 };
}
