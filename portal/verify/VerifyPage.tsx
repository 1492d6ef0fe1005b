import { shortHash } from "../design/format.ts";
import { useTitle } from "../shell/useTitle.ts";
import { ChainCard } from "./ChainCard.tsx";
import { FileCard } from "./FileCard.tsx";
import { NodeCard } from "./NodeCard.tsx";

/** The page for verification in the reader's browser: of files, and of the node's figures. */
export function VerifyPage({ agent }: { agent: string | null }) {
  useTitle(agent === null ? "Verify" : `Verify ${shortHash(agent)}`);
  return (
    <>
      <div class="lead">
        <h1>Check it yourself</h1>
        <p>
          What this page calls verified was verified in this browser, from bytes. It says what was not
          verified.
        </p>
      </div>
      <NodeCard key={agent ?? "all"} agent={agent} />
      {agent === null && <ChainCard />}
      <FileCard />
    </>
  );
}
