import { useEffect, useRef, useState } from "preact/hooks";
import { ActionButton } from "../../design/ActionButton.tsx";
import { Notice } from "../../design/Notice.tsx";
import type { Act, EscrowState } from "../acts.ts";
import { actWords } from "../actWords.ts";
import { DeadlineClock } from "../DeadlineClock.tsx";
import type { EscrowTerms } from "../termsOf.ts";
import { ActField, beginningOf, readField } from "./ActField.tsx";
import type { Pending } from "./pendingStore.ts";
import { formatWei, type Prepared, prepareAct, type Wish } from "./prepareAct.ts";
import type { Ground } from "./readGround.ts";
import { Sheet } from "./Sheet.tsx";
import { sendCall } from "./sendCall.ts";
import type { Connected } from "./useWallet.ts";
import { WalletFault } from "./WalletFault.tsx";
import { Words } from "./Words.tsx";
import { asWalletError, type WalletError } from "./walletError.ts";

type Step =
  | { step: "reading" }
  | { step: "failed"; error: WalletError }
  | { step: "ready"; prepared: Prepared }
  | { step: "asking" };

type Props = {
  act: Act;
  connected: Connected;
  ground: Ground;
  terms: EscrowTerms;
  standing: EscrowState;
  /** Whether another transaction for this escrow has not ended: then nothing can be sent. */
  isPending: boolean;
  onClose: () => void;
  /** Called with the action's title when the wallet is asked, and with null after its answer. */
  onAsking: (title: string | null) => void;
  /** Called after each failed sending. The wallet may have sent the transaction all the same. */
  onUnsure: () => void;
  onSent: (pending: Pending) => void;
};

/**
 * The dialogue of one action. It explains the action, and simulates it on the chain before it asks the
 * wallet.
 */
export function ActDialog(props: Props) {
  const { act, connected, ground, terms, standing, isPending, onClose } = props;
  const { hire } = terms;
  const [text, setText] = useState(() => beginningOf(act.name, hire));
  const written = readField(act.name, text, hire);
  const isBad = written === null;
  const owed = standing.credits.find(({ amount }) => amount > 0n);
  const wish: Wish = {
    name: act.name,
    ...written,
    ...(act.name === "withdraw" && owed !== undefined && { account: owed.account as `0x${string}` }),
  };
  const { step, send, again } = useAct({
    act,
    connected,
    ground,
    terms,
    wish: isBad ? null : wish,
    onAsking: props.onAsking,
    onUnsure: props.onUnsure,
    onSent: props.onSent,
  });
  const isAsking = step.step === "asking";
  return (
    <Sheet title={act.title} onClose={onClose}>
      <ActField
        name={act.name}
        hire={hire}
        text={text}
        isBad={isBad}
        isDisabled={isAsking}
        onInput={setText}
      />
      {!isBad && (
        <div class="stack words">
          {actWords(terms, {
            name: act.name,
            ...(written.toSeller !== undefined && { toSeller: written.toSeller }),
            ...(owed !== undefined && { account: owed.account, owed: owed.amount }),
          }).map((line) => (
            <p key={line}>
              <Words text={line} />
            </p>
          ))}
        </div>
      )}
      {standing.status === "held" && act.name !== "withdraw" && (
        <DeadlineClock
          deadline={Number(hire.deadline)}
          from={null}
          ahead={standing.time - Math.floor(Date.now() / 1_000)}
          isHeld
        />
      )}
      {!isBad && <StepWords step={step} again={isPending ? null : again} />}
      <div class="row end">
        <button type="button" class="button plain" onClick={onClose}>
          {isAsking ? "Close" : "Cancel"}
        </button>
        <ActionButton kind="main" isOff={step.step !== "ready" || isBad || isPending} onPress={send}>
          {isAsking ? "Waiting for the wallet…" : act.title}
        </ActionButton>
      </div>
    </Sheet>
  );
}

function StepWords({ step, again }: { step: Step; again: (() => void) | null }) {
  if (step.step === "failed")
    return (
      <WalletFault error={step.error}>
        {again !== null && (
          <button type="button" class="button" onClick={again}>
            Try again
          </button>
        )}
      </WalletFault>
    );
  if (step.step === "ready")
    return (
      <div class="stack">
        {step.prepared.notes.map((note) => (
          <Notice key={note} kind="warn" title={note} />
        ))}
        <p class="soft small" role="status">
          Tried on the chain just now: it works. Gas costs about {formatWei(step.prepared.fee)} ETH. The
          wallet shows the most.
        </p>
      </div>
    );
  return (
    <p class="soft small" role="status">
      {step.step === "reading"
        ? "Trying it on the chain, without sending anything…"
        : "Read what the wallet shows, and decide there."}
    </p>
  );
}

/** Simulates the wish whenever it changes, and sends it on request. `wish` is null while it is incomplete. */
function useAct({
  act,
  connected,
  ground,
  terms,
  wish,
  onAsking,
  onUnsure,
  onSent,
}: Omit<Props, "standing" | "isPending" | "onClose"> & { wish: Wish | null }) {
  const { chain, account, wallet } = connected;
  const [step, setStep] = useState<Step>({ step: "reading" });
  const [round, setRound] = useState(0);
  const control = useRef(new AbortController());
  const key = wish === null ? null : `${wish.toSeller ?? ""} ${wish.account ?? ""} ${wish.resultHash ?? ""}`;
  useEffect(() => {
    if (wish === null) return;
    let isLate = false;
    setStep({ step: "reading" });
    prepareAct(chain, { ground, terms, wish, account }).then(
      (prepared) => !isLate && setStep({ step: "ready", prepared }),
      (cause: unknown) => !isLate && setStep({ step: "failed", error: asWalletError(cause) }),
    );
    return () => {
      isLate = true;
    };
  }, [chain, account, key, round]);
  useEffect(() => () => control.current.abort(new Error("The dialogue was closed.")), []);
  const send = async () => {
    if (wish === null) return;
    const { signal } = control.current;
    setStep({ step: "asking" });
    onAsking(act.title);
    try {
      // The dialogue may have been open for a long time, so everything is checked again.
      const { call } = await prepareAct(chain, { ground, terms, wish, account });
      const asked = { call, title: act.title, id: terms.id, chainId: ground.chainId };
      onSent(await sendCall({ provider: wallet.provider, chain, signal }, asked));
    } catch (cause) {
      if (!signal.aborted) setStep({ step: "failed", error: asWalletError(cause) });
      onUnsure();
    } finally {
      onAsking(null);
    }
  };
  return { step, send, again: () => setRound((it) => it + 1) };
}
