import { expect } from "chai";
import { wallet } from "../eventLog.ts";
import { IDENTITY, LISTED, REPUTATION, RegistryLog, UNLISTED } from "./registryLog.ts";

const [OWNER, CLIENT, OTHER] = [1, 2, 3].map(wallet) as [`0x${string}`, `0x${string}`, `0x${string}`];
const FILE = `0x${"f1".repeat(32)}`;
/** A text that the log has cut, because it was longer than 256 bytes. */
const cut = (text: string) => ({ text, bytes: 300, hash: `0x${"c7".repeat(32)}` });
const of = { value: "-5", decimals: 2, tag1: "quality", tag2: cut("second"), endpoint: "https://a.example" };

describe("the rows of identities", () => {
  it("have everything that the registries say of an identity", async () => {
    const log = new RegistryLog();
    log.after(60);
    const tx = log.register(7, OWNER, { uri: "https://agent.example/\u00e9" });
    const minted = { block: log.block, time: log.time };
    const placed = log.events
      .filter((it) => it.block === log.block)
      .map((it) => ("log" in it ? it.log : null));
    const [mintedLog, , linkedLog] = placed;
    const first = (await log.derive()).store;
    const row = {
      ...{ id: "7", owner: OWNER, wallet: OWNER, links: 1, uri: "https://agent.example/\u00e9" },
      ...{ uriBytes: 24, uriHash: null, registeredBlock: minted.block, registeredTime: minted.time },
      ...{ registeredLog: mintedLog, registeredTx: tx, movedAtOnce: false, transfers: 0 },
    };
    expect([...first.rows("identity").values()]).to.deep.equal([row]);
    const link = {
      ...{ id: "7/1", identity: "7", wallet: OWNER, fromBlock: minted.block, fromTime: minted.time },
      ...{ fromLog: linkedLog, untilBlock: null, untilTime: null, untilLog: null },
      ...{ feedback: 0, backed: 0, self: 0, revoked: 0 },
    };
    expect([...first.rows("identityLink").values()]).to.deep.equal([link]);

    log.after(60).registry("identity.uriUpdated", {
      ...{ identity: "7", by: OWNER, uri: cut("data:"), tx: log.hash() },
    });
    log.registry("identity.uriUpdated", { identity: "8", by: OWNER, uri: "nobody's", tx: log.hash() });
    log.after(60).sold(7, OWNER, OTHER);
    const left = log.events.at(-2);
    log.after(60).moved(7, OTHER, CLIENT);
    log.wallet(7, CLIENT);
    const { store } = await log.derive();
    expect([...store.rows("identity").values()]).to.deep.equal([
      {
        ...{ ...row, owner: CLIENT, wallet: CLIENT, links: 2, transfers: 2 },
        ...{ uri: "data:", uriBytes: 300, uriHash: cut("").hash },
      },
    ]);
    const [old, present] = store.rows("identityLink").values();
    const leftLog = left !== undefined && "log" in left ? left.log : null;
    expect(old).to.deep.equal({
      ...{ ...link, untilBlock: left?.block, untilTime: left?.time, untilLog: leftLog },
    });
    expect(present).to.include({ id: "7/2", wallet: CLIENT, fromBlock: log.block, untilBlock: null });
  });

  it("have everything that clients say of an identity, and that others answer", async () => {
    const log = new RegistryLog();
    log.register(7, OWNER);
    const id = log.after(60).feedback(7, CLIENT, { ...of, uri: cut("ipfs:"), hash: FILE });
    const given = log.events.at(-1);
    log.after(60).responded(id, OTHER);
    const { store } = await log.derive();
    const tx = given?.kind === "feedback.given" ? given.tx : null;
    expect([...store.rows("feedback").values()]).to.deep.equal([
      {
        ...{ id, identity: "7", client: CLIENT, agent: OWNER, link: "7/1", value: -5n, valueDecimals: 2 },
        ...{ tag1: "quality", tag2: "second", endpoint: "https://a.example", uri: "ipfs:", uriBytes: 300 },
        ...{ uriHash: cut("").hash, fileHash: FILE, block: given?.block, time: given?.time, log: 0, tx },
        ...{ standing: "unproven", selfReason: null, hire: null, isRevoked: false, responses: 1 },
      },
    ]);
    const answer = log.events.at(-1);
    expect([...store.rows("feedbackResponse").values()]).to.deep.equal([
      {
        ...{ id: `${id}/1`, feedback: id, responder: OTHER, uri: "https://answer.example", uriBytes: 22 },
        ...{ uriHash: null, fileHash: `0x${"0".repeat(64)}`, block: log.block, time: log.time, log: 0 },
        tx: answer?.kind === "feedback.responded" ? answer.tx : null,
      },
    ]);
  });

  it("count in a link its feedback, and of it the backed, the agent's own and the revoked", async () => {
    const log = new RegistryLog();
    log.listing(OWNER, "text.translate");
    log.after(1).register(7, OWNER);
    log.after(1).hire(OWNER, CLIENT);
    const [backed, own] = [log.feedback(7, CLIENT), log.feedback(7, OWNER)];
    const counts = async () => {
      const [link] = (await log.derive()).store.rows("identityLink").values();
      return [link?.feedback, link?.backed, link?.self, link?.revoked];
    };
    expect(await counts()).to.deep.equal([2, 1, 1, 0]);
    log.revoked(own);
    expect(await counts()).to.deep.equal([2, 1, 0, 1]);
    log.revoked(backed);
    expect(await counts()).to.deep.equal([2, 0, 0, 2]);
    log.revoked(backed).revoked(`7/${CLIENT}/9`);
    expect(await counts()).to.deep.equal([2, 0, 0, 2]);
  });

  it("take no feedback twice, and no revocation, response, metadata or move of another registry", async () => {
    const log = new RegistryLog();
    log.register(7, OWNER);
    const id = log.feedback(7, CLIENT);
    const before = (await log.derive()).store;
    const given = log.events.at(-1);
    log.push({ ...given, log: 99, value: "1", registry: REPUTATION });
    const start = log.events.length;
    log.revoked(id).responded(id, OTHER).wallet(7, OTHER).sold(7, OWNER, OTHER);
    for (const event of log.events.splice(start))
      log.events.push({ ...event, registry: UNLISTED } as typeof event);
    const { store } = await log.derive();
    for (const table of ["identity", "identityLink", "feedback", "feedbackResponse"] as const)
      expect([...store.rows(table)], table).to.deep.equal([...before.rows(table)]);
  });

  it("say of a registry what it runs, and where its reading began or ended", async () => {
    const log = new RegistryLog({}, false);
    log.after(60).upgraded(IDENTITY, UNLISTED);
    const of = { id: "identity", address: IDENTITY, listed: LISTED };
    const row = async () => (await log.derive()).store.rows("registry").get("identity");
    expect(await row()).to.deep.equal({
      ...{ ...of, implementation: UNLISTED, status: "waiting", block: null, time: null, log: null },
    });
    log.after(60).upgraded(IDENTITY);
    const read = { block: log.block, time: log.time, log: 0 };
    expect(await row()).to.deep.equal({ ...of, implementation: LISTED, status: "read", ...read });
    // The same implementation again changes nothing.
    log.after(60).upgraded(IDENTITY);
    expect(await row()).to.deep.equal({ ...of, implementation: LISTED, status: "read", ...read });
    log.after(60).upgraded(IDENTITY, UNLISTED);
    const ended = { block: log.block, time: log.time, log: 0 };
    expect(await row()).to.deep.equal({ ...of, implementation: UNLISTED, status: "unread", ...ended });
    log.after(60).upgraded(wallet(77));
    expect(await row()).to.deep.equal({ ...of, implementation: UNLISTED, status: "unread", ...ended });
  });
});
