import { expect } from "chai";
import type { Finding } from "../../portal/verify/check.ts";
import { verifyLogFile } from "../../portal/verify/verifyLogFile.ts";
import { verifyNode } from "../../portal/verify/verifyNode.ts";
import { EventLog, wallet } from "../derive/eventLog.ts";
import { fakeNode } from "../sdk/openLog/fakeNode.ts";

/** A log that says, without a proof, that these signers are contracts. A node can forge any record in this way. */
function forged(signers: number): EventLog {
  const log = new EventLog();
  for (let n = 0; n < signers; n++) {
    log.listing(wallet(n + 1), "text.translate");
    Object.assign(log.events.at(-1) as object, { erc1271: true });
  }
  return log.after(60).tick();
}

const nothing = () => {};

/** The checks of a log, as a file and as a node gives it. */
async function findings(log: EventLog): Promise<Finding[]> {
  const lines = log.events.map((event) => `${JSON.stringify(event)}\n`);
  const node = await fakeNode(log);
  try {
    return [await verifyLogFile(new Blob(lines), nothing), await verifyNode(node.url, null, nothing)];
  } finally {
    await node.close();
  }
}

describe("a log that says, without a proof, that some signers are contracts, in the portal", () => {
  it("does not count as a log whose signatures were all checked", async () => {
    for (const { title, checks } of await findings(forged(2))) {
      const said = JSON.stringify(checks);
      expect(
        checks.filter(({ state }) => state === "no"),
        said,
      ).to.deep.equal([]);
      expect(said, title).to.contain("Every signature of a key was checked.");
      const open = checks.filter(({ state }) => state === "open").map(({ text }) => text);
      expect(open.join("\n"), title).to.contain(
        "2 records have contracts as their signers, by the word of the log",
      );
    }
  });

  it("counts as a log whose signatures were all checked if no signer is such a contract", async () => {
    for (const { checks } of await findings(forged(0))) {
      expect(JSON.stringify(checks))
        .to.contain("very signature was checked.")
        .and.not.contain("contracts as");
    }
  });
});
