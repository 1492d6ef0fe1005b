import { useRef, useState } from "preact/hooks";
import { plainText } from "../design/format.ts";
import { Icon } from "../design/Icon.tsx";
import { ChainCard } from "./ChainCard.tsx";
import { Running } from "./Running.tsx";
import { useVerification } from "./useVerification.ts";
import { verifyInWorker } from "./verifyInWorker.ts";

/** The card to verify a file, which the reader drops or chooses. The file stays in the browser. */
export function FileCard() {
  const [isOver, setOver] = useState(false);
  const [name, setName] = useState("");
  const [keys, setKeys] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const { verification, run, stop } = useVerification();
  const verify = (file: File | undefined) => {
    if (file === undefined) return;
    setName(plainText(file.name, 80));
    run(({ signal, say }) =>
      verifyInWorker(
        { kind: "file", file, keys },
        { signal, onProgress: (share) => say("Verifying", share) },
      ),
    );
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    verify(event.dataTransfer?.files[0]);
  };
  const tree = verification.state === "done" ? verification.finding.tree : undefined;
  return (
    <>
      <section class="card" aria-labelledby="file">
        <div class="head">
          <h2 id="file">A file</h2>
          <span class="soft">works without a connection; nothing of it is sent anywhere</span>
        </div>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the button in it does the same. */}
        <div
          class={`drop ${isOver ? "over" : ""}`}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={drop}
        >
          <Icon name="file" size={28} />
          <p>
            Drop a ledger, an exported event log, a <code>.proof</code> or <code>.tlog-proof</code> file, a
            checkpoint, a trust report or a signed record here
          </p>
          <button type="button" class="button main" onClick={() => input.current?.click()}>
            Choose a file
          </button>
          <input
            ref={input}
            type="file"
            class="visually-hidden"
            tabIndex={-1}
            aria-label="A file to verify"
            onChange={(event) => {
              verify(event.currentTarget.files?.[0]);
              event.currentTarget.value = "";
            }}
          />
          {name !== "" && <p class="soft small">{name}</p>}
        </div>
        <details>
          <summary>Keys that you believe</summary>
          <div class="stack">
            <p class="soft small">
              These keys show who signed a checkpoint, a proof or a trust report. Get them from a source that
              you trust. Write one of these: the <code>vkey</code> of each log on a line of its own, a C2SP
              policy with witnesses, or the 64 hex digits of a node's report key. Give the keys before the
              file.
            </p>
            <textarea
              aria-label="Keys that you believe"
              rows={3}
              value={keys}
              autocomplete="off"
              spellcheck={false}
              onInput={({ currentTarget }) => setKeys(currentTarget.value)}
            />
          </div>
        </details>
        <Running verification={verification} stop={stop} />
      </section>
      {tree !== undefined && (
        <ChainCard key={tree.root} tree={tree}>
          <p>
            The sources of your choice tell the present head of the ledger on the chain. The page compares the
            root of {tree.what} with this head. The contract must have the released code. Anybody can open a
            ledger in it, so give the id of the ledger that you mean.
          </p>
        </ChainCard>
      )}
    </>
  );
}
