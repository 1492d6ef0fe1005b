import { ZERO_ADDRESS } from "tallystick-protocol/address";
import type { LoggedText } from "tallystick-protocol/erc8004/loggedText";
import type { ApplyContext } from "../applyContext.ts";
import type {
  IdentityMetadataSet,
  IdentityRegistered,
  IdentityTransferred,
  IdentityUriUpdated,
} from "../events.ts";
import type { Row } from "../tables.ts";
import { isRead } from "./source.ts";

/**
 * The key under which the identity registry stores an identity's wallet. It can only be set with the wallet's
 * signature.
 */
const AGENT_WALLET = "agentWallet";

/** An identity is minted, or goes to another owner. It then has no wallet until one agrees again. */
export async function identityTransferred(context: ApplyContext, event: IdentityTransferred): Promise<void> {
  if (!(await isRead(context, event.registry, "identity"))) return;
  const { identity: id, from, to, tx } = event;
  const known = await context.store.get("identity", id);
  if (known === null) {
    // An identity that was minted before the log begins is ignored: its earlier owners and wallets are
    // unknown.
    if (from === ZERO_ADDRESS) await insertIdentity(context, event);
    return;
  }
  await noteParty(context, id, to);
  await leaveWallet(context, known);
  await context.store.update("identity", id, {
    owner: to,
    transfers: known.transfers + 1,
    movedAtOnce: known.movedAtOnce || known.registeredTx === tx,
  });
}

/**
 * The event of the registration itself. It comes after the mint, and after everything that the owner's
 * contract did in its callback for the mint.
 */
export async function identityRegistered(context: ApplyContext, event: IdentityRegistered): Promise<void> {
  await changeUri(context, event);
}

export async function identityUriUpdated(context: ApplyContext, event: IdentityUriUpdated): Promise<void> {
  await changeUri(context, event);
}

/** Of all metadata only the wallet counts here. The wallet has no event of its own. */
export async function identityMetadataSet(context: ApplyContext, event: IdentityMetadataSet): Promise<void> {
  if (event.key !== AGENT_WALLET || !(await isRead(context, event.registry, "identity"))) return;
  const known = await context.store.get("identity", event.identity);
  if (known === null) return;
  const wallet = walletIn(event.value);
  // The registration logs the first wallet even if the token moved in the same transaction, which cleared the
  // wallet.
  const isStale = known.movedAtOnce && known.registeredTx === event.tx;
  if (wallet === known.wallet || (wallet !== null && isStale)) return;
  await leaveWallet(context, known);
  if (wallet !== null) await takeWallet(context, known, wallet);
}

/** The columns of a row that store the URI of a registry's event. */
export function uriColumns(uri: LoggedText): Pick<Row<"identity">, "uri" | "uriBytes" | "uriHash"> {
  if (typeof uri !== "string") return { uri: uri.text, uriBytes: uri.bytes, uriHash: uri.hash };
  return { uri, uriBytes: new TextEncoder().encode(uri).length, uriHash: null };
}

/** Whether an address ever owned an identity or was its wallet. */
export async function wasParty({ store }: ApplyContext, identity: string, address: string): Promise<boolean> {
  return (await store.get("identityParty", `${identity}/${address}`)) !== null;
}

/** Adds to a count in the link that an identity has now, or that it had when a feedback was given. */
export async function countInLink(
  { store }: ApplyContext,
  link: string | null,
  by: Partial<Pick<Row<"identityLink">, "feedback" | "backed" | "self" | "revoked">>,
): Promise<void> {
  const row = link === null ? null : await store.get("identityLink", link);
  if (row === null) return;
  const { feedback = 0, backed = 0, self = 0, revoked = 0 } = by;
  await store.update("identityLink", row.id, {
    feedback: row.feedback + feedback,
    backed: row.backed + backed,
    self: row.self + self,
    revoked: row.revoked + revoked,
  });
}

async function insertIdentity(context: ApplyContext, event: IdentityTransferred): Promise<void> {
  const { identity: id, to: owner, block, time, log, tx } = event;
  await context.store.insert("identity", {
    id,
    owner,
    wallet: null,
    links: 0,
    ...uriColumns(""),
    registeredBlock: block,
    registeredTime: time,
    registeredLog: log,
    registeredTx: tx,
    movedAtOnce: false,
    transfers: 0,
  });
  await noteParty(context, id, owner);
}

async function changeUri(
  context: ApplyContext,
  { registry, identity, uri }: IdentityRegistered | IdentityUriUpdated,
): Promise<void> {
  if (!(await isRead(context, registry, "identity"))) return;
  if ((await context.store.get("identity", identity)) === null) return;
  await context.store.update("identity", identity, uriColumns(uri));
}

/** Reads a wallet: twenty bytes that are not all zero. Null for anything else. */
function walletIn(value: IdentityMetadataSet["value"]): string | null {
  const isAddress = typeof value === "string" && value.length === ZERO_ADDRESS.length;
  return isAddress && value !== ZERO_ADDRESS ? value : null;
}

async function takeWallet(context: ApplyContext, { id }: Row<"identity">, wallet: string): Promise<void> {
  const { block, time, log } = context.at;
  const links = ((await context.store.get("identity", id))?.links ?? 0) + 1;
  await context.store.insert("identityLink", {
    id: `${id}/${links}`,
    identity: id,
    wallet,
    fromBlock: block,
    fromTime: time,
    fromLog: log ?? 0,
    untilBlock: null,
    untilTime: null,
    untilLog: null,
    feedback: 0,
    backed: 0,
    self: 0,
    revoked: 0,
  });
  await context.store.update("identity", id, { wallet, links });
  await noteParty(context, id, wallet);
}

async function leaveWallet(context: ApplyContext, { id, wallet, links }: Row<"identity">): Promise<void> {
  if (wallet === null) return;
  const { block, time, log } = context.at;
  const until = { untilBlock: block, untilTime: time, untilLog: log ?? 0 };
  await context.store.update("identityLink", `${id}/${links}`, until);
  await context.store.update("identity", id, { wallet: null });
}

async function noteParty({ store }: ApplyContext, identity: string, address: string): Promise<void> {
  const id = `${identity}/${address}`;
  if ((await store.get("identityParty", id)) === null) await store.insert("identityParty", { id });
}
