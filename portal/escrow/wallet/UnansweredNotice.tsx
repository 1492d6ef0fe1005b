import type { Hex } from "tallystick-protocol/hex";
import { Notice } from "../../design/Notice.tsx";
import { linkTo } from "../../router/route.ts";
import { keptTerms } from "../keptTerms.ts";
import type { EscrowTerms } from "../termsOf.ts";
import type { Ground } from "./readGround.ts";
import { DEPOSIT_TITLE } from "./useDeposit.ts";
import type { Followed } from "./useTransactions.ts";

/**
 * Finds a deposit that the wallet was asked for and may have sent, although it returned no transaction.
 *
 * @returns the id of its escrow; null if there is none
 */
export function unansweredDeposit(
  followed: readonly Followed[],
  { account, ground }: { account: Hex; ground: Ground },
): Hex | null {
  const found = followed.find(
    ({ pending: { title, from, to, chainId, hash } }) =>
      title === DEPOSIT_TITLE &&
      hash === null &&
      from === account &&
      to === ground.contract &&
      chainId === ground.chainId,
  );
  return found?.pending.id ?? null;
}

/**
 * Stands in place of the form of a new escrow while the wallet may still send a deposit. Another escrow could pay
 * twice for the same work.
 *
 * @param props.id the escrow of that deposit; null while the page has not stored it yet
 * @param props.onContinue continues with the same terms; null while the wallet is being asked
 */
export function UnansweredNotice(props: {
  id: Hex | null;
  onContinue: ((terms: EscrowTerms) => void) | null;
}) {
  const { id, onContinue } = props;
  const terms = id === null ? null : keptTerms(id);
  return (
    <Notice kind="warn" title="The wallet has not answered about your deposit">
      <div class="stack">
        <p>
          The wallet may still send it. A new escrow now could pay twice. Look into the wallet, and at{" "}
          {id === null ? "the escrow" : <a href={linkTo.escrow(id)}>the escrow</a>}. If nothing was sent,
          continue with the same terms: the contract takes these terms only once.
          {id !== null && " Or choose “Forget it” above."}
        </p>
        {onContinue !== null && terms !== null && (
          <div class="row">
            <button type="button" class="button main" onClick={() => onContinue(terms)}>
              Continue with the same terms
            </button>
          </div>
        )}
      </div>
    </Notice>
  );
}
