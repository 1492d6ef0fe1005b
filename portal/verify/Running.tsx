import { CheckList } from "./CheckList.tsx";
import type { Verification } from "./useVerification.ts";

/** Shows the progress of a verification, and its result. */
export function Running({ verification, stop }: { verification: Verification; stop: () => void }) {
  if (verification.state === "idle") return null;
  if (verification.state === "done") return <CheckList finding={verification.finding} />;
  const { what, share } = verification;
  return (
    <div class="stack" role="status">
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
