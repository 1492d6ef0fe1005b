import type { ComponentChildren } from "preact";
import type { Asked } from "../node/useAnswer.ts";
import { Icon } from "./Icon.tsx";
import { Notice } from "./Notice.tsx";
import { Time } from "./Time.tsx";

/** A placeholder while an answer is loading. */
export function Waiting({ what }: { what: string }) {
  return (
    <div class="card skeleton" role="status">
      <span class="visually-hidden">Asking the node for {what}…</span>
      <span />
      <span />
      <span />
      <span />
    </div>
  );
}

/** The text in place of an empty list. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/**
 * Shows an answer that is loading, has failed, or is there. After a failure it shows the previous answer and a button
 * to retry.
 *
 * @param what is loaded, as words in a sentence
 * @param heading the heading while the page has no heading of its own yet
 */
export function Answered<Data>(props: {
  asked: Asked<Data> & { again: () => void };
  what: string;
  heading?: string;
  children: (data: Data) => ComponentChildren;
}) {
  const { asked, what, heading, children } = props;
  const hidden = heading !== undefined && <h1 class="visually-hidden">{heading}</h1>;
  if (asked.state === "loading")
    return (
      <>
        {hidden}
        <Waiting what={what} />
      </>
    );
  if (asked.state === "ready") return <>{children(asked.last.data)}</>;
  const { error, last, again } = asked;
  return (
    <>
      {last === null && hidden}
      <Notice kind="bad" title={error.message} isLive>
        <div class="stack">
          <p>
            {error.hint} {last !== null && <StaleWord at={last.at} />}
          </p>
          <div class="row">
            <button type="button" class="button" onClick={again}>
              <Icon name="again" /> Ask again
            </button>
            <code class="soft">{error.code}</code>
          </div>
        </div>
      </Notice>
      {last !== null && children(last.data)}
    </>
  );
}

function StaleWord({ at }: { at: number }) {
  return (
    <>
      The data below is what the node said <Time at={Math.floor(at / 1_000)} />.
    </>
  );
}
