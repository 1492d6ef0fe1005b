import type { ApplyContext } from "../applyContext.ts";
import { isBefore, type Place } from "../place.ts";
import { isRelevant } from "../relevant/isRelevant.ts";
import { firstSpent } from "../relevant/senders.ts";
import type { Row } from "../tables.ts";
import { findWallet } from "../wallets.ts";
import { begunWith, DEEP, familyOf, hasParent, MAX_STEPS } from "./familyOf.ts";
import { type Act, parseInflow, parseOrigin } from "./origin.ts";

/**
 * The family of a wallet as a seller, a payee or an auditor: a wallet that gets money. It is fixed at the wallet's
 * first declaration (it was registered, or agreed to be paid), by the largest inflow up to that place. So what
 * customers pay a new seller does not put it into a family of its customers. A wallet that spent before its first
 * declaration has one family for everything. Null if no family is stored, and the wallet did neither before the given
 * place.
 */
export function memberAsSeller(
  context: ApplyContext,
  wallet: string,
  before: Place,
): Row<"familyMember"> | Row<"registeredMember"> | null {
  const known = context.store.get("registeredMember", wallet);
  if (known !== null) return known;
  const row = context.store.get("declaration", wallet);
  const declared = row !== null && isBefore(row, before) ? row : null;
  const member = context.store.get("familyMember", wallet);
  if (member !== null && (declared === null || !isBefore(declared, spentAt(member)))) return member;
  if (member === null) {
    // A payment can itself register its sender. So money that was spent at the place of the declaration was spent
    // before it.
    const spent = spentBefore(
      context,
      wallet,
      declared === null ? before : { ...declared, log: declared.log + 1 },
    );
    if (spent !== null) return familyOf(context, wallet, spent);
  }
  return declared === null ? null : fixAtDeclaration(context, wallet, declared);
}

/** The stored family of a wallet as a seller, or null if it is not fixed yet. */
export function knownMember(
  { store }: ApplyContext,
  wallet: string,
): Row<"familyMember"> | Row<"registeredMember"> | null {
  return store.get("registeredMember", wallet) ?? store.get("familyMember", wallet);
}

/**
 * The account of a wallet, to see whether money came back: its family, or the wallet itself if its family is
 * unknown.
 */
export function accountOf({ id, family }: Pick<Row<"familyMember">, "id" | "family">): string {
  return family === DEEP ? id : family;
}

/** Whether a buyer's money came through a wallet: the wallet is one of those before the buyer in its family. */
export function cameThrough({ store }: ApplyContext, buyer: Row<"familyMember">, wallet: string): boolean {
  if (buyer.family === DEEP) return false;
  let next = buyer.parent;
  while (next !== null) {
    if (next === wallet) return true;
    next = store.get("familyMember", next)?.parent ?? null;
  }
  return false;
}

function fixAtDeclaration(
  context: ApplyContext,
  wallet: string,
  { block, log, time }: Row<"declaration">,
): Row<"registeredMember"> {
  const declared = { block, log, time };
  const { inflow, how } = isRelevant(context)
    ? begunWith(context, wallet, declared)
    : begunBefore(context, wallet);
  const parent = inflow !== null && hasParent(how) ? familyOf(context, inflow.from, inflow) : null;
  const depth = parent === null ? 0 : Math.min(parent.depth, MAX_STEPS) + 1;
  const row: Row<"registeredMember"> = {
    id: wallet,
    family: parent === null ? wallet : depth > MAX_STEPS ? DEEP : parent.family,
    depth,
    parent: parent?.id ?? null,
    how,
    value: inflow?.value ?? null,
    block: inflow?.block ?? null,
    log: inflow?.log ?? null,
    actedBlock: declared.block,
    actedLog: declared.log,
    actedTime: declared.time,
    ofHire: false,
  };
  context.store.insert("registeredMember", row);
  return row;
}

function begunBefore(context: ApplyContext, wallet: string) {
  const begun = findWallet(context, wallet)?.begun ?? "";
  const inflow = begun === "" ? null : parseInflow(begun);
  return { inflow, how: inflow?.how ?? ("none" as const) };
}

/**
 * Where a wallet first spent before a place. Null if it had not spent. Null also while a relevant log is made and the
 * answer is not read yet.
 */
function spentBefore(context: ApplyContext, wallet: string, before: Place): Act | null {
  const act = isRelevant(context)
    ? firstSpent(context, wallet, before)
    : parseOrigin(findWallet(context, wallet)?.origin ?? "").act;
  return act != null && isBefore(act, before) ? act : null;
}

function spentAt({ actedBlock, actedLog }: Row<"familyMember">): Place {
  return { block: actedBlock, log: actedLog };
}
