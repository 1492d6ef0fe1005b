import { useEffect, useRef, useState } from "preact/hooks";
import { Notice } from "../../design/Notice.tsx";
import { depositWords } from "../actWords.ts";
import { DeadlineClock } from "../DeadlineClock.tsx";
import { keepTerms } from "../keptTerms.ts";
import { TermsList } from "../TermsCard.tsx";
import type { EscrowTerms } from "../termsOf.ts";
import type { Pending } from "./pendingStore.ts";
import { type DepositReady, depositCall, prepareDeposit, signDeposit } from "./prepareDeposit.ts";
import type { Ground } from "./readGround.ts";
import { Sheet } from "./Sheet.tsx";
import { sendCall } from "./sendCall.ts";
import type { Connected } from "./useWallet.ts";
import { WalletFault } from "./WalletFault.tsx";
import { asWalletError, type WalletError } from "./walletError.ts";

type Step =
  | { step: "reading" | "signing" | "trying" | "sending" }
  | { step: "failed"; error: WalletError }
  | { step: "ready"; ready: DepositReady };

type Props = {
  connected: Connected;
  ground: Ground;
  told: { name: string | null; version: string | null };
  terms: EscrowTerms;
  onClose: () => void;
  onSent: (pending: Pending) => void;
};

const WORDS: { [step in "reading" | "signing" | "trying" | "sending"]: string } = {
  reading: "Reading the contract and your balance through the wallet…",
  signing:
    "First of two: sign the payment in the wallet. It is good for this escrow alone, and for an hour at most.",
  trying: "Trying it on the chain, without sending anything…",
  sending: "Second of two: send it. The wallet shows a call of the escrow contract.",
};

/** The dialogue of a deposit. It explains the terms before it asks the wallet to sign and to send. */
export function DepositDialog({ connected, ground, told, terms, onClose, onSent }: Props) {
  const { step, sign, again } = useDeposit({ connected, ground, told, terms, onSent });
  const isBusy = step.step === "signing" || step.step === "trying" || step.step === "sending";
  const deadline = Number(terms.hire.deadline);
  return (
    <Sheet title="Read before you sign" onClose={onClose}>
      <div class="stack words">
        {depositWords(terms, new Date(deadline * 1_000).toLocaleString()).map((line) => (
          <p key={line}>{line}</p>
        ))}
      </div>
      <TermsList terms={terms} />
      <DeadlineClock deadline={deadline} from={null} ahead={0} isHeld={false} />
      {step.step === "failed" ? (
        <WalletFault error={step.error}>
          <button type="button" class="button" onClick={again}>
            Try again
          </button>
        </WalletFault>
      ) : step.step === "ready" ? (
        <div class="stack">
          {step.ready.notes.map((note) => (
            <Notice key={note} kind="warn" title={note} />
          ))}
          <p class="soft small" role="status">
            The wallet asks you twice: to sign the payment, and to send it.
          </p>
        </div>
      ) : (
        <p class="soft small" role="status">
          {WORDS[step.step]}
        </p>
      )}
      <div class="row end">
        <button type="button" class="button plain" onClick={onClose}>
          {isBusy ? "Close" : "Cancel"}
        </button>
        <button type="button" class="button main" disabled={step.step !== "ready"} onClick={sign}>
          {isBusy ? "Waiting for the wallet…" : "Sign and send"}
        </button>
      </div>
    </Sheet>
  );
}

/**
 * Checks everything for a deposit, then signs, simulates and sends it. Closing the dialogue stops it before
 * the next request to the wallet.
 */
function useDeposit({ connected, ground, told, terms, onSent }: Omit<Props, "onClose">) {
  const { chain, account, wallet } = connected;
  const [step, setStep] = useState<Step>({ step: "reading" });
  const [round, setRound] = useState(0);
  const control = useRef(new AbortController());
  useEffect(() => () => control.current.abort(new Error("The dialogue was closed.")), []);
  useEffect(() => {
    let isLate = false;
    setStep({ step: "reading" });
    prepareDeposit(chain, { ground, terms, account, told }).then(
      (ready) => !isLate && setStep({ step: "ready", ready }),
      (cause: unknown) => !isLate && setStep({ step: "failed", error: asWalletError(cause) }),
    );
    return () => {
      isLate = true;
    };
  }, [chain, account, round]);
  const sign = async () => {
    const { signal } = control.current;
    try {
      setStep({ step: "reading" });
      // The dialogue may have been open for a long time, so everything is checked again.
      const ready = await prepareDeposit(chain, { ground, terms, account, told });
      setStep({ step: "signing" });
      const signature = await signDeposit(wallet.provider, ready, signal);
      setStep({ step: "trying" });
      const { call } = await depositCall(chain, { terms, ready, signature });
      setStep({ step: "sending" });
      keepTerms(terms);
      const asked = { call, title: "Deposit into the escrow", id: terms.id, chainId: ground.chainId };
      onSent(await sendCall({ provider: wallet.provider, chain }, asked));
    } catch (cause) {
      if (!signal.aborted) setStep({ step: "failed", error: asWalletError(cause) });
    }
  };
  return { step, sign, again: () => setRound((it) => it + 1) };
}
