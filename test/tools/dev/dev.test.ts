import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { announceNode } from "../../../scripts/demo/runFolder.ts";
import { waitUntil } from "../../../scripts/processes/waitUntil.ts";
import { openApiDatabase } from "../../../tools/bench/api/apiDatabase.ts";
import { EventLog, LEDGER, TOKEN, wallet } from "../../derive/eventLog.ts";
import { untilGone } from "../../scripts/fixtures/gone.ts";
import { testDatabase } from "../../support/testDatabase.ts";
import { copyRooms } from "./support/copyRooms.ts";

const APP = "indexer/api/app.ts";

describe("npm run dev", function () {
  this.timeout(400_000);
  this.slow(10_000);

  let copy: ReturnType<typeof copyRooms>;
  let database: Awaited<ReturnType<typeof openApiDatabase>>;
  let settings: { DATABASE_URL: string; DATABASE_SCHEMA: string };

  before(async () => {
    copy = copyRooms();
    const databaseUrl = await testDatabase();
    settings = { DATABASE_URL: databaseUrl, DATABASE_SCHEMA: "public" };
    database = await openApiDatabase(databaseUrl);
    const log = new EventLog();
    log.hire(wallet(1), wallet(2));
    const { store } = await log.after(60).tick().derive();
    await database.fill(store);
  });

  after(async () => {
    await copy?.close();
    await database?.close();
  });

  it("gives advice when no demo runs, and ends when nothing is indexed yet", async () => {
    const noDemo = copy.run(["dev"]);
    expect(await noDemo.nextLine("stderr", /error:/)).to.contain("No demo keeps running");
    expect(await noDemo.nextLine("stderr", /hint:/)).to.contain("npm run demo -- --keep");
    expect(await noDemo.ended).to.equal(1);
    const early = copy.run(["dev"], settings);
    expect(await early.nextLine("stderr", /error:/)).to.contain("has not written anything yet");
    expect(await early.ended).to.equal(1);
  });

  it("answers from the rows of a demo, and uses new code after each change", async () => {
    await database.pool.query("INSERT INTO token VALUES ($1)", [TOKEN]);
    const checkpoint = `1767225660${String(31_337).padStart(16, "0")}${"0".repeat(49)}`;
    await database.pool.query("INSERT INTO _ponder_checkpoint VALUES ($1)", [checkpoint]);
    // The files of two demos. The process of the first demo is this process. The process of the second demo does not exist.
    const demos = path.join(copy.root, ".tallystick/demo");
    for (const run of ["1", "2"]) mkdirSync(path.join(demos, run), { recursive: true });
    await announceNode(path.join(demos, "1"), {
      url: "http://127.0.0.1:9",
      databaseUrl: settings.DATABASE_URL,
      databaseSchema: settings.DATABASE_SCHEMA,
      settlementUrl: "http://127.0.0.1:9",
      ledger: LEDGER,
    });
    writeFileSync(path.join(demos, "2/node.json"), JSON.stringify({ pid: 2 ** 22 + 1 }));

    const dev = copy.run(["dev"]);
    const { listening } = JSON.parse(await dev.nextLine("stdout", /listening/));
    // On a busy machine the database may not answer for a second. Then the API answers 503.
    const read = (place: string) =>
      waitUntil(
        async () => {
          const answer = await fetch(`${listening}${place}`);
          return answer.status !== 503 && answer.json();
        },
        { what: `an answer at ${place}`, withinMs: 60_000, everyMs: 100 },
      );
    const agent = `/v1/agents/${wallet(1)}/reputation`;
    expect(await read(agent)).to.include({ last_30d_hire_count_raw: 1 });
    const query = "/graphql?query={meta{chainId%20token{address}}}";
    expect(await read(query)).to.deep.include({
      data: { meta: { chainId: 31_337, token: { address: TOKEN } } },
    });
    expect((await fetch(`${listening}/v1/ledger/entries?ledger=${LEDGER}`)).status).to.equal(200);

    copy.edit(APP, "const app = new Hono();", 'const app = new Hono();\n  console.log("made anew");');
    expect(await dev.nextLine("stderr", /^Changed:/)).to.equal(`Changed: ${APP}`);
    await dev.nextLine("stderr", /✔ API/);
    await dev.nextLine("stderr", /^made anew$/);

    copy.edit(APP, "export function createApi(", "export function createApi((");
    await dev.nextLine("stderr", /SyntaxError|TransformError/);
    await dev.nextLine("stderr", /starts again with the next change/);

    copy.edit("packages/derive/publishedFields.ts", "agent.windowHires,", "agent.windowHires + 41,");
    copy.edit(APP, "export function createApi((", "export function createApi(");
    await dev.nextLine("stderr", /✔ API/);
    expect(await read(agent)).to.include({ last_30d_hire_count_raw: 42 });

    const { code, words } = await dev.end("SIGTERM");
    expect(code, words).to.equal(143);
    await untilGone({ pids: [], ports: [Number(new URL(listening).port)] });
  });
});
