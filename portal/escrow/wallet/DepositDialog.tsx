import { ActionButton } from "../../design/ActionButton.tsx";
import { formatTime } from "../../design/format.ts";
import { Notice } from "../../design/Notice.tsx";
import { depositWords } from "../actWords.ts";
import { DeadlineClock } from "../DeadlineClock.tsx";
import { TermsList } from "../TermsCard.tsx";
import { decimalOf } from "../usdc.ts";
import { formatWei } from "./prepareAct.ts";
import type { DepositReady } from "./prepareDeposit.ts";
import { Sheet } from "./Sheet.tsx";
import { type DepositParameters, type DepositStep, useDeposit } from "./useDeposit.ts";
import { WalletFault } from "./WalletFault.tsx";
import { Words } from "./Words.tsx";

type Props = DepositParameters & { onClose: () => void };

const WORDS: { [step in Exclude<DepositStep["step"], "failed" | "ready">]: string } = {
  reading: "Reading the contract and your balance through the wallet…",
  signing:
    "Step 1 of 2: sign the payment in the wallet. It is good for this escrow alone, and for an hour at most.",
  trying: "Trying the deposit on the chain, without sending anything…",
  sending: "Step 2 of 2: send the deposit. The wallet shows a call of the escrow contract.",
  allowing: "Read what the wallet shows: an approval for the escrow contract. Decide there.",
  waiting: "Sent. Once this transaction counts as done, the next step follows here.",
};

/** The dialogue of a deposit. It explains the terms before it asks the wallet to sign and to send. */
export function DepositDialog({ onClose, ...parameters }: Props) {
  const { terms } = parameters;
  const { step, send, again, payByAllowance } = useDeposit(parameters);
  const isBusy = step.step !== "reading" && step.step !== "failed" && step.step !== "ready";
  const deadline = Number(terms.hire.deadline);
  const amount = decimalOf(terms.hire.amount);
  return (
    <Sheet title="Read before you sign" onClose={onClose}>
      <div class="stack words">
        {depositWords(terms, formatTime(deadline)).map((line) => (
          <p key={line}>
            <Words text={line} />
          </p>
        ))}
      </div>
      <TermsList terms={terms} isWhole />
      <DeadlineClock deadline={deadline} from={null} ahead={0} isHeld={false} />
      {step.step === "failed" ? (
        <WalletFault error={step.error}>
          <div class="row">
            <button type="button" class="button" onClick={again}>
              Try again
            </button>
            {step.isOfSignature && (
              <button type="button" class="button" onClick={payByAllowance}>
                Pay by allowance instead
              </button>
            )}
          </div>
        </WalletFault>
      ) : step.step === "ready" ? (
        <Ready ready={step.ready} amount={amount} />
      ) : (
        <p class="soft small" role="status">
          {WORDS[step.step]}
        </p>
      )}
      <div class="row end">
        <button type="button" class="button plain" onClick={onClose}>
          {isBusy ? "Close" : "Cancel"}
        </button>
        <ActionButton kind="main" isOff={step.step !== "ready"} onPress={send}>
          {step.step === "waiting"
            ? "Waiting for the chain…"
            : isBusy
              ? "Waiting for the wallet…"
              : step.step === "ready"
                ? buttonOf(step.ready, amount)
                : "Sign and send"}
        </ActionButton>
      </div>
    </Sheet>
  );
}

function buttonOf({ way }: DepositReady, amount: string): string {
  if (way.by === "signature") return "Sign and send";
  return { clear: "Clear the old allowance", allow: `Allow ${amount} USDC`, deposit: "Deposit" }[way.next];
}

function Ready({ ready: { way, notes }, amount }: { ready: DepositReady; amount: string }) {
  return (
    <div class="stack">
      {notes.map((note) => (
        <Notice key={note} kind="warn" title={note} />
      ))}
      {way.by === "allowance" && way.next !== "deposit" && (
        <p>
          It is paid by allowance, in two transactions. The first lets the contract take exactly {amount}{" "}
          USDC, and only for a deposit of your own. The second is the deposit.
          {way.next === "clear" &&
            " This token changes an allowance only after the old one was cleared, so one more transaction comes before these."}
        </p>
      )}
      <p class="soft small" role="status">
        {way.by === "signature"
          ? "The wallet asks you twice: to sign the payment, and to send it."
          : `Tried on the chain just now: it works. Gas costs about ${formatWei(way.fee)} ETH. The wallet shows the most.`}
      </p>
    </div>
  );
}
