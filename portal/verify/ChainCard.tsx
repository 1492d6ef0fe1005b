import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { PUBLIC_SOURCES } from "../chain/publicSources.ts";
import { ActionButton } from "../design/ActionButton.tsx";
import { Icon } from "../design/Icon.tsx";
import { Running } from "./Running.tsx";
import { readSources } from "./readSources.ts";
import { useVerification } from "./useVerification.ts";
import type { NamedBy, OwnTree } from "./verifyHead.ts";
import { verifyOnChain } from "./verifyOnChain.ts";

/** The reader's input, kept until the page is closed. */
let written: [string, string] = ["", ""];

/**
 * Compares the heads of ledgers with the chain, through the reader's own sources. Nothing is asked before the
 * button is pressed.
 * @param props.ledger the only ledger to compare. Without it, the reader of a file can give the id of a ledger
 * @param props.namedBy who named `ledger`
 * @param props.tree the tree to compare with the chain, in place of the node's head
 */
export function ChainCard(props: {
  ledger?: string;
  namedBy?: NamedBy;
  tree?: OwnTree;
  children?: ComponentChildren;
}) {
  const { ledger, namedBy = "node", tree, children } = props;
  const id = useId();
  const [given, setGiven] = useState(tree?.ledger ?? "");
  const isGivenHere = tree !== undefined && ledger === undefined;
  const [urls, setUrls] = useState(written);
  const [error, setError] = useState<{ of: "sources" | "ledger"; text: string } | null>(null);
  const { verification, run, stop } = useVerification();
  const write = (now: [string, string]) => {
    written = now;
    setUrls(now);
    setError(null);
  };
  const verify = (event: SubmitEvent) => {
    event.preventDefault();
    const asked = readSources(urls);
    if (typeof asked === "string") return setError({ of: "sources", text: asked });
    const own = given.trim().toLowerCase();
    const isId = /^0x[0-9a-f]{64}$/.test(own);
    if (isGivenHere && own !== "" && !isId)
      return setError({ of: "ledger", text: "A ledger's id is 0x and 64 hex digits." });
    const named: { ledger: string | undefined; namedBy: NamedBy } =
      isGivenHere && isId
        ? { ledger: own, namedBy: own === tree.ledger ? "file" : "reader" }
        : { ledger, namedBy };
    run(({ signal, say }) => {
      say("Asking the chain");
      return verifyOnChain({ urls: asked, ...named, tree, signal });
    });
  };
  return (
    <section class="card" aria-labelledby={`${id}-chain`}>
      <div class="head">
        <h2 id={`${id}-chain`}>{tree === undefined ? "The chain's heads" : `The chain, and ${tree.what}`}</h2>
        <span class="soft">asked only when you press</span>
      </div>
      {children ?? (
        <p>
          The head that this node tells is compared with the head in the ledger's contract at the same block.
          You choose who tells you what the chain says. With two sources, a false head passes only if both
          lie.
        </p>
      )}
      <form class="stack" onSubmit={verify} noValidate>
        <div class="two even">
          {(["First source", "Second source"] as const).map((label, n) => (
            <div class="field" key={label}>
              <label
                for={`${id}-source-${n}`}
              >{`${label} (JSON-RPC)${n === 1 ? ", if you have one" : ""}`}</label>
              <input
                type="url"
                id={`${id}-source-${n}`}
                value={urls[n]}
                placeholder="https://"
                autocomplete="off"
                spellcheck={false}
                aria-invalid={error?.of === "sources"}
                aria-describedby={error?.of === "sources" ? `${id}-error` : undefined}
                onInput={({ currentTarget }) =>
                  write(n === 0 ? [currentTarget.value, urls[1]] : [urls[0], currentTarget.value])
                }
              />
            </div>
          ))}
        </div>
        {isGivenHere && (
          <div class="field">
            <label for={`${id}-ledger`}>
              {tree.ledger === undefined
                ? "The ledger's id, from somebody whom you trust"
                : `The ledger's id: ${tree.what} names this one`}
            </label>
            <input
              type="text"
              id={`${id}-ledger`}
              class="mono"
              value={given}
              placeholder="0x"
              autocomplete="off"
              spellcheck={false}
              aria-invalid={error?.of === "ledger"}
              aria-describedby={error?.of === "ledger" ? `${id}-error` : undefined}
              onInput={({ currentTarget }) => {
                setGiven(currentTarget.value);
                setError(null);
              }}
            />
          </div>
        )}
        {error !== null && (
          <p id={`${id}-error`} role="alert" class="small">
            {error.text}
          </p>
        )}
        <div class="row">
          <ActionButton kind="main" isOff={verification.state === "running"}>
            <Icon name="shield" /> Ask the chain
          </ActionButton>
          <span class="soft small">Public sources of</span>
          {PUBLIC_SOURCES.map((it) => (
            <button key={it.chain} type="button" class="button small" onClick={() => write([...it.urls])}>
              {it.chain}
            </button>
          ))}
        </div>
      </form>
      <Running verification={verification} stop={stop} />
    </section>
  );
}
