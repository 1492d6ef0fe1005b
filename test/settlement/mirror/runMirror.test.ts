import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import type { Server } from "node:http";
import path from "node:path";
import { expect } from "chai";
import { toHex } from "tallystick-protocol/hex";
import { formatVerifierKey } from "tallystick-protocol/note/signedNote";
import { compiledOnce, nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import { waitUntil } from "../../../scripts/processes/waitUntil.ts";
import type { DiskLedger } from "../../../services/settlement/ledger/diskLedger.ts";
import { pullLedger } from "../../../services/settlement/ledger/pullLedger.ts";
import { type MirrorConfig, readMirrorConfig } from "../../../services/settlement/mirror/mirrorConfig.ts";
import { type RunningMirror, runMirror } from "../../../services/settlement/mirror/runMirror.ts";
import { verifyStaticLog } from "../../../services/settlement/staticLog/verifyStaticLog.ts";
import { CREDENTIALS, type ObjectStore, startObjectStore } from "../../support/objectStore.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";
import { type Answer, grow, key, logOf, noteOf, ORIGIN, openLedger, serveAs } from "./support.ts";

const LEDGER = `0x${"1e".repeat(32)}` as const;

describe("a running mirror", () => {
  const temporary = temporaryFolder();
  const answer: { now: Answer } = { now: (_request, response) => response.end() };
  let source: string;
  let server: Server;
  let ledger: DiskLedger;
  let running: RunningMirror | undefined;
  let store: ObjectStore | undefined;

  before(async () => {
    ({ url: source, server } = await serveAs(answer));
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(async () => {
    ledger = await openLedger(temporary.path, 600);
    answer.now = logOf(ledger);
  });
  afterEach(async () => {
    await running?.close();
    running = undefined;
    await store?.close();
    store = undefined;
    await ledger.close();
  });

  const environment = () => ({
    MIRROR_DIR: path.join(temporary.path, "mirror"),
    MIRROR_VKEY: formatVerifierKey(key),
    MIRROR_LEDGER: LEDGER,
    MIRROR_PORT: "0",
    MIRROR_REQUESTS_PER_ADDRESS: "0",
  });

  async function run(more: Partial<MirrorConfig> = {}): Promise<RunningMirror> {
    const config = { ...readMirrorConfig(environment()), everySeconds: 0.05, ...more };
    running = await runMirror({
      config,
      source,
      recheck: false,
      now: () => Date.now() / 1000,
      log: () => {},
    });
    return running;
  }

  const untilSize = ({ state }: RunningMirror, size: number) =>
    waitUntil(async () => state().size === size, { what: `${size} entries`, withinMs: 120_000, everyMs: 10 });

  it("serves the same routes as other followers, and the log, up to the verified entry", async () => {
    const mirror = await run();
    await untilSize(mirror, 600);
    const get = (at: string) => fetch(`${mirror.url}${at}`);
    const lines = readFileSync(ledger.path, "latin1").trimEnd().split("\n");
    for (const [from, to] of [
      [0, 600],
      [250, 260],
      [599, 600],
      [600, 600],
    ] as const) {
      const page = await get(`/v1/ledger/entries?ledger=${LEDGER}&from=${from}&to=${to}`);
      expect(page.headers.get("x-ledger-size")).to.equal("600");
      expect(await page.text()).to.equal(
        lines
          .slice(from, to)
          .map((line) => `${line}\n`)
          .join(""),
      );
    }
    const { status: beyond } = await get("/v1/ledger/entries?from=0&to=601");
    const { status: odd } = await get("/v1/ledger/entries?from=x");
    const { status: other } = await get(`/v1/ledger/entries?ledger=0x${"00".repeat(32)}`);
    const { status: nowhere } = await get("/tlog/tile/0/003");
    expect([beyond, odd, other, nowhere]).to.deep.equal([400, 400, 404, 404]);
    expect(await (await get("/v1/ledger/latest")).json()).to.deep.equal({
      ledger: LEDGER,
      origin: ORIGIN,
      size: 600,
      hash: ledger.head,
      root: toHex(ledger.tree.root()),
    });
    expect(await (await get("/v1/ledger/checkpoint")).text()).to.equal(noteOf(ledger));
    expect((await verifyStaticLog({ source: mirror.url, keys: [key] })).size).to.equal(600);
    // The mirror also serves a tile as it was when the log was shorter.
    const bytes = Buffer.from(await (await get("/tlog/tile/entries/002.p/3")).arrayBuffer());
    expect(bytes.length).to.equal(lines.slice(512, 515).reduce((sum, line) => sum + 2 + line.length, 0));
    expect((await get("/health")).status).to.equal(200);
    expect(await (await get("/metrics")).text()).to.match(/^tallystick_mirror_entries 600$/m);
  });

  it("charges a client for the whole bundle that it reads, also for a single line of it", async () => {
    const long = await openLedger(temporary.path, 256, "x".repeat(20_000));
    answer.now = logOf(long);
    const mirror = await run({ requestsPerAddress: 60 });
    await untilSize(mirror, 256);
    await long.close();
    const ask = async () => (await fetch(`${mirror.url}/v1/ledger/entries?from=255&to=256`)).status;
    expect([await ask(), await ask()]).to.deep.equal([200, 429]);
  });

  it("charges a client for the whole tile that it reads, also if it asks for no bytes", async () => {
    const long = await openLedger(temporary.path, 256, "x".repeat(20_000));
    answer.now = logOf(long);
    const mirror = await run({ requestsPerAddress: 60 });
    await untilSize(mirror, 256);
    await long.close();
    const head = async () => (await fetch(`${mirror.url}/tlog/tile/entries/000`, { method: "HEAD" })).status;
    expect([await head(), await head()]).to.deep.equal([200, 429]);
  });

  it("gives a lost ledger back, up to its last anchor", async () => {
    const mirror = await run();
    await untilSize(mirror, 600);
    const anchored = { size: 580, root: toHex(ledger.tree.root(580)) };
    const folder = path.join(temporary.path, "restored");
    const pulled = await pullLedger({ folder, baseUrl: mirror.url, ledgerId: LEDGER, anchored });
    expect(pulled).to.include({ size: 580, fetched: 580 });
  });

  it("is unhealthy while its source lies, keeps serving, and follows when the source is correct", async () => {
    const mirror = await run();
    await untilSize(mirror, 600);
    const forged = await openLedger(temporary.path, 700, "forged");
    answer.now = logOf(forged);
    const health = async () => (await fetch(`${mirror.url}/health`)).json() as Promise<{ code?: string }>;
    await waitUntil(async () => (await health()).code === "ledger_forked", {
      what: "a mirror that refuses",
      withinMs: 120_000,
      everyMs: 20,
    });
    // Strangers read neither where the source is nor what it says.
    const told = JSON.stringify(await health());
    expect(told).to.contain('"reason":"The ledger has two histories."').and.not.to.contain(source);
    expect((await fetch(`${mirror.url}/v1/ledger/entries?from=0&to=3`)).status).to.equal(200);
    await forged.close();
    await grow(ledger, 700);
    answer.now = logOf(ledger);
    await untilSize(mirror, 700);
    // The entries are there a moment before the mirror agrees.
    await waitUntil(async () => (await fetch(`${mirror.url}/health`)).status === 200, {
      what: "a mirror that agrees",
      withinMs: 120_000,
      everyMs: 20,
    });
  });

  it("copies itself into an object store, and reports in its health when this fails", async () => {
    store = await startObjectStore();
    const bucket = { ...CREDENTIALS, url: `${store.url}/bucket/log` };
    const mirror = await run({ bucket });
    await untilSize(mirror, 600);
    const size = async () => {
      const { bucket: copy } = (await (await fetch(`${mirror.url}/health`)).json()) as {
        bucket: { size?: number; code?: string };
      };
      return copy;
    };
    await waitUntil(async () => (await size()).size === 600, {
      what: "a copy",
      withinMs: 120_000,
      everyMs: 20,
    });
    store.objects.set("bucket/log/checkpoint", Buffer.from("somebody else's"));
    await waitUntil(async () => (await size()).code === "bucket_contradicts", {
      what: "a copy that stops",
      withinMs: 120_000,
      everyMs: 20,
    });
    expect(store.objects.get("bucket/log/checkpoint")?.toString()).to.equal("somebody else's");
    // Strangers see that the copy stops, and not where it is.
    const health = await (await fetch(`${mirror.url}/health`)).text();
    expect(health).to.contain("bucket_contradicts").and.not.to.contain(store.url);
  });

  it("continues where it was after it is killed while it fetches", async () => {
    const good = answer.now;
    answer.now = async (request, response, name) => {
      if (name === "tile/entries/002.p/88") return;
      return good(request, response, name);
    };
    const child = spawn(process.execPath, nodeProgram("scripts/cli.ts", ["ledger", "mirror", source]), {
      env: { PATH: process.env.PATH, ...compiledOnce, ...environment() },
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const [line] = (await once(child.stdout, "data")) as [Buffer];
      expect(JSON.parse(line.toString()).listening).to.match(/^http/);
      const folder = environment().MIRROR_DIR;
      const has = (name: string) => readdirSync(path.join(folder, "tile/entries")).includes(name);
      await waitUntil(
        async () => {
          try {
            return has("001");
          } catch {
            return false;
          }
        },
        { what: "two bundles", withinMs: 120_000, everyMs: 20 },
      );
      const taken = await run().then(
        () => "runs",
        (error) => error.code,
      );
      expect(taken).to.equal("ledger_locked");
    } finally {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
    answer.now = good;
    const mirror = await run();
    await untilSize(mirror, 600);
    expect((await verifyStaticLog({ source: mirror.folder, keys: [key] })).size).to.equal(600);
  });

  describe("and its settings", () => {
    const fieldsOf = (more: Record<string, string | undefined>) => {
      try {
        readMirrorConfig({ ...environment(), ...more });
        return [];
      } catch (error) {
        return (error as { issues: { field: string }[] }).issues.map(({ field }) => field);
      }
    };

    it("name what is missing or wrong", () => {
      expect(fieldsOf({})).to.deep.equal([]);
      expect(fieldsOf({ MIRROR_VKEY: undefined })).to.deep.equal(["MIRROR_VKEY"]);
      expect(fieldsOf({ MIRROR_VKEY: "no key" })).to.deep.equal(["MIRROR_VKEY"]);
      expect(fieldsOf({ MIRROR_POLICY: "/nowhere" })).to.deep.equal(["MIRROR_POLICY"]);
      expect(fieldsOf({ MIRROR_INTERVAL_SECONDS: "0" })).to.deep.equal(["MIRROR_INTERVAL_SECONDS"]);
      const contract = `0x${"ab".repeat(20)}`;
      expect(fieldsOf({ ANCHORED_LEDGER: contract })).to.deep.equal(["RPC_URL"]);
      expect(fieldsOf({ ANCHORED_LEDGER: contract, RPC_URL: "http://rpc", CHAIN_ID: "8453" })).to.deep.equal(
        [],
      );
      expect(fieldsOf({ MIRROR_S3_URL: "https://s3.example/bucket" })).to.deep.equal([
        "MIRROR_S3_ACCESS_KEY_ID",
      ]);
      expect(fieldsOf({ MIRROR_S3_URL: "s3://bucket" })).to.deep.equal(["MIRROR_S3_URL"]);
    });
  });
});
