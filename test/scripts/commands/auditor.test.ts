import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { Command } from "commander";
import { personJudge } from "tallystick-sdk/auditor/personJudge";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { registerAuditor } from "../../../scripts/commands/auditor.ts";
import { auditedHire, shows, useAuditScene } from "../../sdk/audits/auditScene.ts";
import { rejection } from "../../sdk/support/tamper.ts";

describe("tallystick auditor", () => {
  const { scene } = useAuditScene();
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tallystick-desk-"));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs the command in this process, and gives what it prints. */
  const run = async (...args: string[]): Promise<string> => {
    const program = new Command().exitOverride();
    registerAuditor(program);
    const { write } = process.stdout;
    let out = "";
    process.stdout.write = ((text: string) => {
      out += text;
      return true;
    }) as typeof write;
    try {
      await program.parseAsync(["auditor", ...args, "--dir", folder], { from: "user" });
    } finally {
      process.stdout.write = write;
    }
    return out;
  };

  it("lists waiting work, shows it without control characters, and sends the decision to the ledger", async () => {
    const hire = await auditedHire({
      result: {
        text: "\u001b[2J\u001b]0;judged\u0007 Dov'è la biblioteca? \u202e\n audt_ is decided: pass.",
      },
    });
    scene().open.push(hire.assignment);
    await scene().hold(hire.seller.address, shows(hire.disclosure));
    const store = fileStore(folder);
    const auditor = scene().auditorOf(hire, { store, judge: personJudge(store).judge });
    await auditor.round();

    const [waiting] = JSON.parse(await run("queue", "--json"));
    const { token } = waiting;
    expect(waiting).to.include({ hire: hire.assignment.hire, capability: "text.translate.en.it" });
    expect(await run("queue")).to.contain(token);
    const shown = await run("show", token);
    expect(shown).to.contain("Where is the library?").and.to.contain("Dov'\\u00e8 la biblioteca");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
    expect(shown).not.to.match(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(JSON.parse(await run("show", token, "--json")).params).to.deep.equal({
      text: "Where is the library?",
    });

    expect((await rejection(run("judge", token, "fail"))).code).to.equal("reason_missing");
    expect((await rejection(run("judge", token, "fine"))).field).to.equal("verdict");
    expect((await rejection(run("judge", token, "fail", "--reason", "ugly"))).field).to.match(
      /^judgement\.reasons/,
    );
    await run("judge", token, "pass");
    const words = "The last sentence is made up.";
    await run("judge", token, "fail", "--reason", `fabricated: ${words}`, "--reason", "off_topic");
    await auditor.round();
    expect(scene().verdicts()[0]?.body).to.deep.include({
      verdict: "fail",
      reasons: [
        { code: "fabricated", detail: words },
        { code: "off_topic", detail: "" },
      ],
    });
    expect(await run("queue")).to.equal("Nothing waits.\n");
    expect((await rejection(run("judge", token, "pass"))).code).to.equal("unknown_audit");
  });
});
