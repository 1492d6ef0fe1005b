import { Hash } from "../design/Address.tsx";
import { signedText } from "../design/signedText.ts";
import { EntryCheck } from "../verify/EntryCheck.tsx";
import type { ReceiptOf } from "../verify/verifyEntry.ts";
import type { Hire } from "./hireQuery.ts";

/** Shows the seller's receipt from the ledger. The reader can check its signature and its place there. */
export function ReceiptCard(props: { receipt: NonNullable<Hire["receipt"]>; of: ReceiptOf }) {
  const { receipt, of } = props;
  const { entry, hash } = receipt;
  return (
    <section class="card" aria-labelledby="receipt">
      <div class="head">
        <h2 id="receipt">The receipt</h2>
        <Hash hash={hash} what="the hash of its entry" />
      </div>
      {entry === null ? (
        <p class="soft">The node does not have its entry.</p>
      ) : (
        <EntryCheck entry={{ ...entry, of }} isLinked />
      )}
      {entry?.record && (
        <details>
          <summary>What the seller signed</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach an element that scrolls (WCAG 2.1.1). */}
          {/* biome-ignore lint/a11y/useSemanticElements: this is not a set of fields. */}
          <pre tabIndex={0} role="group" aria-label="What the seller signed">
            {signedText(entry.record.body)}
          </pre>
        </details>
      )}
    </section>
  );
}
