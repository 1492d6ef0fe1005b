import { useMemo, useRef, useState } from "preact/hooks";
import type { Hex } from "tallystick-protocol/hex";
import { Notice } from "../../design/Notice.tsx";
import { linkTo } from "../../router/route.ts";
import { DraftForm } from "../DraftForm.tsx";
import { type Draft, type DraftIssues, draftOfLink, hireOf } from "../draft.ts";
import { type EscrowTerms, idOf } from "../termsOf.ts";
import { DepositDialog } from "./DepositDialog.tsx";
import type { Ground } from "./readGround.ts";
import { Transactions } from "./Transactions.tsx";
import { UnansweredNotice, unansweredDeposit } from "./UnansweredNotice.tsx";
import { UnpaidNotice } from "./UnpaidNotice.tsx";
import { useTransactions } from "./useTransactions.ts";
import { type Connected, useWallet } from "./useWallet.ts";
import { WalletFault } from "./WalletFault.tsx";
import { WalletGate } from "./WalletGate.tsx";
import { asWalletError, type WalletError } from "./walletError.ts";

export type DepositWalletProps = {
  ground: Ground;
  told: { name: string | null; version: string | null };
  search: URLSearchParams;
};

/** Makes the terms of an escrow, and deposits the money from the reader's own wallet. */
export function DepositWallet({ ground, told, search }: DepositWalletProps) {
  const wallet = useWallet();
  const transactions = useTransactions(wallet.connected?.chain ?? null, null);
  const { draft: linked, isFilled } = useMemo(() => draftOfLink(search), [search]);
  const [draft, setDraft] = useState<Draft>(linked);
  const [issues, setIssues] = useState<DraftIssues>({});
  const [terms, setTerms] = useState<EscrowTerms | null>(null);
  const [error, setError] = useState<WalletError | null>(null);
  const [sent, setSent] = useState<Hex | null>(null);
  const [isAsking, setAsking] = useState(false);
  const number = useRef(newNumber());

  const review = async ({ account, chain }: Connected) => {
    setError(null);
    try {
      // The contract uses the chain's clock, so the deadline does too.
      const result = hireOf(draft, { buyer: account, now: await chain.time(), number: number.current });
      setIssues(result.issues ?? {});
      if (result.hire === null) return;
      const deployment = { chainId: ground.chainId, escrow: ground.contract };
      const id = idOf(result.hire, deployment);
      if (id !== null) setTerms({ id, hire: result.hire, deployment });
    } catch (cause) {
      setError(asWalletError(cause));
    }
  };
  return (
    <div class="stack gap">
      <Transactions transactions={transactions} />
      {sent !== null && (
        <Notice kind="info" title="Your escrow has an address of its own">
          <a href={linkTo.escrow(sent)}>Go to the escrow</a>: there you release the money, or take it back.
        </Notice>
      )}
      <WalletGate wallet={wallet} ground={ground}>
        {(connected) => {
          const unanswered = unansweredDeposit(transactions.followed, { account: connected.account, ground });
          // New terms would be a second escrow. The contract takes the same terms only once.
          const isClosed = isAsking || unanswered !== null;
          return (
            <>
              {isFilled && (
                <Notice kind="warn" title="A link filled in this form">
                  Whoever made the link chose these terms. Read each before you go on.
                </Notice>
              )}
              {isClosed ? (
                terms === null && <UnansweredNotice id={unanswered} onContinue={isAsking ? null : setTerms} />
              ) : (
                <>
                  {terms === null && sent === null && (
                    <UnpaidNotice connected={connected} ground={ground} onContinue={setTerms} />
                  )}
                  <DraftForm
                    draft={draft}
                    issues={issues}
                    onChange={setDraft}
                    onReview={() => review(connected)}
                  />
                </>
              )}
              {error !== null && <WalletFault error={error} />}
              {terms !== null && (
                <DepositDialog
                  key={`${terms.id} ${connected.account}`}
                  connected={connected}
                  ground={ground}
                  told={told}
                  terms={terms}
                  finished={transactions.finished}
                  onAllowed={transactions.add}
                  onAsking={(isAsking) => {
                    setAsking(isAsking);
                    // The wallet may have given no clear answer. Then the stored transaction stays.
                    if (!isAsking) transactions.readStored();
                  }}
                  onClose={() => setTerms(null)}
                  onSent={(pending) => {
                    setTerms(null);
                    setSent(terms.id);
                    number.current = newNumber();
                    // The contract takes these terms once. So an earlier request without an answer pays nothing more.
                    for (const { pending: it } of transactions.followed)
                      if (it.id === pending.id && it.title === pending.title && it.hash === null)
                        transactions.dismiss(it.key);
                    transactions.add(pending);
                  }}
                />
              )}
            </>
          );
        }}
      </WalletGate>
    </div>
  );
}

function newNumber(): Hex {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
