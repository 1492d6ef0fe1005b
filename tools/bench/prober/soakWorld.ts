import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Address } from "tallystick-protocol/address";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { Prober, type ProberParameters } from "../../../services/probing/prober.ts";
import { openProberFolder } from "../../../services/probing/proberFolder.ts";
import { drawnMoments } from "../../../services/probing/schedule/drawnMoments.ts";
import { addressOf } from "./localAddresses.ts";

/** A UTC day, in days since 1970. */
export const DAY = 20_454;
export const DAY_SECONDS = 86_400;
const KEY = `0x${"77".repeat(32)}` as const;

export const agentOf = (n: number): Address => `0x${n.toString(16).padStart(40, "0")}`;
export const nameOf = (n: number): string => `h${n}.seller.example`;

export async function* listingsOf(hosts: number, port: number) {
  for (let n = 0; n < hosts; n++)
    yield {
      agent: agentOf(n),
      payee: null,
      capability: "compute.statistics.mean",
      paymentMode: "direct",
      endpoint: `https://${nameOf(n)}:${port}`,
      maxLatencyMs: 30_000,
    };
}

export type World = { folder: string; sent: RecordBody[]; remove: () => Promise<void> };

/**
 * Makes a folder in which every host is already stored as the host of its agent. Otherwise the prober would use the
 * first slot to find that out.
 */
export function makeFolder(hosts: number, port: number): string {
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-soak-prober-"));
  const known = { robotsDay: DAY, optedOut: false };
  const entries = Array.from({ length: hosts }, (_, n) => {
    const today = { [agentOf(n)]: DAY };
    return [`${nameOf(n)}:${port}`, { ...known, served: today, asked: today }];
  });
  writeFileSync(path.join(folder, "hosts.json"), JSON.stringify(Object.fromEntries(entries)));
  return folder;
}

/** Makes a folder by {@link makeFolder}, and locks it for a prober in this process. */
export async function openWorld(hosts: number, port: number): Promise<World> {
  const folder = makeFolder(hosts, port);
  const release = await openProberFolder(folder);
  const remove = async (): Promise<void> => {
    await release();
    rmSync(folder, { recursive: true, force: true });
  };
  return { folder, sent: [], remove };
}

export function openProber(
  { folder, sent }: Pick<World, "folder" | "sent">,
  own: Pick<ProberParameters, "now" | "listings" | "requestsPerSecond"> & Partial<ProberParameters>,
): Promise<Prober> {
  return Prober.open({
    folder,
    region: "soak",
    maxHosts: 100_000,
    keep: { days: 3, bytes: 1_000_000_000 },
    moments: drawnMoments(KEY),
    asker: { address: agentOf(0), userAgent: "tallystick-prober/1.0 (+soak)" },
    policy: { problemOf: () => undefined, isPublic: () => true },
    leaveOut: [],
    resolve: async (host) => [addressOf(Number(/^h(\d+)\./.exec(host)?.[1]))],
    testUplink: async () => true,
    send: async (body) => {
      sent.push(body);
      return { hash: "00" };
    },
    log: (sentence, fields) => process.stderr.write(`${sentence} ${JSON.stringify(fields ?? {})}\n`),
    ...own,
  });
}
