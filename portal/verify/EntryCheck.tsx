import { ActionButton } from "../design/ActionButton.tsx";
import { Hash } from "../design/Address.tsx";
import { Icon } from "../design/Icon.tsx";
import { linkTo } from "../router/route.ts";
import { askLine } from "./askLine.ts";
import { ChainCard } from "./ChainCard.tsx";
import { Running } from "./Running.tsx";
import { useVerification } from "./useVerification.ts";
import type { ToldEntry } from "./verifyEntry.ts";
import { verifyInWorker } from "./verifyInWorker.ts";

/**
 * Checks an entry of a ledger in the browser: its line, the signature of its record, its place in the tree,
 * and the tree's root on the chain.
 */
export function EntryCheck({
  entry,
  isLinked,
}: {
  entry: ToldEntry & { ledger: string };
  isLinked: boolean;
}) {
  const { verification, run, stop } = useVerification();
  const verify = () =>
    run(async ({ signal, say }) => {
      say("Fetching the line of the ledger");
      const line = await askLine(entry.ledger, entry.seq, signal);
      return await verifyInWorker({ kind: "entry", entry, line }, { signal, onProgress: () => {} });
    });
  const { inclusionProof } = entry;
  const isDone = verification.state === "done" && inclusionProof !== null;
  return (
    <>
      <p class="soft">
        {isLinked ? (
          <a href={linkTo.ledger(entry.ledger, { entry: String(entry.seq) })}>
            Entry {entry.seq.toLocaleString("en")}
          </a>
        ) : (
          `Entry ${entry.seq.toLocaleString("en")}`
        )}{" "}
        of the ledger <Hash hash={entry.ledger} what="the ledger's id" href={linkTo.ledger(entry.ledger)} />
      </p>
      <p>
        <ActionButton kind="main" onPress={verify} isOff={verification.state === "running"}>
          <Icon name="shield" /> Check it here
        </ActionButton>
      </p>
      <Running verification={verification} stop={stop} />
      {isDone && (
        <ChainCard
          ledger={entry.ledger}
          namedBy={isLinked ? "node" : "page"}
          tree={{ what: "the proof", size: inclusionProof.size, root: inclusionProof.root, isWhole: false }}
        >
          <p>The root that the proof leads to is compared with the head that the ledger's contract holds.</p>
        </ChainCard>
      )}
    </>
  );
}
