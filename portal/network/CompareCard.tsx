import { useState } from "preact/hooks";
import { sourceUrlOf } from "../chain/sourceUrl.ts";
import { ActionButton } from "../design/ActionButton.tsx";
import { Icon } from "../design/Icon.tsx";
import { NodeError } from "../node/nodeError.ts";
import { nodeUrl } from "../node/nodeUrl.ts";
import { readText } from "../node/readBytes.ts";
import { Running } from "../verify/Running.tsx";
import { useVerification } from "../verify/useVerification.ts";
import { compareDigests, type Digest } from "./compareDigests.ts";

/** The number of ticks to compare, and the most bytes of an answer. */
const [TICKS, MAX_BYTES] = [100, 1_000_000];

/**
 * Compares the digests of this node and of another node, tick by tick. It asks the other node only after the
 * button is pressed.
 */
export function CompareCard() {
  const [text, setText] = useState("");
  const [error, setError] = useState("");
  const { verification, run, stop } = useVerification();
  const compare = (event: SubmitEvent) => {
    event.preventDefault();
    const url = sourceUrlOf(text);
    if (url === null)
      return setError("The address of a node begins with https://, or http:// on this machine.");
    run(async ({ signal, say }) => {
      say("Asking both nodes");
      const [own, other] = await Promise.all([
        digestsOf(nodeUrl, signal),
        digestsOf(url.replace(/\/+$/, ""), signal),
      ]);
      return compareDigests(own, other, new URL(url).host);
    });
  };
  return (
    <section class="card" aria-labelledby="compare">
      <div class="head">
        <h2 id="compare">Another node</h2>
        <span class="soft">asked only when you press</span>
      </div>
      <p>
        Two nodes with the same parameters come to the same digest at every tick. Name another node that you
        trust: where they differ, one of them lacks something or lies.
      </p>
      <form class="row" onSubmit={compare} aria-label="Another node" noValidate>
        <input
          type="url"
          class="grow"
          aria-label="The other node's address"
          placeholder="https://node.example"
          value={text}
          autocomplete="off"
          spellcheck={false}
          aria-invalid={error !== ""}
          onInput={({ currentTarget }) => {
            setText(currentTarget.value);
            setError("");
          }}
        />
        <ActionButton kind="main" isOff={verification.state === "running"}>
          <Icon name="shield" /> Compare
        </ActionButton>
        {error !== "" && (
          <p role="alert" class="small">
            {error}
          </p>
        )}
      </form>
      <Running verification={verification} stop={stop} />
    </section>
  );
}

async function digestsOf(url: string, signal: AbortSignal): Promise<Digest[]> {
  const { host } = new URL(url);
  try {
    const response = await fetch(`${url}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query: `{ digests(first: ${TICKS}) { nodes { block digest } } }` }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(15_000)]),
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
    });
    const text = await readText(response, MAX_BYTES);
    const { data } = Object(text === undefined ? null : JSON.parse(text));
    const { nodes } = Object(Object(data).digests);
    if (!Array.isArray(nodes)) throw new TypeError();
    return nodes.filter(
      (it): it is Digest => Number.isSafeInteger(Object(it).block) && typeof Object(it).digest === "string",
    );
  } catch {
    signal.throwIfAborted();
    throw new NodeError({ code: "unreachable", message: `${host} gives no digests.`, hint: "Is it a node?" });
  }
}
