import { renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import type { DeriveRound } from "../../../tools/dev/runDevDerive.ts";
import type { SnapshotChanges } from "../../../tools/dev/snapshotChanges.ts";
import { EventLog, TOKEN, wallet } from "../../derive/eventLog.ts";
import { copyRooms } from "./support/copyRooms.ts";

const [seller, buyer] = [wallet(1), wallet(2)];

function story(): EventLog {
  const log = new EventLog();
  log.hire(seller, buyer);
  return log.after(60).tick();
}

const textOf = ({ events }: EventLog) => events.map((event) => `${JSON.stringify(event)}\n`).join("");

describe("npm run dev:derive", function () {
  this.slow(20_000);

  let copy: ReturnType<typeof copyRooms>;
  let log: string;

  before(() => {
    copy = copyRooms();
    log = path.join(copy.root, "events.jsonl");
  });
  after(() => copy?.close());

  it("derives a log again when the log or the derivation changes, and reports each change as JSON", async () => {
    writeFileSync(log, textOf(story()));
    const dev = copy.run(["dev-derive", log, "--json", "--trust-signatures", "--token", TOKEN]);
    const next = async () => JSON.parse(await dev.nextLine("stdout", /^{/)) as DeriveRound & SnapshotChanges;
    const before = await story().derive();
    const first = await next();
    expect(first).to.deep.include({ run: 1, changed: [], digest: { before: null, after: before.digest } });
    expect(first.changes).to.deep.include({
      ...{ of: "agent", id: seller, field: "last_30d_hire_count_raw" },
      ...{ before: null, after: 1 },
    });

    const longer = story();
    longer.hire(seller, buyer, { passed: false });
    longer.after(60).tick();
    const after = await longer.derive();
    // Most editors save a file in this way: a new file gets the name of the old file.
    writeFileSync(`${log}.new`, textOf(longer));
    renameSync(`${log}.new`, log);
    const second = await next();
    expect(second).to.deep.include({
      ...{ run: 2, changed: ["events.jsonl"], asOf: after.asOf },
      digest: { before: before.digest, after: after.digest },
    });
    const rate = { of: "agent", id: seller, field: "success_rate", before: 1, after: 0.5 };
    expect(second.changes).to.deep.include(rate);
    expect(second.changes.map(({ field }) => field)).to.not.include("registered_block");

    copy.edit(
      "packages/derive/publishedFields.ts",
      "ratio(agent.successWeight",
      "ratioo(agent.successWeight",
    );
    const third = await next();
    expect(third).to.include({ run: 3 });
    expect(third).to.have.property("error").that.contains("ratioo is not defined");

    copy.edit("packages/derive/publishedFields.ts", "ratioo(agent.successWeight", "ratio(agent.ratedWeight");
    const fourth = await next();
    expect(fourth.changed).to.deep.equal(["packages/derive/publishedFields.ts"]);
    expect(fourth.changes).to.deep.equal([{ ...rate, before: 0.5, after: 1 }]);
    expect(fourth.digest.before).to.equal(after.digest);
    expect(fourth.digest.after).to.not.equal(after.digest);
    const { code, words } = await dev.end("SIGTERM");
    expect(code, words).to.equal(143);
  });

  it("shows a table of the changes without --json, names a missing file, and ends at Ctrl-C", async () => {
    const nothing = copy.run(["dev-derive", path.join(copy.root, "nothing.jsonl")]);
    expect(await nothing.nextLine("stderr", /error:/)).to.contain("nothing.jsonl cannot be watched");
    expect(await nothing.ended).to.equal(1);

    writeFileSync(log, textOf(story()));
    const dev = copy.run(["dev-derive", log, "--trust-signatures", "--token", TOKEN]);
    expect(await dev.nextLine("stdout", /digest/)).to.match(/^2 agents, 0 clusters · block \d+ · digest 0x/);
    const longer = story();
    longer.hire(seller, buyer);
    writeFileSync(log, textOf(longer.after(60).tick()));
    expect(await dev.nextLine("stdout", /last_30d_hire_count_raw/)).to.match(
      /0x00000000…000001 +│ .* │ 1 +│ 2 /,
    );
    expect(await dev.nextLine("stdout", /digest/)).to.match(
      /^\d+ values changed · block \d+ · digest 0x.* → 0x/,
    );
    const { code, words } = await dev.end("SIGINT");
    expect(code, words).to.equal(130);
  });
});
