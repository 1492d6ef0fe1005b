import { useRef } from "preact/hooks";
import { ActionButton } from "../design/ActionButton.tsx";
import { Address } from "../design/Address.tsx";
import { Icon } from "../design/Icon.tsx";
import { nodeUrl } from "../node/nodeUrl.ts";
import { askClaim, untilFinal } from "./askClaim.ts";
import { Running } from "./Running.tsx";
import { useVerification } from "./useVerification.ts";
import { verifyInWorker } from "./verifyInWorker.ts";
import type { Claim } from "./verifyNode.ts";

/**
 * Verifies the node's figures, all of them or those of one agent. The node's event log is derived again here
 * for the comparison.
 */
export function NodeCard({ agent }: { agent: string | null }) {
  const { verification, run, stop } = useVerification();
  const claimed = useRef<Claim | null>(null);
  const later = verification.state === "done" ? verification.finding.mayWaitFor : undefined;
  const verify = (from?: number) =>
    run(async ({ signal, say }) => {
      if (from === undefined) claimed.current = agent === null ? null : await askClaim(agent, signal);
      const claim = claimed.current;
      if (from !== undefined) {
        say(`Waiting until block ${from} is final`);
        await untilFinal(from, signal);
      }
      const derive = (finalFrom: number) =>
        verifyInWorker(
          { kind: "node", url: nodeUrl, claim, finalFrom },
          { signal, onProgress: (share) => say("Deriving the log again", share) },
        );
      say("Deriving the log again");
      let finding = await derive(from ?? 0);
      while (finding.waitsFor !== undefined) {
        const block = finding.waitsFor;
        say(`Something changed just now: waiting until a tick from block ${block} on is final`);
        await untilFinal(block, signal);
        finding = await derive(block);
      }
      return finding;
    });
  return (
    <section class="card" aria-labelledby="node">
      <div class="head">
        <h2 id="node">{agent === null ? "This node" : "This agent's figures"}</h2>
        {agent !== null && <Address address={agent} />}
      </div>
      <p>
        Your browser reads the node's whole event log, checks every signature, and derives everything again.
        The digest of the log is compared with the node's at every tick
        {agent === null ? "" : ", and then each figure and the cluster of this agent"}. Nothing is believed
        because the server says so.
      </p>
      <p>
        <ActionButton kind="main" onPress={() => verify()} isOff={verification.state === "running"}>
          <Icon name="shield" /> {agent === null ? "Derive it again" : "Check it here"}
        </ActionButton>
      </p>
      <Running verification={verification} stop={stop} />
      {later !== undefined && (
        <p>
          <button type="button" class="button" onClick={() => verify(later)}>
            Wait until block {later.toLocaleString("en")} is final, and check the rest
          </button>
        </p>
      )}
    </section>
  );
}
