import type { ComponentChildren } from "preact";
import { plainText } from "../../design/format.ts";
import { Notice } from "../../design/Notice.tsx";
import type { WalletError } from "./walletError.ts";

/** Shows an error of a wallet, or of the chain behind it, and what the reader can do. */
export function WalletFault({ error, children }: { error: WalletError; children?: ComponentChildren }) {
  const kind = error.code === "rejected" ? "info" : "bad";
  return (
    <Notice kind={kind} title={plainText(error.message, 400)} isLive>
      <div class="stack">
        {error.hint !== "" && <p>{error.hint}</p>}
        {children}
      </div>
    </Notice>
  );
}
