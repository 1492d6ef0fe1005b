import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { expect } from "chai";
import { snapshotOf } from "tallystick-derive/snapshot";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { EventLog, wallet } from "../../derive/eventLog.ts";
import { FakeChain } from "../../indexer/logPort/support/fakeChain.ts";
import { startRpcServer } from "../../indexer/logPort/support/rpcServer.ts";

const seller = wallet(1);
const TOKEN = `0x${"70".repeat(20)}` as const;

/** Runs `tallystick derive -` on these lines, with as much memory as is given. */
async function derive(lines: Iterable<string>, args: string[] = [], megabytes = 512) {
  const program = nodeProgram("scripts/cli.ts", ["derive", "-", ...args]);
  const child = spawn(process.execPath, [`--max-old-space-size=${megabytes}`, ...program], {
    cwd: repositoryRoot,
  });
  const feed = pipeline(Readable.from(lines), child.stdin).catch(() => undefined);
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
    feed,
  ]);
  return { code: code as number, out, err };
}

function linesOf(log: EventLog): string[] {
  return log.events.map((event) => `${JSON.stringify(event)}\n`);
}

function story(): EventLog {
  const log = new EventLog();
  log.hire(seller, wallet(2));
  log.after(60).tick();
  log.hire(seller, wallet(2));
  return log.after(60).tick();
}

describe("tallystick derive", function () {
  this.slow(10_000);

  it("prints agents, clusters and the digest of a log as JSON", async () => {
    const { code, out, err } = await derive(linesOf(story()), ["--token", TOKEN, "--trust-signatures"]);
    const { store } = await story().derive();
    expect({ code, err }).to.deep.equal({ code: 0, err: "" });
    expect(JSON.parse(out)).to.deep.equal(JSON.parse(JSON.stringify(snapshotOf(store))));
  });

  it("stops after --at-block, and notes on stderr the transfers of other tokens that it left out", async () => {
    const args = ["--trust-signatures", "--at-block", "2", "--token", wallet(9)];
    const { code, out, err } = await derive(linesOf(story()), args);
    expect(code).to.equal(0);
    expect(JSON.parse(out).asOf.block).to.equal(2);
    expect(err).to.contain(`left out 1 transfers of ${TOKEN}`);
  });

  it("refuses a log with an unknown token, and prints no figures", async () => {
    const { code, out, err } = await derive(linesOf(story()), ["--trust-signatures"]);
    expect({ code, out }).to.deep.equal({ code: 1, out: "" });
    expect(err).to.contain("token_unknown").and.contain("--token");
  });

  it("ends with 1 and names the wrong line, and with 2 when it is used wrongly", async () => {
    const lines = linesOf(story());
    const broken = await derive([lines[0] ?? "", '{"block":1}\n']);
    expect(broken.code).to.equal(1);
    expect(broken.err).to.contain("Line 2 is not an event").and.contain("kind");
    expect(broken.out).to.equal("");
    const wrong = await derive([], ["--at-block", "soon"]);
    expect(wrong.code).to.equal(2);
    expect(wrong.err).to.contain("--at-block");
  });

  it("ends with 1 and names the wallet if the chain of --rpc has a transfer that the log lacks", async () => {
    const log = new EventLog({}, { token: { address: TOKEN, firstBlock: 0 } });
    log.listing(seller, "text.translate");
    log.after(2).transfer(wallet(2), seller, 700);
    const transfers = [{ from: wallet(2), to: seller, value: 700n }];
    const server = await startRpcServer(new FakeChain([[], transfers, transfers, []]));
    const lines = linesOf(log.after(2, 2).tick());
    const { code, err } = await derive(lines, ["--trust-signatures", "--rpc", server.url]);
    await server.close();
    expect(err).to.contain(`checked: 0 of 1 wallets have the balance of ${TOKEN}`).and.contain("at block 4");
    expect(err).to.contain(`the transfers of ${seller} lack 700 atomic units that it received`);
    expect(code).to.equal(1);
  });

  it("ends with 2 if the log's own parameters leave all wallets, or most of them, out of the comparison", async () => {
    const compare = async (sellers: number[], hubTransfers: number) => {
      const log = new EventLog({ hubTransfers }, { token: { address: TOKEN, firstBlock: 0 } });
      for (const n of sellers) log.listing(wallet(n), "text.translate");
      // The log has two transfers to the first and to the third seller, and the chain has four.
      const receivers = [1, 3, 1, 3].map(wallet);
      log.after(2);
      for (const to of receivers) log.transfer(wallet(9), to, 700);
      const transfers = receivers.map((to) => ({ from: wallet(9), to, value: 700n }));
      const blocks = Array.from({ length: log.after(2, 2).block }, () => []);
      const server = await startRpcServer(new FakeChain([[], transfers, transfers, ...blocks]));
      const { code, err } = await derive(linesOf(log.tick()), [
        ...["--trust-signatures", "--rpc", server.url],
      ]);
      await server.close();
      return { code, err };
    };
    const hidden = await compare([1], 1);
    expect(hidden.err)
      .to.contain("checked: 0 of 0 wallets")
      .and.contain("not checked: no wallet was compared");
    expect(hidden.err).to.contain(
      "1 with more than 1 transfers (hubTransfers, which the log sets) were left out",
    );
    expect(hidden.code).to.equal(2);
    const few = await compare([1, 2], 1);
    expect(few.err).to.contain("checked: 1 of 1 wallets").and.not.contain("not checked");
    expect(few.code).to.equal(0);
    const most = await compare([1, 2, 3], 1);
    expect(most.err).to.contain("checked: 1 of 1 wallets").and.contain("most wallets were not compared");
    expect(most.code).to.equal(2);
    const seen = await compare([1], 4);
    expect(seen.err).to.contain("lack 1400 atomic units").and.not.contain("not checked");
    expect(seen.code).to.equal(1);
  });

  it("needs memory only for the state, however long the log is", async () => {
    const count = 40_000;
    const note = "what is not known is ignored ".repeat(35);
    const lines = function* () {
      for (let n = 0; n < count; n++) {
        const transfer = { kind: "transfer", token: TOKEN, from: wallet(1), to: wallet(2 + (n % 50)) };
        const place = { block: 1 + n, time: 1_767_225_600 + n, log: 0 };
        const rest = { value: "999", tx: `0x${n.toString(16).padStart(64, "0")}`, authorized: false, note };
        yield `${JSON.stringify({ ...place, ...transfer, ...rest })}\n`;
      }
      yield `${JSON.stringify({ block: count + 1, time: 1_767_325_600, kind: "tick" })}\n`;
    };
    // The log has 45 MB, and its state has only 51 wallets.
    const { code, out, err } = await derive(lines(), ["--token", TOKEN], 40);
    expect(err).to.equal("");
    expect(code).to.equal(0);
    expect(JSON.parse(out).asOf.block).to.equal(count + 1);
  });
});
