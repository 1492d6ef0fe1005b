import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { signTrustReport } from "tallystick-protocol/trustReport/signTrustReport";
import { commandHere } from "../../support/commandHere.ts";

const HOUR = 3_600_000;

describe("tallystick verify-signature", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tallystick-signature-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it("prints the day of a report, and refuses a report that is too old", async () => {
    const date = `${new Date(Date.now() - 30 * HOUR).toISOString().slice(0, 19)}Z`;
    const report = { agent_id: `0x${"1a".repeat(20)}`, report_date: date, trust_score: 0.9 };
    const signing = { secretKey: new Uint8Array(32).fill(7), verificationUrl: "https://node.example" };
    const file = path.join(folder, "report.json");
    await writeFile(file, JSON.stringify(signTrustReport(report, signing)));
    const verify = (hours: string) => commandHere(["verify-signature", file, "--max-age", hours]);
    const [fresh, old] = [await verify("31"), await verify("29")];
    expect(fresh.out).to.contain("SIGNED").and.contain(date);
    expect(fresh.code).to.equal(0);
    expect(old.out).to.contain("older than --max-age").and.contain(date);
    expect(old.code).to.equal(1);
  });

  it("refuses a report that another key signed than --key, and a report that was changed", async () => {
    const report = { agent_id: `0x${"1a".repeat(20)}`, trust_score: 0.9 };
    const [good, other] = [7, 8].map((byte) => {
      const secretKey = new Uint8Array(32).fill(byte);
      return signTrustReport(report, { secretKey, verificationUrl: "https://node.example" });
    });
    const key = String(good?.trust_report.verification.public_key);
    const changed = { trust_report: { ...good?.trust_report, trust_score: 0.99 } };
    for (const [document, args, code, said] of [
      [good, [], 0, "not compared with the node's key"],
      [good, ["--key", key], 0, "SIGNED"],
      [other, ["--key", key], 1, "is not the node's"],
      [changed, ["--key", key], 1, "was changed"],
      [changed, [], 1, "was changed"],
    ] as const) {
      const file = path.join(folder, "signed.json");
      await writeFile(file, JSON.stringify(document));
      const run = await commandHere(["verify-signature", file, ...args]);
      expect(run.code, run.err).to.equal(code);
      expect(run.out).to.contain(said);
    }
  });
});
