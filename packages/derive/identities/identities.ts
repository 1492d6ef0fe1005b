import { ZERO_ADDRESS } from "tallystick-protocol/address";
import type { LoggedText } from "tallystick-protocol/erc8004/loggedText";
import type { ApplyContext } from "../applyContext.ts";
import type {
  IdentityMetadataSet,
  IdentityRegistered,
  IdentityTransferred,
  IdentityUriUpdated,
} from "../events.ts";
import { existingRow } from "../existingRow.ts";
import type { Row } from "../tables.ts";
import { isRead } from "./source.ts";

/**
 * The key under which the identity registry stores an identity's wallet. It can only be set with the wallet's
 * signature.
 */
const AGENT_WALLET = "agentWallet";

/** Called when an identity is minted, or goes to another owner. It then has no wallet until a wallet agrees. */
export function identityTransferred(context: ApplyContext, event: IdentityTransferred): void {
  if (!isRead(context, event.registry, "identity")) return;
  const { identity: id, from, to, tx } = event;
  const known = context.store.get("identity", id);
  if (known === null) {
    // An identity that was minted before the log begins is ignored: its earlier owners and wallets are
    // unknown.
    if (from === ZERO_ADDRESS) insertIdentity(context, event);
    return;
  }
  noteParty(context, id, to);
  leaveWallet(context, known);
  context.store.update("identity", id, {
    owner: to,
    transfers: known.transfers + 1,
    movedAtOnce: known.movedAtOnce || known.registeredTx === tx,
  });
}

/**
 * Applies the event of the registration itself. It comes after the mint, and after everything that the
 * owner's contract did in the mint's callback.
 */
export function identityRegistered(context: ApplyContext, event: IdentityRegistered): void {
  changeUri(context, event);
}

export function identityUriUpdated(context: ApplyContext, event: IdentityUriUpdated): void {
  changeUri(context, event);
}

/** Applies a change of metadata. Only the wallet counts here: the registry has no other event for it. */
export function identityMetadataSet(context: ApplyContext, event: IdentityMetadataSet): void {
  if (event.key !== AGENT_WALLET || !isRead(context, event.registry, "identity")) return;
  const known = context.store.get("identity", event.identity);
  if (known === null) return;
  const wallet = walletIn(event.value);
  // A transaction may register an identity and move its token at once. The move clears the wallet, but the
  // registration still logs the first wallet.
  const isStale = known.movedAtOnce && known.registeredTx === event.tx;
  if (wallet === known.wallet || (wallet !== null && isStale)) return;
  leaveWallet(context, known);
  if (wallet !== null) takeWallet(context, known, wallet);
}

/** The columns of a row that store the URI of a registry's event. */
export function uriColumns(uri: LoggedText): Pick<Row<"identity">, "uri" | "uriBytes" | "uriHash"> {
  if (typeof uri !== "string") return { uri: uri.text, uriBytes: uri.bytes, uriHash: uri.hash };
  return { uri, uriBytes: new TextEncoder().encode(uri).length, uriHash: null };
}

/** Whether an address ever owned an identity or was its wallet. */
export function wasParty({ store }: ApplyContext, identity: string, address: string): boolean {
  return store.get("identityParty", `${identity}/${address}`) !== null;
}

/** Adds to a count in the link that an identity has now, or that it had when a feedback was given. */
export function countInLink(
  { store }: ApplyContext,
  link: string | null,
  by: Partial<Pick<Row<"identityLink">, "feedback" | "backed" | "self" | "revoked">>,
): void {
  if (link === null) return;
  const row = existingRow(store, "identityLink", link);
  const { feedback = 0, backed = 0, self = 0, revoked = 0 } = by;
  store.update("identityLink", row.id, {
    feedback: row.feedback + feedback,
    backed: row.backed + backed,
    self: row.self + self,
    revoked: row.revoked + revoked,
  });
}

function insertIdentity(context: ApplyContext, event: IdentityTransferred): void {
  const { identity: id, to: owner, block, time, log, tx } = event;
  context.store.insert("identity", {
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
  noteParty(context, id, owner);
}

function changeUri(
  context: ApplyContext,
  { registry, identity, uri }: IdentityRegistered | IdentityUriUpdated,
): void {
  if (!isRead(context, registry, "identity")) return;
  if (context.store.get("identity", identity) === null) return;
  context.store.update("identity", identity, uriColumns(uri));
}

/** Reads a wallet: twenty bytes that are not all zero. Null for anything else. */
function walletIn(value: IdentityMetadataSet["value"]): string | null {
  const isAddress = typeof value === "string" && value.length === ZERO_ADDRESS.length;
  return isAddress && value !== ZERO_ADDRESS ? value : null;
}

function takeWallet(context: ApplyContext, { id }: Row<"identity">, wallet: string): void {
  const { block, time, log } = context.at;
  const links = existingRow(context.store, "identity", id).links + 1;
  context.store.insert("identityLink", {
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
  context.store.update("identity", id, { wallet, links });
  noteParty(context, id, wallet);
}

function leaveWallet(context: ApplyContext, { id, wallet, links }: Row<"identity">): void {
  if (wallet === null) return;
  const { block, time, log } = context.at;
  const until = { untilBlock: block, untilTime: time, untilLog: log ?? 0 };
  context.store.update("identityLink", `${id}/${links}`, until);
  context.store.update("identity", id, { wallet: null });
}

function noteParty({ store }: ApplyContext, identity: string, address: string): void {
  store.put("identityParty", { id: `${identity}/${address}` });
}
