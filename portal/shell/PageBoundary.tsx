import type { ComponentChildren } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { plainText } from "../design/format.ts";
import { Notice } from "../design/Notice.tsx";

/**
 * Keeps the portal in place when a page cannot be drawn. A page does not check the form of an answer first. So it fails
 * if the answer does not have the form of the node's API.
 */
export function PageBoundary({ children }: { children: ComponentChildren }) {
  const [error, tryAgain] = useErrorBoundary() as [unknown, () => void];
  if (error === undefined) return <>{children}</>;
  return (
    <div class="stack">
      <h1>This page cannot be shown</h1>
      <Notice kind="bad" title="The node's answer does not have the form of its API" isLive>
        <div class="stack">
          <p>
            It may have another version than this page, or somebody may answer in its place. Nothing here was
            verified. Ask another node.
          </p>
          <p class="row">
            <button type="button" class="button" onClick={tryAgain}>
              Try again
            </button>
            <code class="soft">{plainText(error instanceof Error ? error.message : String(error), 200)}</code>
          </p>
        </div>
      </Notice>
    </div>
  );
}
