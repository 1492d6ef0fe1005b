import { useEffect, useRef, useState } from "preact/hooks";
import { keepTerms } from "../keptTerms.ts";
import type { EscrowTerms } from "../termsOf.ts";
import type { Pending } from "./pendingStore.ts";
import { type DepositReady, depositCall, prepareDeposit, signDeposit } from "./prepareDeposit.ts";
import type { Ground } from "./readGround.ts";
import { requireAccount, sendCall } from "./sendCall.ts";
import { forgetUnpaid, keepUnpaid } from "./unpaidStore.ts";
import type { Connected } from "./useWallet.ts";
import { asWalletError, type WalletError } from "./walletError.ts";

/** The title of the transaction that deposits the money. */
export const DEPOSIT_TITLE = "Deposit into the escrow";

/** The state of a deposit. `isOfSignature`: a payment by signature failed, and an allowance may work. */
export type DepositStep =
  | { step: "reading" | "signing" | "trying" | "sending" | "allowing" | "waiting" }
  | { step: "failed"; error: WalletError; isOfSignature: boolean }
  | { step: "ready"; ready: DepositReady };

export type DepositParameters = {
  connected: Connected;
  ground: Ground;
  told: { name: string | null; version: string | null };
  terms: EscrowTerms;
  /** The number of the reader's transactions that have ended. */
  finished: number;
  /** Called with the transaction of an allowance, which comes before the deposit. */
  onAllowed: (pending: Pending) => void;
  /** Called with `true` before the wallet is asked for the deposit, and with `false` when that request has ended. */
  onAsking: (isAsking: boolean) => void;
  /** Called with the transaction of the deposit. */
  onSent: (pending: Pending) => void;
};

/**
 * Checks everything for a deposit, then signs, simulates and sends it. A deposit by allowance needs up to two more
 * transactions first. After each of them, everything is checked again, and the reader decides about the next one.
 * Closing the dialogue stops the deposit before the next request to the wallet.
 */
export function useDeposit({
  connected,
  ground,
  told,
  terms,
  finished,
  onAllowed,
  onAsking,
  onSent,
}: DepositParameters) {
  const { chain, account, wallet } = connected;
  const [step, setStep] = useState<DepositStep>({ step: "reading" });
  const [round, setRound] = useState(0);
  const [isByAllowance, setByAllowance] = useState(false);
  const control = useRef(new AbortController());
  const prepare = () => prepareDeposit(chain, { ground, terms, account, told, isByAllowance });
  const again = () => setRound((it) => it + 1);
  useEffect(() => () => control.current.abort(new Error("The dialogue was closed.")), []);
  useEffect(() => {
    let isLate = false;
    setStep({ step: "reading" });
    prepare().then(
      (ready) => !isLate && setStep({ step: "ready", ready }),
      (cause: unknown) =>
        !isLate && setStep({ step: "failed", error: asWalletError(cause), isOfSignature: false }),
    );
    return () => {
      isLate = true;
    };
  }, [chain, account, round, isByAllowance]);
  useEffect(() => {
    if (step.step === "waiting") again();
  }, [finished]);

  const { signal } = control.current;
  const by = { provider: wallet.provider, chain, signal };
  const sendDeposit = async (call: Parameters<typeof sendCall>[1]["call"]) => {
    setStep({ step: "sending" });
    keepTerms(terms);
    const asked = { call, title: DEPOSIT_TITLE, id: terms.id, chainId: ground.chainId };
    onAsking(true);
    try {
      const pending = await sendCall(by, asked);
      forgetUnpaid(terms.id);
      onSent(pending);
    } finally {
      onAsking(false);
    }
  };
  const goOn = async (shown: DepositReady["way"]): Promise<void> => {
    setStep({ step: "reading" });
    // The dialogue may have been open for a long time, so everything is checked again.
    const ready = await prepare();
    const { way } = ready;
    if (way.by === "signature") {
      // A wallet may have changed its account without an event.
      await requireAccount(wallet.provider, account, signal);
      setStep({ step: "signing" });
      const signature = await signDeposit(wallet.provider, way, signal);
      setStep({ step: "trying" });
      return await sendDeposit((await depositCall(chain, { terms, way, signature })).call);
    }
    // This is not the transaction that the reader agreed to. So the dialogue shows it, and the reader decides again.
    if (shown.by !== "allowance" || shown.next !== way.next) return setStep({ step: "ready", ready });
    if (way.next === "deposit") return await sendDeposit(way.call);
    setStep({ step: "allowing" });
    const title = way.next === "clear" ? "Clear the old allowance" : "Allow the escrow to take the amount";
    const asked = { call: way.call, title, id: terms.id, chainId: ground.chainId };
    keepTerms(terms);
    keepUnpaid(terms.id);
    onAllowed(await sendCall(by, asked));
    setStep({ step: "waiting" });
  };
  const send = async () => {
    if (step.step !== "ready") return;
    const { way } = step.ready;
    try {
      await goOn(way);
    } catch (cause) {
      if (control.current.signal.aborted) return;
      const error = asWalletError(cause);
      const mayBeOther = error.code === "refused" || error.code === "unsupported";
      setStep({ step: "failed", error, isOfSignature: way.by === "signature" && mayBeOther });
    }
  };
  return { step, send, again, payByAllowance: () => setByAllowance(true) };
}
