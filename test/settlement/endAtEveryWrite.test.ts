import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { seededRandom } from "tallystick-runtime/seededRandom";
import { addKey, revokeKey } from "../../services/settlement/keys/keyFile.ts";
import { type CrashFlow, crashAtEveryWrite, sample } from "../../tools/bench/crash/crashAtEveryWrite.ts";
import { crashChain } from "../../tools/bench/crash/crashChain.ts";
import { anchoredFlow, heldFlow, outcomesFlow, verdictFlow } from "../../tools/bench/crash/crashFlows.ts";
import { recordEndings } from "../../tools/bench/crash/recordEndings.ts";
import { NOW } from "../../tools/bench/crash/settlementClient.ts";
import { type LedgerChain, ledgerChain, WRITER_KEY } from "../../tools/bench/ledger/ledgerChain.ts";
import { BUILD_TIMEOUT } from "../support/freshChain.ts";

/**
 * The test tries this many endings of each flow, of some hundred. `npm run soak:crash` tries all of them, and also
 * random flows.
 */
const SEEN = 16;
const SEED = 1;

describe("a settlement service that starts again after it ended at any of its writes, by a kill or a power failure", function () {
  this.timeout(180_000);
  let chain: LedgerChain;
  before(async function () {
    this.timeout(BUILD_TIMEOUT);
    chain = await ledgerChain();
  });
  after(() => chain?.close());

  async function expectKept(flow: CrashFlow): Promise<void> {
    const { writes, endings, seen } = await crashAtEveryWrite(flow, {
      choose: sample(SEEN, seededRandom(SEED)),
    });
    expect(writes).to.be.greaterThan(60);
    expect(endings).to.be.greaterThan(60);
    expect(seen).to.equal(SEEN);
  }

  it("loses no proposal that waits for a person, and settles a released one once", () =>
    expectKept(heldFlow));

  it("loses no stake, no vote, and no final result", () => expectKept(verdictFlow));

  it("records an hour's outcomes once, including every acknowledged one", () => expectKept(outcomesFlow));

  it("does not accept a revoked API key again", async () => {
    const root = realpathSync(mkdtempSync(path.join(tmpdir(), "tallystick-keys-")));
    const fileIn = (folder: string) => path.join(folder, "ledger", "keys.json");
    const said = { made: false, revoked: false };
    try {
      const { endings, unseen } = await recordEndings({
        root,
        run: async () => {
          const { id } = (await addKey(fileIn(root), "agent", NOW)).stored;
          said.made = true;
          await revokeKey(fileIn(root), id, NOW);
          said.revoked = true;
        },
        confirmed: () => ({ ...said }),
        look: async () => {},
        keepChain: async () => undefined,
        bootId: "",
      });
      expect(unseen).to.deep.equal([]);
      expect(endings.length).to.be.greaterThan(10);
      for (const { kind, at, disk, confirmed } of endings) {
        const text = disk.get(path.join("ledger", "keys.json"))?.toString();
        const [key] = text === undefined ? [] : JSON.parse(text).keys;
        expect(key !== undefined || !confirmed.made, `${kind} ${at}: made`).to.equal(true);
        expect(typeof key?.revoked_at === "number" || !confirmed.revoked, `${kind} ${at}: revoked`).to.equal(
          true,
        );
      }
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  it("settles proposals and receipts once, and never contradicts a head that it signed or the contract holds", () =>
    expectKept(anchoredFlow(crashChain(chain, { relayerKey: WRITER_KEY, origin: "tallystick.test/crash" }))));
});
