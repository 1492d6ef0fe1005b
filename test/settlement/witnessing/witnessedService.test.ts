import { cpSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { cosignedAt, parseCosignerKey } from "tallystick-protocol/note/cosignature";
import { isNoteSignedBy, parseSignedNote } from "tallystick-protocol/note/signedNote";
import { parseVerifierKeys } from "tallystick-protocol/note/verifierKeys";
import { verifyTlogProofText } from "../../../scripts/verification/verifyTlogProofText.ts";
import { type RunningWitness, runWitness } from "../../../services/witness/runWitness.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { API_KEY, openTestService, type TestService } from "../support/testService.ts";

const ORIGIN = "tallystick.local/ledger";
const NAMES = ["w1", "w2", "w3"];

describe("a ledger with witnesses", () => {
  const folder = temporaryFolder();
  const witnesses: RunningWitness[] = [];
  const services: TestService[] = [];
  let policy: string;
  let vkey: string;

  /** Starts three real witnesses, each on its own port. They know the ledger's key, which its first start makes. */
  beforeEach(async () => {
    const first = await openTestService(path.join(folder.path, "ledger"));
    vkey = (await first.get("/v1/ledger/key")).text.trim();
    await first.close();
    for (const name of NAMES) await startWitness(name);
    const lines = witnesses.map(({ verifierKey, url }, at) => `witness ${NAMES[at]} ${verifierKey} ${url}`);
    policy = path.join(folder.path, "policy");
    writeFileSync(policy, `log ${vkey}\n${lines.join("\n")}\ngroup two 2 ${NAMES.join(" ")}\nquorum two\n`);
  });
  afterEach(async () => {
    for (const service of services.splice(0)) await service.close();
    for (const witness of witnesses.splice(0)) await witness.close();
  });

  async function startWitness(name: string): Promise<void> {
    witnesses.push(
      await runWitness({
        config: {
          name: `witness.test/${name}`,
          host: "127.0.0.1",
          port: 0,
          folder: path.join(folder.path, name),
          logs: parseVerifierKeys(vkey),
          requestsPerAddress: 0,
          trustedProxies: 0,
        },
        now: () => 1_767_225_600,
        onFault: () => {},
      }),
    );
  }

  async function open(at = "ledger"): Promise<TestService> {
    const service = await openTestService(path.join(folder.path, at), { WITNESS_POLICY: policy });
    services.push(service);
    return service;
  }

  async function settle(service: TestService, task: string) {
    const { json: latest } = await service.get("/v1/ledger/latest");
    return service.post(
      "/v1/settle",
      {
        header: { task_id: task, parent_hash: latest.hash },
        payload: { data_update: { task }, confidence_score: 0.9 },
      },
      { authorization: `Bearer ${API_KEY}` },
    );
  }

  /** The newest witnessed checkpoint, as soon as it has this many entries. */
  async function witnessed(service: TestService, size: number) {
    for (let tries = 0; tries < 3_000; tries++) {
      const { status, text } = await service.get("/v1/ledger/checkpoint?witnessed=true");
      if (status === 200 && Number(text.split("\n")[1]) >= size) return parseSignedNote(text);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error("no quorum has cosigned");
  }

  it("gives checkpoints that the log and a quorum have signed, and proofs that fit the policy", async () => {
    const service = await open();
    for (const task of ["a", "b", "c"]) expect((await settle(service, task)).status).to.equal(200);
    const note = await witnessed(service, 3);
    expect(isNoteSignedBy(note, parseVerifierKeys(vkey)[0]!)).to.equal(true);
    const signed = witnesses.filter(
      ({ verifierKey }) => cosignedAt(note, parseCosignerKey(verifierKey)) !== undefined,
    );
    expect(signed.length).to.be.at.least(2);

    const proof = await service.get("/v1/ledger/tlog-proof?index=1");
    expect(proof.status).to.equal(200);
    const shown = await verifyTlogProofText(proof.text, policy);
    expect(shown).to.include({ valid: true, index: 1, task_id: "b", size: 3, origin: ORIGIN });
    expect(Object.keys(shown.witnesses).length).to.be.at.least(2);
    const { json } = await service.get("/health");
    expect(json.witnesses.map(({ name }: { name: string }) => name)).to.deep.equal(NAMES);
    // The quorum may be there before this witness answers.
    while (!/tallystick_cosigned_entries\{witness="w1"\} 3/.test((await service.get("/metrics")).text))
      await new Promise((resolve) => setTimeout(resolve, 20));
  });

  it("accepts no writes from a copy that is older than its witnesses' last checkpoint", async () => {
    const service = await open();
    await settle(service, "a");
    await witnessed(service, 1);
    await service.close();
    services.splice(0);
    cpSync(path.join(folder.path, "ledger"), path.join(folder.path, "backup"), { recursive: true });
    const again = await open();
    await settle(again, "b");
    await witnessed(again, 2);
    await again.close();
    services.splice(0);

    // A start waits five seconds for its witnesses. On a slow machine they may need more.
    const { setTimeout: real } = globalThis;
    globalThis.setTimeout = ((run: () => void, ms: number, ...more: []) =>
      real(run, ms === 5_000 ? 120_000 : ms, ...more)) as never;
    const restored = await open("backup").finally(() => {
      globalThis.setTimeout = real;
    });
    expect(await settle(restored, "another b")).to.deep.include({ status: 503 });
    expect((await settle(restored, "another b")).json).to.include({ code: "witness_ahead" });
    expect((await restored.get("/v1/ledger/checkpoint")).json).to.include({ code: "witness_ahead" });
    expect((await restored.get("/health")).status).to.equal(503);
    // Reads still work.
    expect((await restored.get("/v1/ledger/latest")).status).to.equal(200);
  });

  it("continues while no witness answers, and reports that no witness has cosigned its checkpoints", async () => {
    for (const witness of witnesses.splice(0)) await witness.close();
    const service = await open();
    expect((await settle(service, "a")).status).to.equal(200);
    expect(await service.get("/v1/ledger/checkpoint?witnessed=true")).to.include({ status: 503 });
    expect((await service.get("/v1/ledger/checkpoint?witnessed=true")).json).to.include({
      code: "not_witnessed",
    });
    expect((await service.get("/v1/ledger/checkpoint")).status).to.equal(200);
    // A proof without cosignatures does not satisfy the policy, and the refusal says so.
    let proof = await service.get("/v1/ledger/tlog-proof?index=0");
    // On a slow machine the service may stop waiting for its checkpoint.
    while (proof.status === 503) proof = await service.get("/v1/ledger/tlog-proof?index=0");
    const { text } = proof;
    const refused = await verifyTlogProofText(text, policy).catch((error) => error);
    expect(refused.message).to.match(/quorum two has not cosigned the checkpoint; of its witnesses: none/);
  });

  for (const [query, field] of [
    ["witnessed=yes", "witnessed"],
    ["witnessed=true&size=1", "witnessed"],
  ]) {
    it(`refuses ${query}`, async () => {
      const { status, json } = await (await open()).get(`/v1/ledger/checkpoint?${query}`);
      expect(status).to.equal(400);
      expect(json.errors[0].field).to.equal(field);
    });
  }

  it("leaves no unfinished key in a witness's folder", () => {
    expect(readdirSync(path.join(folder.path, "w1")).filter((name) => /unfinished/.test(name))).to.deep.equal(
      [],
    );
  });
});
