import { useEffect, useState } from "preact/hooks";
import { Icon } from "../../design/Icon.tsx";
import { ActRows } from "../ActRows.tsx";
import { type Act, actsOf, type EscrowState } from "../acts.ts";
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
            onSent={transactions.add}
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
    onSent: (pending: Pending) => void;
  },
) {
  const { connected, ground, terms, onStanding, changes, onSent } = props;
  const { chain, account } = connected;
  const [standing, setStanding] = useState<EscrowState | null>(null);
  const [error, setError] = useState<WalletError | null>(null);
  const [chosen, setChosen] = useState<Act | null>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isOver = false;
    const read = () =>
      readStanding(chain, { contract: ground.contract, id: terms.id, hire: terms.hire, account }).then(
        (it) => {
          if (isOver) return;
          setStanding(it);
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
  return (
    <>
      {error !== null && <WalletFault error={error} />}
      <ActRows acts={actsOf(terms.hire, standing, account)} onChoose={setChosen} />
      {chosen !== null && (
        <ActDialog
          key={`${chosen.name} ${account}`}
          act={chosen}
          connected={connected}
          ground={ground}
          terms={terms}
          standing={standing}
          onClose={() => setChosen(null)}
          onSent={(pending) => {
            setChosen(null);
            onSent(pending);
          }}
        />
      )}
    </>
  );
}
