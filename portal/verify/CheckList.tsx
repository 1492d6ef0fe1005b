import { plainText } from "../design/format.ts";
import { Icon, type IconName } from "../design/Icon.tsx";
import { Notice } from "../design/Notice.tsx";
import type { Finding } from "./check.ts";
import { verdictOf } from "./verdictOf.ts";

const LOOKS: { [state: string]: { kind: string; icon: IconName; word: string } } = {
  yes: { kind: "yes", icon: "done", word: "Holds" },
  no: { kind: "no", icon: "cross", word: "Does not hold" },
  open: { kind: "open", icon: "info", word: "Not verified" },
};

/** Lists the results of all checks, also of those that could not be made. */
export function CheckList({ finding }: { finding: Finding }) {
  const { kind, title, text } = verdictOf(finding);
  return (
    <div class="stack">
      <Notice kind={kind} title={title}>
        {text}
      </Notice>
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
