import { createHash, createPublicKey, verify } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { fromHex, toHex } from "tallystick-protocol/hex";
import { formatTileIndex, parseTilePath } from "tallystick-protocol/merkle/tilePath";
import { verifyConsistency } from "tallystick-protocol/merkle/verifyConsistency";
import { verifyInclusion } from "tallystick-protocol/merkle/verifyInclusion";
import { parseProofBundle, verifyProofBundle } from "tallystick-protocol/proof/proofBundle";
import { ProofError } from "tallystick-protocol/proof/provenEntry";
import { verifyProofFile } from "../../../scripts/commands/verifyProof.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { openTestService, type TestService } from "../support/testService.ts";

const sha256 = (...parts: (Uint8Array | string)[]): Buffer =>
  parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();

/**
 * Reads and checks a checkpoint only as the texts of C2SP signed-note and tlog-checkpoint say: with Node's Ed25519 and
 * no code of this repository. Returns origin, size and root.
 */
function readCheckpoint(note: string, vkey: string): { origin: string; size: number; root: Buffer } {
  const [keyName, keyHash, ...rest] = vkey.trim().split("+");
  const key = Buffer.from(rest.join("+"), "base64");
  expect(key[0], "signature type Ed25519").to.equal(1);
  const keyId = sha256(keyName as string, "\n", key).subarray(0, 4);
  expect(keyId.toString("hex")).to.equal(keyHash);
  const at = note.indexOf("\n\n");
  const text = note.slice(0, at + 1);
  const mine = note
    .slice(at + 2)
    .split("\n")
    .filter((line) => line.startsWith(`— ${keyName} `))
    .map((line) => Buffer.from(line.split(" ")[2] as string, "base64"))
    .find((bytes) => bytes.subarray(0, 4).equals(keyId)) as Buffer;
  const der = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), key.subarray(1)]);
  const publicKey = createPublicKey({ key: der, format: "der", type: "spki" });
  expect(verify(null, Buffer.from(text), publicKey, mine.subarray(4)), "the signature").to.equal(true);
  const [origin = "", size, root = ""] = text.split("\n");
  return { origin, size: Number(size), root: Buffer.from(root, "base64") };
}

/** The root of these leaves, computed as RFC 6962 §2.1 defines it. */
function rootOf(leaves: Buffer[]): Buffer {
  if (leaves.length === 0) return sha256("");
  if (leaves.length === 1) return leaves[0] as Buffer;
  let k = 1;
  while (2 * k < leaves.length) k *= 2;
  return sha256(Uint8Array.of(1), rootOf(leaves.slice(0, k)), rootOf(leaves.slice(k)));
}

describe("proofs over HTTP", () => {
  const folder = temporaryFolder();
  let service: TestService;
  beforeEach(async () => {
    service = await openTestService(folder.path, { LEDGER_ORIGIN: "tallystick.test/proofs" });
  });
  afterEach(() => service.close());

  const grow = async (count: number): Promise<void> => {
    const appended = Array.from({ length: count }, (_, i) =>
      service.ledger.append({
        timestamp: i + 0.5,
        taskId: `t${i}`,
        payload: { type: "test", i: BigInt(i), text: "ü" },
      }),
    );
    await Promise.all(appended.map(({ durable }) => durable));
  };
  const bytes = async (at: string): Promise<Buffer> => {
    const response = await service.app.request(at);
    expect(response.status, at).to.equal(200);
    return Buffer.from(await response.arrayBuffer());
  };
  /** The newest checkpoint, once it is of this many entries. */
  const noteOf = async (size: number): Promise<string> => {
    for (;;) {
      const { text } = await service.get("/v1/ledger/checkpoint");
      if (text.split("\n")[1] === String(size)) return text;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const lines = async (): Promise<string[]> =>
    (await bytes("/v1/ledger/entries")).toString("latin1").split("\n").slice(0, -1);

  it("have checkpoints that an independent reader of C2SP accepts", async () => {
    const key = (await service.get("/v1/ledger/key")).text;
    for (const more of [0, 1, 6]) {
      await grow(more);
      const checkpoint = readCheckpoint(await noteOf(service.ledger.size), key);
      expect(checkpoint.origin).to.equal("tallystick.test/proofs");
      expect(checkpoint.size).to.equal(service.ledger.size);
      const leaves = (await lines()).map((line) => sha256(Uint8Array.of(0), line));
      expect(checkpoint.root.equals(rootOf(leaves))).to.equal(true);
    }
    const earlier = readCheckpoint((await service.get("/v1/ledger/checkpoint?size=1")).text, key);
    expect(toHex(earlier.root)).to.equal(toHex(service.ledger.tree.root(1)));
  });

  it("use checkpoints at fixed times and not for each request, so other sizes have no checkpoint", async () => {
    await grow(1);
    await noteOf(1);
    // All entries are on disk at the same moment, so the clock sees them together.
    await grow(40);
    await noteOf(41);
    const answers = await Promise.all(
      Array.from({ length: 42 }, (_, size) => service.get(`/v1/ledger/checkpoint?size=${size}`)),
    );
    const kept = answers.flatMap(({ status }, size) => (status === 200 ? [size] : []));
    expect(kept).to.deep.equal([0, 1, 41]);
    expect(answers[7]?.json).to.include({ status: 400, code: "no_checkpoint" });
    expect(await noteOf(41)).to.equal((await service.get("/v1/ledger/checkpoint?size=41")).text);
  });

  it("prove an entry with the next checkpoint, for which they wait", async () => {
    await grow(1);
    await noteOf(1);
    await grow(1);
    // After its first checkpoint, the service makes no other one for a second. Three requests that do not wait would end
    // before. A request waits three seconds, and a slow machine may need more.
    let json: unknown;
    for (let tries = 0; tries < 3; tries++) {
      const answer = await service.get("/v1/ledger/bundle?index=1");
      json = answer.json;
      if (answer.status === 200) break;
    }
    expect(verifyProofBundle(parseProofBundle(JSON.stringify(json))).index).to.equal(1);
  });

  it("keep the key of a ledger after restarts", async () => {
    const before = (await service.get("/v1/ledger/key")).text;
    await service.close();
    service = await openTestService(folder.path, { LEDGER_ORIGIN: "tallystick.test/proofs" });
    expect((await service.get("/v1/ledger/key")).text).to.equal(before);
  });

  it("show inclusion and consistency, by position and by hash", async () => {
    await grow(11);
    for (const [index, size] of [
      [0, 1],
      [3, 11],
      [10, 11],
      [4, 7],
    ] as const) {
      const { json } = await service.get(`/v1/ledger/proof?index=${index}&size=${size}`);
      const proof = json.proof.map((node: string) => fromHex(node));
      const [leafHash, root] = [fromHex(json.leaf_hash), fromHex(json.root)];
      expect(verifyInclusion({ leafHash, index, size, proof, root })).to.equal(true);
    }
    const { currentHash } = await service.ledger.entry(4);
    expect((await service.get(`/v1/ledger/proof?hash=${currentHash}`)).json).to.include({
      index: 4,
      size: 11,
    });
    const { json } = await service.get("/v1/ledger/consistency?from=4&to=11");
    const [fromRoot, toRoot] = [fromHex(json.from_root), fromHex(json.to_root)];
    const proof = json.proof.map((node: string) => fromHex(node));
    expect(verifyConsistency({ from: 4, to: 11, fromRoot, toRoot, proof })).to.equal(true);
  });

  it("name the parameter with an impossible value", async () => {
    await grow(2);
    for (const [at, field] of [
      ["/v1/ledger/proof", "index"],
      ["/v1/ledger/proof?index=-1", "index"],
      ["/v1/ledger/proof?index=2", "index"],
      ["/v1/ledger/proof?index=0&size=3", "size"],
      ["/v1/ledger/proof?hash=ab", "hash"],
      [`/v1/ledger/proof?hash=${"ab".repeat(32)}`, "hash"],
      ["/v1/ledger/consistency?from=2&to=1", "from"],
      ["/v1/ledger/consistency?from=0&to=3", "to"],
      ["/v1/ledger/checkpoint?size=3", "size"],
      ["/v1/ledger/bundle?index=2", "index"],
    ]) {
      const answer = await service.get(at as string);
      expect([answer.status, answer.json.errors[0].field], at).to.deep.equal([400, field]);
    }
  });

  it("are served as C2SP tiles, from which a client rebuilds the root of the checkpoint", async () => {
    await grow(300);
    const key = (await service.get("/v1/ledger/key")).text;
    await noteOf(300);
    const { size, root } = readCheckpoint((await bytes("/tlog/checkpoint")).toString("utf8"), key);
    expect(size).to.equal(300);
    const full = await bytes("/tlog/tile/0/000");
    const partial = await bytes("/tlog/tile/0/001.p/44");
    const leaves = Array.from({ length: 300 }, (_, i) =>
      Buffer.concat([full, partial]).subarray(32 * i, 32 * (i + 1)),
    );
    expect(rootOf(leaves).equals(root)).to.equal(true);
    const upper = await bytes("/tlog/tile/1/000.p/1");
    expect(upper.equals(rootOf(leaves.slice(0, 256)))).to.equal(true);
    const bundle = await bytes("/tlog/tile/entries/001.p/44");
    const entries: Buffer[] = [];
    for (let at = 0; at < bundle.length; ) {
      const length = bundle.readUInt16BE(at);
      entries.push(bundle.subarray(at + 2, at + 2 + length));
      at += 2 + length;
    }
    expect(entries.map((entry) => sha256(Uint8Array.of(0), entry))).to.deep.equal(leaves.slice(256));
    for (const missing of [
      "0/001",
      "0/001.p/45",
      "0/002.p/1",
      "1/000",
      "entries/001",
      "0/1",
      "0/000.p/256",
      "x",
    ]) {
      expect((await service.get(`/tlog/tile/${missing}`)).status, missing).to.equal(404);
    }
    expect((await service.app.request("/tlog/tile/0/000")).headers.get("cache-control")).to.contain(
      "immutable",
    );
  });

  it("number tiles as C2SP requires", () => {
    expect([0, 67, 999, 1000, 1234067].map(formatTileIndex)).to.deep.equal([
      "000",
      "067",
      "999",
      "x001/000",
      "x001/x234/067",
    ]);
    expect(parseTilePath("2/x001/x234/067.p/8")).to.deep.equal({ level: 2, index: 1234067, width: 8 });
    for (const other of [
      "0/x000/001",
      "0/0001",
      "00/001",
      "64/000",
      "0/001.p/0",
      "0/001.p/08",
      "entries/x1",
    ]) {
      expect(parseTilePath(other), other).to.equal(undefined);
    }
  });

  describe("in a file", () => {
    const proofFile = async (index = 5): Promise<string> => {
      await grow(9);
      const file = path.join(folder.path, "entry.proof");
      writeFileSync(file, (await service.get(`/v1/ledger/bundle?index=${index}`)).text);
      return file;
    };

    it("are valid offline, with the ledger's key", async () => {
      const key = (await service.get("/v1/ledger/key")).text.trim();
      const result = await verifyProofFile(await proofFile(), { key: [key] });
      const { currentHash } = await service.ledger.entry(5);
      expect(result).to.include({
        valid: true,
        hash: currentHash,
        index: 5,
        size: 9,
        key_given: true,
        ledger: null,
      });
    });

    it("are not valid for another key, another ledger, or a chain without them", async () => {
      const file = await proofFile();
      const other = "tallystick.test/proofs+00000000+AQ==";
      expect((await verifyProofFile(file, { key: [other] }).catch((error) => error)).code).to.equal(
        "invalid_input",
      );
      const wrong = await verifyProofFile(file, { ledger: `0x${"ab".repeat(32)}` }).catch((error) => error);
      expect(wrong).to.be.instanceOf(ProofError);
      const chain = await verifyProofFile(file, { rpcUrl: "http://127.0.0.1:1" }).catch((error) => error);
      expect(chain).to.be.instanceOf(ProofError);
    });

    it("are not valid after any change", async () => {
      await grow(9);
      const bundle = (await service.get("/v1/ledger/bundle?index=5")).json;
      const other = (await service.get("/v1/ledger/bundle?index=6")).json;
      const flip = (hex: string) => hex.replace(/.$/, (digit) => (digit === "0" ? "1" : "0"));
      const changes: object[] = [
        { entry: bundle.entry.replace('"i": 5', '"i": 6') },
        { entry: bundle.entry.replace(/"current_hash": "../, '"current_hash": "00') },
        { entry: other.entry },
        { index: 6 },
        { inclusion_proof: other.inclusion_proof },
        { inclusion_proof: bundle.inclusion_proof.slice(1) },
        { inclusion_proof: bundle.inclusion_proof.map(flip) },
        { checkpoint: bundle.checkpoint.replace("\n9\n", "\n8\n") },
        { checkpoint: bundle.checkpoint.replace("tallystick.test/proofs\n", "tallystick.test/other\n") },
        { checkpoint: "nothing" },
        { verifier_key: "nothing" },
        { format: "other" },
        { more: 1 },
      ];
      expect(() => verifyProofBundle(parseProofBundle(JSON.stringify(bundle)))).not.to.throw();
      for (const change of changes) {
        const text = JSON.stringify({ ...bundle, ...change });
        expect(() => verifyProofBundle(parseProofBundle(text)), JSON.stringify(change)).to.throw();
      }
    });
  });
});
