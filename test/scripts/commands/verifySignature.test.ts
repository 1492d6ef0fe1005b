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
});
