import { styleText } from "node:util";
import Table from "cli-table3";
import type { SnapshotChanges } from "./snapshotChanges.ts";

/** Longer values are cut. Nobody reads a list of a hundred members in a table. */
const MAX_LENGTH = 44;

/** The changes as a table for a person. @param most rows of it */
export function describeChanges({ asOf, digest, changes }: SnapshotChanges, most: number): string {
  const lines: string[] = [];
  if (changes.length > 0) {
    const table = new Table({
      head: ["", "field", "before", "after"].map((it) => styleText("bold", it)),
      style: { head: [], border: [], compact: true },
    });
    for (const { id, field, before, after } of changes.slice(0, most))
      table.push([short(id), field, styleText("red", show(before)), styleText("green", show(after))]);
    lines.push(table.toString());
    if (changes.length > most) lines.push(`… and ${changes.length - most} more (--show)`);
  }
  const things = count(changes.length, "value");
  const to =
    digest.before === digest.after ? "the digest is the same" : `digest ${digest.before} → ${digest.after}`;
  lines.push(
    `${changes.length === 0 ? "nothing changed" : `${things} changed`} · block ${asOf.block} · ${to}`,
  );
  return lines.join("\n");
}

/** `1 value`, `2 values`. */
export function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}

function show(value: unknown): string {
  const text = value === null ? "–" : typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1)}…` : text;
}

/** The beginning of an address or a cluster's id, enough to distinguish it from others. */
function short(id: string): string {
  return id.length > 20 ? `${id.slice(0, 10)}…${id.slice(-6)}` : id;
}
