import { Hash } from "../../design/Address.tsx";
import { countOf } from "../../design/countOf.ts";
import { plainText, shortHash } from "../../design/format.ts";
import { Icon, type IconName } from "../../design/Icon.tsx";
import { isFinal, type Progress } from "./followTransaction.ts";
import { chainName } from "./knownChains.ts";
import { MAX_CONFIRMATIONS, type TransactionsState } from "./useTransactions.ts";

/** Lists the pending transactions with their states. */
export function Transactions({ transactions }: { transactions: TransactionsState }) {
  const { followed, isFollowing, confirmations, setConfirmations, dismiss } = transactions;
  if (followed.length === 0) return null;
  return (
    <div class="stack">
      <ul class="plain stack">
        {followed.map(({ pending, progress }) => {
          const { kind, icon, text } = wordsOf(progress, confirmations, pending.chainId);
          return (
            <li key={pending.key} class={`notice ${kind}`}>
              <Icon name={icon} size={18} />
              <div class="stack tight">
                <strong>{plainText(pending.title, 80)}</strong>
                <span role="status">{isFollowing ? text : "Connect your wallet to see its state."}</span>
                <span class="row small soft">
                  {pending.hash !== null && <Hash hash={pending.hash} what="the transaction" />}
                  {(isFinal(progress) || progress.state === "asked" || progress.state === "unseen") && (
                    <button type="button" class="button plain small" onClick={() => dismiss(pending.key)}>
                      {isFinal(progress) ? "Close" : "Forget it"}
                    </button>
                  )}
                </span>
              </div>
            </li>
          );
        })}
      </ul>
      <label class="row small soft">
        Blocks until it counts as done
        <input
          type="number"
          class="count"
          min={1}
          max={MAX_CONFIRMATIONS}
          value={confirmations}
          onChange={(event) => setConfirmations(event.currentTarget.valueAsNumber)}
        />
      </label>
    </div>
  );
}

type Words = { kind: "info" | "good" | "bad" | "warn"; icon: IconName; text: string };

function wordsOf(progress: Progress, confirmations: number, chainId: number): Words {
  const info = (text: string): Words => ({ kind: "info", icon: "again", text });
  const warn = (text: string): Words => ({ kind: "warn", icon: "warn", text });
  switch (progress.state) {
    case "asked":
      return warn(
        "The wallet was asked for it, and this page has no answer. Look into the wallet: the transaction may have been sent.",
      );
    case "unseen":
      return info("Sent. The chain does not show it yet.");
    case "waiting":
      return info("Sent. It waits for a block.");
    case "elsewhere":
      return warn(
        `The wallet is on another chain now. Switch it to ${chainName(chainId)} to see the state of this transaction.`,
      );
    case "unsure":
      return warn(`Its state cannot be read now: ${plainText(progress.reason, 200)}`);
    case "confirming":
      return info(
        `In block ${progress.block.toLocaleString("en")}: ${progress.confirmations} of ${countOf(confirmations, "block")}.`,
      );
    case "done":
      return { kind: "good", icon: "done", text: `Done, in block ${progress.block.toLocaleString("en")}.` };
    case "reverted":
      return {
        kind: "bad",
        icon: "cross",
        text: `The contract refused it in block ${progress.block.toLocaleString("en")}. Only its gas was spent. The escrow may have changed before this transaction came.`,
      };
    case "replaced":
      return replacedWords(progress);
  }
}

function replacedWords({ by, as }: Progress & { state: "replaced" }): Words {
  const other = by === null ? "another transaction" : shortHash(by);
  if (as === "same")
    return {
      kind: "info",
      icon: "again",
      text: `You sent it again at another price. This page now follows ${other}.`,
    };
  const text = {
    cancelled: `You cancelled it: ${other} took its place and does nothing.`,
    other: `${other} took its place: another transaction of your account, which does something else. Nothing of this transaction was done.`,
    unknown: "Another transaction of your account took its place. The escrow shows what was done.",
  }[as];
  return { kind: "warn", icon: "warn", text };
}
