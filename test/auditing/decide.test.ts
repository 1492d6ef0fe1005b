import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { decide } from "../../services/auditing/decide.ts";
import { newWallet } from "../sdk/support/sdkChain.ts";
import { rejection } from "../sdk/support/tamper.ts";
import { openTestService, type TestService } from "../settlement/support/testService.ts";

const HIRE = `0x${"ab".repeat(32)}-7`;

describe("an operator's decision", () => {
  const operator = newWallet();
  let folder: string;
  let service: TestService;
  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "tallystick-decide-"));
    service = await openTestService(folder, { OPERATOR: operator.address });
  });
  after(async () => {
    await service?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const say = (decision: string, more: object = {}, by = operator) =>
    decide({
      baseUrl: "http://node.test",
      ledger: "local",
      account: by.account,
      decision: { hire: HIRE, decision, reasons: [{ code: "fabricated", detail: "" }], ...more } as never,
      fetch: async (url, init) => await service.app.request(String(url), init as RequestInit),
    });

  it("is written once, and a second decision for the same hire is refused", async () => {
    const entry = await say("rollback");
    expect(entry).to.equal(service.ledger.head);
    const [file = ""] = globSync("**/ledger.jsonl", { cwd: folder });
    const line = JSON.parse(readFileSync(path.join(folder, file), "utf8").trim());
    expect(line.payload).to.deep.include({ type: "audit_actuation", signer: operator.address });
    expect(line.payload.body).to.deep.include({ hire: HIRE, decision: "rollback" });
    // The same decision is sent again, as after a lost answer.
    expect(await say("rollback")).to.equal(entry);
    expect((await rejection(say("dismiss"))).status).to.equal(409);
    expect(service.ledger.size).to.equal(1);
  });

  it("is refused, and nothing is written, if its form or its signer is wrong", async () => {
    const faults: [Promise<unknown>, string][] = [
      [say("maybe"), "body.decision"],
      [say("rollback", { hire: "the last one" }), "body.hire"],
      [say("rollback", { reasons: [{ code: "ugly", detail: "" }] }), "body.reasons"],
      [say("rollback", { reasons: [] }), "body.reasons"],
    ];
    for (const [saying, field] of faults)
      expect((await rejection(saying)).field).to.match(new RegExp(`^${field}`));
    const stranger = await rejection(say("rollback", { hire: `0x${"cd".repeat(32)}-1` }, newWallet()));
    expect(stranger.message).to.contain("signer");
    expect(service.ledger.size).to.equal(1);
  });
});
