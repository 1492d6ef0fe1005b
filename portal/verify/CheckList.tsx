import { plainText } from "../design/format.ts";
import { Icon, type IconName } from "../design/Icon.tsx";
import { Notice } from "../design/Notice.tsx";
import { type Finding, isBroken } from "./check.ts";

const LOOKS: { [state: string]: { kind: string; icon: IconName; word: string } } = {
  yes: { kind: "yes", icon: "done", word: "Holds" },
  no: { kind: "no", icon: "cross", word: "Does not hold" },
  open: { kind: "open", icon: "info", word: "Not verified" },
};

/** Lists the results of all checks, also of those that could not be made. */
export function CheckList({ finding }: { finding: Finding }) {
  const broken = isBroken(finding);
  const isSomething = finding.checks.some(({ state }) => state === "yes");
  const first = finding.checks.find(({ state }) => state === "no");
  return (
    <div class="stack">
      {broken || isSomething ? (
        <Notice kind={broken ? "bad" : "good"} title={broken ? "It does not hold" : "It holds"} isLive>
          {broken ? first?.text : `${finding.title}, verified in this browser.`}
        </Notice>
      ) : (
        <Notice kind="info" title="Nothing was verified" isLive>
          The data for it is missing.
        </Notice>
      )}
      <ul class="checks">
        {finding.checks.map(({ state, text, detail }) => {
          const { kind, icon, word } = LOOKS[state] ?? { kind: "open", icon: "info", word: "" };
          return (
            <li key={`${text} ${detail}`} class={kind}>
              <Icon name={icon as IconName} />
              <div>
                <span class="visually-hidden">{word}: </span>
                {plainText(text)}
                {detail !== undefined && <p class="soft small">{plainText(detail, 600)}</p>}
              </div>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
