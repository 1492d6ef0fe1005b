import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import { entryLine } from "tallystick-protocol/ledger/entry";
import { formatCheckpoint } from "tallystick-protocol/note/checkpoint";
import {
  cosign,
  cosignedAt,
  cosignerKey,
  formatCosignerKey,
  parseCosignerKey,
} from "tallystick-protocol/note/cosignature";
import {
  formatSignedNote,
  formatVerifierKey,
  noteVerifierKey,
  parseSignedNote,
  signNote,
} from "tallystick-protocol/note/signedNote";
import { formatTlogProof } from "tallystick-protocol/proof/tlogProof";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { DiskLedger } from "../../../services/settlement/ledger/diskLedger.ts";
import { StaticLog } from "../../../services/settlement/staticLog/staticLog.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

/** The test also runs Go. It installs Go's compiler and log packages if they are missing: as root on Debian, 300 MB. */
const RUNS = process.env.GO_INTEROP === "1";

const ORIGIN = "tallystick.test/go";
const SEED = new Uint8Array(32).fill(3);
const vkey = formatVerifierKey(noteVerifierKey(ORIGIN, ed25519.getPublicKey(SEED)));
const WITNESS = { name: "witness.test/w1", seed: new Uint8Array(32).fill(8) };
const witnessKey = formatCosignerKey(cosignerKey(WITNESS.name, ed25519.getPublicKey(WITNESS.seed)));

if (RUNS) {
  describe("Go's own packages", function () {
    this.timeout(600_000);
    const folder = temporaryFolder();
    let program: string;
    let ledger: DiskLedger;

    before(() => {
      const apt = (...args: string[]) => execFileSync("apt-get", ["-qq", ...args], { stdio: "ignore" });
      try {
        execFileSync("go", ["version"], { stdio: "ignore" });
        readFileSync("/usr/share/gocode/src/golang.org/x/mod/sumdb/tlog/tlog.go");
      } catch {
        apt("update");
        apt("install", "-y", "--no-install-recommends", "golang-go", "golang-golang-x-mod-dev");
      }
      program = path.join("/tmp", `tallystick-go-${process.pid}`);
      execFileSync(
        "go",
        ["build", "-o", program, path.join(repositoryRoot, "test/settlement/interop/go/main.go")],
        {
          env: {
            ...process.env,
            GO111MODULE: "off",
            GOPATH: "/usr/share/gocode",
            GOCACHE: `${program}.cache`,
          },
        },
      );
    });
    after(() => execFileSync("rm", ["-rf", program, `${program}.cache`]));

    const go = (...args: string[]) =>
      JSON.parse(execFileSync(program, args, { encoding: "utf8", stdio: "pipe" }));

    beforeEach(async () => {
      ledger = await DiskLedger.open({ folder: path.join(folder.path, "ledger") });
    });
    afterEach(() => ledger.close());

    async function grow(size: number): Promise<void> {
      const appended = [];
      for (let n = ledger.size; n < size; n++)
        appended.push(
          ledger.append({ timestamp: 1_767_225_600 + n, taskId: `task-${n}`, payload: { n: BigInt(n) } }),
        );
      await Promise.all(appended.map(({ durable }) => durable));
    }

    function checkpoint() {
      const { size } = ledger;
      const text = formatCheckpoint({ origin: ORIGIN, size, root: ledger.tree.root(size) });
      const signatures = [
        signNote(text, ORIGIN, SEED),
        cosign(text, WITNESS.name, WITNESS.seed, 1_767_225_600),
      ];
      return { size, note: formatSignedNote({ text, signatures }) };
    }

    it("read a log from files: its checkpoint, every tile, every entry, and proofs from them", async () => {
      const out = path.join(folder.path, "static");
      const log = new StaticLog({ folder: out, origin: ORIGIN, ledger });
      for (const size of [1, 2, 255, 256, 257, 1_000, 66_000]) {
        await grow(size);
        await log.write(checkpoint());
        expect(go("log", out, vkey)).to.deep.equal({ size, checked: size });
      }
      const bundle = path.join(out, "tile/entries/003");
      const bytes = readFileSync(bundle);
      bytes[100] = (bytes[100] as number) ^ 1;
      writeFileSync(bundle, bytes);
      expect(() => go("log", out, vkey)).to.throw(/entry 768 has another hash/);
    });

    it("check a .tlog-proof with its cosignature", async () => {
      await grow(700);
      const file = path.join(folder.path, "entry.tlog-proof");
      const proof = {
        extra: new TextEncoder().encode(entryLine(await ledger.entry(300))),
        index: 300,
        proof: ledger.tree.inclusionProof(300, 700),
        checkpoint: checkpoint().note,
      };
      writeFileSync(file, formatTlogProof(proof));
      expect(go("proof", file, vkey, witnessKey)).to.deep.equal({
        index: 300,
        size: 700,
        signed: [ORIGIN, WITNESS.name],
        time: 1_767_225_600,
      });
      writeFileSync(file, formatTlogProof({ ...proof, index: 301 }));
      expect(() => go("proof", file, vkey, witnessKey)).to.throw(/invalid transparency proof/);
    });

    it("cosign a checkpoint of ours, and we accept the cosignature", async () => {
      await grow(3);
      const file = path.join(folder.path, "checkpoint");
      const { note } = checkpoint();
      writeFileSync(file, note);
      const { line, key } = go("cosign", file, "go.test/witness");
      expect(cosignedAt(parseSignedNote(note + line), parseCosignerKey(key))).to.equal(1_767_225_600);
      expect(
        cosignedAt(parseSignedNote(note.replace("\n3\n", "\n4\n") + line), parseCosignerKey(key)),
      ).to.equal(undefined);
    });
  });
}
