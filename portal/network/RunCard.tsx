import { CopyButton } from "../design/CopyButton.tsx";
import { shellWord } from "../design/shellWord.ts";
import { nodeUrl } from "../node/nodeUrl.ts";

const STEPS: { title: string; text: string; command: string }[] = [
  {
    title: "A node",
    text: "Reads the chain and the ledgers and derives everything itself. It needs a Postgres and an RPC. The operator's manual says what goes into .env.",
    command: "npm start",
  },
  {
    title: "A replica",
    text: "Only answers requests, from the Postgres of a node. You can start and stop any number of these at any time.",
    command: "npm run -s tallystick -- replica --port 42080",
  },
  {
    title: "A check",
    text: "Finds the first tick at which the digests of two nodes differ, and names the first different line of their logs.",
    command: `npm run -s tallystick -- compare ${shellWord(nodeUrl)} https://another.node`,
  },
];

/** Explains how anybody can run a node and compute the same figures. */
export function RunCard() {
  return (
    <section class="card" aria-labelledby="run">
      <div class="head">
        <h2 id="run">Run a node yourself</h2>
        <a href={`${nodeUrl}/docs/operators`}>The operator's manual</a>
      </div>
      <div class="groups">
        {STEPS.map(({ title, text, command }) => (
          <div class="stack tight" key={title}>
            <h3>{title}</h3>
            <p class="soft">{text}</p>
            <p>
              <code>{command.split(" ").map(wordOf)}</code> <CopyButton text={command} what="the command" />
            </p>
          </div>
        ))}
      </div>
    </section>
  );
}

/** A word of a command, and the space before it. An option is never broken behind its hyphens. */
function wordOf(word: string, n: number) {
  const space = n === 0 ? "" : " ";
  if (!word.startsWith("-")) return space + word;
  return (
    <>
      {space}
      <span class="option">{word}</span>
    </>
  );
}
