import type { ApplyContext } from "../applyContext.ts";
import type { LogRegistries, RegistryUpgraded } from "../events.ts";

const ROLES = ["identity", "reputation"] as const;

/** One of the two registries. */
export type RegistryRole = (typeof ROLES)[number];

/** Opens the registries that the first line of a log names, if it names any. */
export function openRegistries({ store }: ApplyContext, registries: LogRegistries | undefined): void {
  if (registries === undefined) return;
  for (const id of ROLES) {
    store.insert("registry", {
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
 * Called when the proxy of a registry has a new implementation. Reading begins with the first listed implementation. If
 * a later implementation is not listed, the reading of both registries ends permanently: nobody knows what its events
 * mean, or what it changes without an event.
 */
export function registryUpgraded(context: ApplyContext, event: RegistryUpgraded): void {
  const role = roleOf(context, event.registry);
  const row = role === null ? null : context.store.get("registry", role);
  if (row === null) return;
  const isListed = row.listed.split(" ").includes(event.implementation);
  const { block, time, log } = event;
  const place = { block, time, log };
  const status =
    row.status === "waiting" ? (isListed ? "read" : "waiting") : isListed ? row.status : "unread";
  const change = status === row.status ? {} : { status, ...place };
  context.store.update("registry", row.id, { implementation: event.implementation, ...change });
}

/** Whether the events of a registry count. A registry that the log does not name never counts. */
export function isRead(context: ApplyContext, registry: string, role: RegistryRole): boolean {
  const identity = context.store.get("registry", "identity");
  const reputation = context.store.get("registry", "reputation");
  if (identity === null || reputation === null) return false;
  if (identity.status === "unread" || reputation.status === "unread") return false;
  const own = { identity, reputation }[role];
  return own.address === registry && own.status === "read";
}

function roleOf({ store }: ApplyContext, address: string): RegistryRole | null {
  for (const id of ROLES) if (store.get("registry", id)?.address === address) return id;
  return null;
}
