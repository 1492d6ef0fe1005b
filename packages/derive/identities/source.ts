import type { ApplyContext } from "../applyContext.ts";
import type { LogRegistries, RegistryUpgraded } from "../events.ts";
import type { Row } from "../tables.ts";

const ROLES = ["identity", "reputation"] as const;

/** Which of the two registries. */
export type RegistryRole = (typeof ROLES)[number];

/** The first line of a log names the registries that it is about, if it is about any. */
export async function openRegistries(
  { store }: ApplyContext,
  registries: LogRegistries | undefined,
): Promise<void> {
  if (registries === undefined) return;
  for (const id of ROLES) {
    await store.insert("registry", {
      id,
      address: registries[id],
      listed: registries.implementations.join(" "),
      implementation: null,
      status: "waiting",
      block: null,
      time: null,
      log: null,
    });
  }
}

/**
 * The proxy of a registry has another implementation. The first that is listed begins the reading. After that one that is not listed ends
 * it for good, for both registries: what its events mean, and what it did without any, nobody here knows.
 */
export async function registryUpgraded(context: ApplyContext, event: RegistryUpgraded): Promise<void> {
  const role = await roleOf(context, event.registry);
  const row = role === null ? null : await context.store.get("registry", role);
  if (row === null) return;
  const isListed = row.listed.split(" ").includes(event.implementation);
  const { block, time, log } = event;
  const place = { block, time, log };
  const status =
    row.status === "waiting" ? (isListed ? "read" : "waiting") : isListed ? row.status : "unread";
  const change = status === row.status ? {} : { status, ...place };
  await context.store.update("registry", row.id, { implementation: event.implementation, ...change });
}

/** Whether the events of a registry count: an address that the log does not name is not read. */
export async function isRead(context: ApplyContext, registry: string, role: RegistryRole): Promise<boolean> {
  const rows: (Row<"registry"> | null)[] = [];
  for (const id of ROLES) rows.push(await context.store.get("registry", id));
  const [identity, reputation] = rows;
  if (identity == null || reputation == null) return false;
  if (identity.status === "unread" || reputation.status === "unread") return false;
  const own = role === "identity" ? identity : reputation;
  return own.address === registry && own.status === "read";
}

async function roleOf({ store }: ApplyContext, address: string): Promise<RegistryRole | null> {
  for (const id of ROLES) if ((await store.get("registry", id))?.address === address) return id;
  return null;
}
