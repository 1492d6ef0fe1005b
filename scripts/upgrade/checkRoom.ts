import { statfs } from "node:fs/promises";
import type { InputIssue } from "tallystick-protocol/errors";
import type { UpgradeSession } from "./openUpgradeSession.ts";

/** The most connections of another indexer, including the connections of its clients. */
const CONNECTIONS = 15;

/** The resources of the server for an upgrade, as far as they are known. */
export type Room = { bytesNeeded: number; bytesFree: number | undefined; connectionsFree: number };

/**
 * Checks whether an upgrade fits: the size of the live schema, which the new one will have too, and the number
 * of free connections. If Postgres runs on this machine and shows where its files are, it also checks the free
 * space of the disk.
 */
export async function readRoom(
  query: UpgradeSession["query"],
  schema: string,
  databaseUrl: string,
): Promise<Room> {
  const { rows } = await query(
    `SELECT (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class AS c
         JOIN pg_namespace AS n ON n.oid = relnamespace WHERE nspname = $1 AND relkind = 'r')::int8 AS bytes,
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
         - coalesce(current_setting('reserved_connections', true), '0')::int
         - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::int AS connections`,
    [schema],
  );
  return {
    bytesNeeded: Number(rows[0]?.bytes),
    bytesFree: await freeBytes(query, databaseUrl),
    connectionsFree: Number(rows[0]?.connections),
  };
}

async function freeBytes(query: UpgradeSession["query"], databaseUrl: string): Promise<number | undefined> {
  if (!["localhost", "127.0.0.1", "[::1]", ""].includes(new URL(databaseUrl).hostname)) return undefined;
  try {
    // Only a superuser, or a member of pg_read_all_settings, may read this setting.
    const { rows } = await query("SELECT current_setting('data_directory') AS folder");
    const { bavail, bsize } = await statfs(rows[0]?.folder);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/** The resources that are too scarce. */
export function roomIssues({ bytesNeeded, bytesFree, connectionsFree }: Room): InputIssue[] {
  const issues: InputIssue[] = [];
  if (connectionsFree < CONNECTIONS)
    issues.push({
      field: "max_connections",
      message: `${Math.max(0, connectionsFree)} connections are free, another indexer needs up to ${CONNECTIONS}`,
    });
  if (bytesFree !== undefined && bytesFree < bytesNeeded * 1.2)
    issues.push({
      field: "disk",
      message: `${megabytes(bytesFree)} are free, the new schema needs about ${megabytes(bytesNeeded)}, and a fifth more while it grows`,
    });
  return issues;
}

/** One line that describes the room. */
export function describeRoom({ bytesNeeded, bytesFree, connectionsFree }: Room): string {
  const free =
    bytesFree === undefined ? "how much is free is not known here" : `${megabytes(bytesFree)} are free`;
  return `needs about ${megabytes(bytesNeeded)} of disk, ${free}; ${connectionsFree} connections are free`;
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / 1e6).toLocaleString("en")} MB`;
