import type { IncomingMessage, ServerResponse } from "node:http";
import { admittedOf } from "tallystick-runtime/http/limitClients";
import { Turns } from "tallystick-runtime/http/turns";
import type { Operations } from "../../operations.ts";
import type { Database } from "../database.ts";
import type { Batches } from "../rows/batched.ts";
import type { TimelineFeed } from "../stream/timelineFeed.ts";
import { queryError } from "./errors.ts";
import type { Followers } from "./followers.ts";
import { type Loaders, openLoaders } from "./loaders.ts";

/** The context that all requests share. */
export type ServerContext = {
  db: Database;
  operations: Pick<Operations, "readBlocked" | "readBlockedTransfers">;
  /** Chain, token and contracts of this node. */
  node: {
    chainId: number;
    token: string;
    anchoredLedger?: string | null;
    /** The token's EIP-712 domain. */
    tokenDomain?: { name: string; version: string };
  };
  /** Whether insights are free. */
  insightsAreFree: boolean;
  feed: TimelineFeed;
  followers: Followers;
};

/** The connection of a request. Tests without a connection leave out both fields. */
export type Connection = { incoming?: IncomingMessage; outgoing?: ServerResponse };

/** The context of resolvers, which is new for every request. */
export type QueryContext = ServerContext & {
  connection: Connection;
  /** Takes points from the client's budget. */
  charge: (points: number) => void;
  load: Loaders;
  /** The reads of this request that are combined, such as the lists of many objects. */
  batches: Batches;
  /** Takes rows from the request's limit. */
  takeRows: (count: number) => void;
  /** The turns of the statements that count rows. */
  counting: Turns;
  /** Resets the limits and the loaded rows, for the next event of a subscription. */
  renew: () => void;
  /** Stops all further reads of this request. */
  expire: () => void;
};

/**
 * The most rows of a request: more than a useful query needs, and far fewer than nested pages of a hundred
 * rows could ask for.
 */
export const MAX_ROWS = 2_000;

/** Requested rows that cost a client one point. */
const ROWS_PER_POINT = 20;

export function queryContext(base: ServerContext, connection: Connection = {}): QueryContext {
  let rows = 0;
  const budget = admittedOf(connection.incoming)?.budget;
  const context: QueryContext = {
    ...base,
    connection,
    charge: (points) => budget?.charge(points),
    load: openLoaders(base.db),
    batches: new Map(),
    counting: new Turns(() => 1),
    takeRows: (count) => {
      rows += count;
      budget?.charge(count / ROWS_PER_POINT);
      if (rows > MAX_ROWS) {
        throw queryError(
          "TOO_MANY_ROWS",
          `A query may ask for at most ${MAX_ROWS} rows, and each totalCount uses one of them for 50 rows that it counts. Ask for smaller pages or fewer counts.`,
        );
      }
    },
    renew: () => {
      rows = 0;
      context.load = openLoaders(base.db);
      context.batches = new Map();
    },
    expire: () => {
      rows = Number.POSITIVE_INFINITY;
    },
  };
  return context;
}
