import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { verifyLedgerFile } from "../../scripts/commands/verifyLedger.ts";
import { adoptLedger } from "../../services/settlement/ledger/adoptLedger.ts";
import { makeCheckpointKey } from "../../services/settlement/proofs/checkpointKey.ts";
import { hasPython, python } from "../support/python.ts";
import { envelope, listingBody, receiptBody } from "./support/records.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";
import { API_KEY, openTestService } from "./support/testService.ts";

const SCRIPT = "test/settlement/support/reference.py";

describe("a ledger that Python began", () => {
  const folder = temporaryFolder();

  // If the machine has no python3, the test uses a ledger that Python wrote earlier.
  it("is verified here, continues here, and is verified by Python again", async () => {
    const text = hasPython
      ? python([SCRIPT, "write", "12"])
      : readFileSync(new URL("../vectors/python-ledger.jsonl", import.meta.url), "latin1");
    const begun = text.trimEnd().split("\n").length;
    const file = path.join(folder.path, "local", "ledger.jsonl");
    mkdirSync(path.dirname(file));
    writeFileSync(file, text, "latin1");
    await makeCheckpointKey(path.dirname(file));
    await adoptLedger(path.dirname(file));

    const service = await openTestService(folder.path);
    expect([service.ledger.size, service.ledger.repair]).to.deep.equal([begun, undefined]);
    const data_update = { "\u{1f91d}": ["\u007f\u2028", 1.5e-7, 1e22, '"\\\n'], __proto__x: {}, n: -1 };
    const proposal = {
      header: { task_id: "caf\u00e9", parent_hash: service.ledger.head },
      payload: { data_update, confidence_score: 0.9 },
      proof: "\ud800 stands alone",
    };
    const headers = { authorization: `Bearer ${API_KEY}` };
    expect((await service.post("/v1/settle", proposal, headers)).json.status).to.equal("SETTLED");
    await service.post("/v1/listings", await envelope(listingBody({ note: "\u00fc\u{1f600}" })));
    await service.post("/v1/receipts", await envelope(receiptBody()));
    const { head } = service.ledger;
    await service.close();

    const verified = await verifyLedgerFile(file);
    if (verified instanceof LedgerLineError) throw verified;
    expect(verified).to.include({ size: begun + 3, head });
    if (hasPython) expect(python([SCRIPT, "verify", file])).to.equal(`${begun + 3} ${head}\n`);
  });
});
