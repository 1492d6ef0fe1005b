import { Hash } from "../design/Address.tsx";
import { Icon } from "../design/Icon.tsx";
import { askLine } from "../verify/askLine.ts";
import { Running } from "../verify/Running.tsx";
import { useVerification } from "../verify/useVerification.ts";
import { verifyInWorker } from "../verify/verifyInWorker.ts";
import type { Hire, HireEntry } from "./hireQuery.ts";

/** The seller's receipt as it stands in the ledger; its signature and its place there are checked here. */
export function ReceiptCard({ receipt }: { receipt: NonNullable<Hire["receipt"]> }) {
  const { entry, hash } = receipt;
  return (
    <section class="card" aria-labelledby="receipt">
      <div class="head">
        <h2 id="receipt">The receipt</h2>
        <Hash hash={hash} what="the hash of its entry" />
      </div>
      {entry === null ? <p class="soft">The node does not have its entry.</p> : <EntryCheck entry={entry} />}
    </section>
  );
}

function EntryCheck({ entry }: { entry: HireEntry }) {
  const { verification, run, stop } = useVerification();
  const verify = () =>
    run(async ({ signal, say }) => {
      say("Fetching the line of the ledger");
      const line = await askLine(entry.ledger, entry.seq, signal);
      return await verifyInWorker({ kind: "entry", entry, line }, { signal, onProgress: () => {} });
    });
  return (
    <>
      <p class="soft">
        Entry {entry.seq.toLocaleString("en")} of the ledger{" "}
        <Hash hash={entry.ledger} what="the ledger's id" />
      </p>
      <p>
        <button
          type="button"
          class="button main"
          onClick={verify}
          disabled={verification.state === "running"}
        >
          <Icon name="shield" /> Check it here
        </button>
      </p>
      <Running verification={verification} stop={stop} />
      {entry.record !== null && (
        <details>
          <summary>What the seller signed</summary>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys (WCAG 2.1.1). */}
          <pre tabIndex={0}>{JSON.stringify(entry.record.body, null, 2)}</pre>
        </details>
      )}
    </>
  );
}
