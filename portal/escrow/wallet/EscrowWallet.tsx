import { useEffect, useState } from "preact/hooks";
import { Icon } from "../../design/Icon.tsx";
import { ActRows } from "../ActRows.tsx";
import { type Act, actsOf, closedBy, type EscrowState } from "../acts.ts";
import type { EscrowTerms } from "../termsOf.ts";
import { ActDialog } from "./ActDialog.tsx";
import type { Pending } from "./pendingStore.ts";
import { type Ground, readStanding } from "./readGround.ts";
import { Transactions } from "./Transactions.tsx";
import { useTransactions } from "./useTransactions.ts";
import { type Connected, useWallet } from "./useWallet.ts";
import { WalletFault } from "./WalletFault.tsx";
import { WalletGate } from "./WalletGate.tsx";
import { asWalletError, type WalletError } from "./walletError.ts";

/** The interval for reading the escrow's state from the chain, in milliseconds. */
const EVERY_MS = 4_000;

export type EscrowWalletProps = {
  ground: Ground;
  terms: EscrowTerms;
  /** Called with the escrow's state on the chain, read through the wallet. */
  onStanding: (standing: EscrowState) => void;
};

/** Shows what the reader's own wallet can do with an escrow. */
export function EscrowWallet({ ground, terms, onStanding }: EscrowWalletProps) {
  const wallet = useWallet();
  const transactions = useTransactions(wallet.connected?.chain ?? null, terms.id);
  return (
    <div class="stack gap">
      <Transactions transactions={transactions} />
      <WalletGate wallet={wallet} ground={ground}>
        {(connected) => (
          <Acts
            connected={connected}
            ground={ground}
            terms={terms}
            onStanding={onStanding}
            changes={wallet.changes + transactions.finished}
            pending={transactions.pending}
            onSent={transactions.add}
            onUnsure={transactions.readStored}
          />
        )}
      </WalletGate>
    </div>
  );
}

function Acts(
  props: EscrowWalletProps & {
    connected: Connected;
    changes: number;
    /** The title of a transaction for this escrow that has not ended; null if there is none. */
    pending: string | null;
    onSent: (pending: Pending) => void;
    /** Called after each failed sending. The wallet may have sent the transaction all the same. */
    onUnsure: () => void;
  },
) {
  const { connected, ground, terms, onStanding, changes, pending, onSent, onUnsure } = props;
  const { chain, account } = connected;
  const [{ standing, readAt }, setRead] = useState<{ standing: EscrowState | null; readAt: number }>({
    standing: null,
    readAt: -1,
  });
  const [asked, setAsked] = useState<string | null>(null);
  const [error, setError] = useState<WalletError | null>(null);
  const [chosen, setChosen] = useState<Act | null>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isOver = false;
    const read = () =>
      readStanding(chain, { contract: ground.contract, id: terms.id, hire: terms.hire, account }).then(
        (it) => {
          if (isOver) return;
          setRead({ standing: it, readAt: changes });
          setError(null);
          onStanding(it);
        },
        (cause: unknown) => !isOver && setError(asWalletError(cause)),
      );
    read();
    const timer = setInterval(read, EVERY_MS);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [chain, ground.contract, terms, account, onStanding, changes, round]);

  if (standing === null) {
    if (error === null)
      return (
        <p role="status" class="soft">
          Reading the escrow through your wallet…
        </p>
      );
    return (
      <WalletFault error={error}>
        <button type="button" class="button" onClick={() => setRound((it) => it + 1)}>
          <Icon name="again" /> Look again
        </button>
      </WalletFault>
    );
  }
  const acts = actsOf(terms.hire, standing, account);
  // A transaction has just ended, or the wallet has changed. The state that was read before does not show this.
  const isOld = readAt !== changes;
  const waitsFor = pending ?? (chosen === null ? asked : null);
  return (
    <>
      {error !== null && <WalletFault error={error} />}
      <ActRows
        acts={waitsFor === null ? acts : closedBy(waitsFor, acts)}
        {...(!isOld && { onChoose: setChosen })}
      />
      {chosen !== null && (
        <ActDialog
          key={`${chosen.name} ${account}`}
          act={chosen}
          connected={connected}
          ground={ground}
          terms={terms}
          standing={standing}
          onClose={() => setChosen(null)}
          isPending={pending !== null}
          onAsking={setAsked}
          onUnsure={onUnsure}
          onSent={(pending) => {
            setChosen(null);
            onSent(pending);
          }}
        />
      )}
    </>
  );
}
