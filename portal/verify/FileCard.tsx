import { useRef, useState } from "preact/hooks";
import { plainText } from "../design/format.ts";
import { Icon } from "../design/Icon.tsx";
import { Running } from "./Running.tsx";
import { useVerification } from "./useVerification.ts";
import { verifyInWorker } from "./verifyInWorker.ts";

/** A file to verify: dropped, or chosen. It stays in the browser. */
export function FileCard() {
  const [isOver, setOver] = useState(false);
  const [name, setName] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const { verification, run, stop } = useVerification();
  const verify = (file: File | undefined) => {
    if (file === undefined) return;
    setName(plainText(file.name, 80));
    run(({ signal, say }) =>
      verifyInWorker({ kind: "file", file }, { signal, onProgress: (share) => say("Verifying", share) }),
    );
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    verify(event.dataTransfer?.files[0]);
  };
  return (
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
          Drop a ledger, an exported event log, a <code>.proof</code> file or a signed record here
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
      <Running verification={verification} stop={stop} />
    </section>
  );
}
