import { ActionButton } from "../design/ActionButton.tsx";
import { Icon } from "../design/Icon.tsx";
import { Running } from "../verify/Running.tsx";
import { useVerification } from "../verify/useVerification.ts";
import type { Ledger } from "./ledgerQuery.ts";
import { verifyTiles } from "./verifyTiles.ts";

/** Checks the ledger in the form of a transparency log: reads its tiles, and computes its roots from them. */
export function TileCard({ ledger }: { ledger: Ledger }) {
  const { verification, run, stop } = useVerification();
  const verify = () =>
    run(({ signal, say }) => {
      say("Reading tiles");
      return verifyTiles(ledger, signal);
    });
  return (
    <section class="card" aria-labelledby="tiles">
      <div class="head">
        <h2 id="tiles">Its tiles</h2>
        <span class="soft">C2SP tlog-tiles, below /tlog</span>
      </div>
      <p>
        A log's tiles hold the hashes of its tree. From the same few tiles this page computes two roots: that
        of the newest checkpoint, and that of the anchored head. Tools for transparency logs read these tiles
        too.
      </p>
      <p>
        <ActionButton kind="main" onPress={verify} isOff={verification.state === "running"}>
          <Icon name="shield" /> Read the tiles here
        </ActionButton>
      </p>
      <Running verification={verification} stop={stop} />
    </section>
  );
}
