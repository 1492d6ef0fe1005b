import type { ApplyContext } from "../applyContext.ts";
import type { Row } from "../tables.ts";
import { DEEP } from "./familyOf.ts";

type Member = Row<"familyMember"> | Row<"registeredMember">;

/**
 * Notes the families of both sides of a counted hire, and of the wallets before them. Feedback on identities uses only
 * these. Audits, payees and money that came back store families too, and they must not decide about feedback.
 */
export function noteSides({ store }: ApplyContext, seller: Member, buyer: Row<"familyMember">): void {
  if (!seller.ofHire) {
    if (store.get("registeredMember", seller.id) === null) noteWay(store, seller);
    else {
      store.update("registeredMember", seller.id, { ofHire: true });
      noteWay(store, parentOf(store, seller));
    }
  }
  noteWay(store, buyer);
}

/** Notes a wallet and those before it, up to the first that was noted before. */
function noteWay(store: ApplyContext["store"], from: Member | null): void {
  for (let member = from; member !== null && !member.ofHire; member = parentOf(store, member))
    store.update("familyMember", member.id, { ofHire: true });
}

/** The wallet before a wallet in its family. A wallet in `deep` has none, because not all wallets before it are stored. */
function parentOf(store: ApplyContext["store"], { family, parent }: Member): Row<"familyMember"> | null {
  return family === DEEP || parent === null ? null : store.get("familyMember", parent);
}
