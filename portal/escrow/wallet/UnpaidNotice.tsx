import { useState } from "preact/hooks";
import { formatAmount } from "../../design/format.ts";
import { Notice } from "../../design/Notice.tsx";
import { keptTerms } from "../keptTerms.ts";
import type { EscrowTerms } from "../termsOf.ts";
import { decimalOf } from "../usdc.ts";
import type { Ground } from "./readGround.ts";
import { forgetUnpaid, unpaidOne } from "./unpaidStore.ts";
import type { Connected } from "./useWallet.ts";

/**
 * Offers to continue a deposit by allowance that was interrupted between its two transactions, for example by a reload.
 */
export function UnpaidNotice(props: {
  connected: Connected;
  ground: Ground;
  onContinue: (terms: EscrowTerms) => void;
}) {
  const { connected, ground, onContinue } = props;
  const [id, setId] = useState(unpaidOne);
  const terms = id === null ? null : keptTerms(id);
  if (id === null || terms === null || terms.hire.buyer !== connected.account) return null;
  const { chainId, escrow } = terms.deployment;
  if (chainId !== ground.chainId || escrow !== ground.contract) return null;
  return (
    <Notice kind="warn" title="A deposit of yours is not finished">
      <div class="stack">
        <p>
          You began to pay {formatAmount(decimalOf(terms.hire.amount))} USDC by allowance. Nothing is in the
          escrow yet. Only a deposit of yours can use the allowance.
        </p>
        <div class="row">
          <button type="button" class="button main" onClick={() => onContinue(terms)}>
            Continue this deposit
          </button>
          <button
            type="button"
            class="button"
            onClick={() => {
              forgetUnpaid(id);
              setId(null);
            }}
          >
            Forget this deposit
          </button>
        </div>
      </div>
    </Notice>
  );
}
