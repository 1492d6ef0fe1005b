import { useEffect } from "preact/hooks";
import { announce } from "../design/announce.ts";
import { CheckList } from "./CheckList.tsx";
import type { Verification } from "./useVerification.ts";
import { verdictOf } from "./verdictOf.ts";

/** Shows the progress of a verification, and its result. Screen readers hear its steps, its quarters and its result. */
export function Running({ verification, stop }: { verification: Verification; stop: () => void }) {
  const said = wordsOf(verification);
  useEffect(() => {
    if (said !== "") announce(said);
  }, [said]);
  if (verification.state === "idle") return null;
  if (verification.state === "done") return <CheckList finding={verification.finding} />;
  const { what, share } = verification;
  return (
    <div class="stack">
      <div class="head">
        <span>
          {what}
          {share !== null && ` · ${Math.floor(share * 100)} %`}
        </span>
        <button type="button" class="button" onClick={stop}>
          Stop
        </button>
      </div>
      <progress aria-label={what} {...(share !== null && { value: share })} max={1} />
    </div>
  );
}

function wordsOf(verification: Verification): string {
  if (verification.state === "idle") return "";
  if (verification.state === "done") {
    const { title, text } = verdictOf(verification.finding);
    return `${title}. ${text}`;
  }
  const { what, share } = verification;
  const quarters = Math.floor(4 * (share ?? 0));
  return quarters === 0 ? what : `${what}: ${25 * quarters} %`;
}
