import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { serve } from "@hono/node-server";
import { expect } from "chai";
import { MAX_FILE_BYTES, writeJsonFile } from "tallystick-protocol/erc8004/jsonFile";
import { reputationRegistryAbi } from "tallystick-protocol/erc8004/reputationRegistryAbi";
import type { TallystickError } from "tallystick-protocol/errors";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { verifyProofBundle } from "tallystick-protocol/proof/proofBundle";
import { signRecord } from "tallystick-protocol/records/record";
import { createAuditor } from "tallystick-sdk/auditor/createAuditor";
import { createTransactionSender } from "tallystick-sdk/chain/transactionSender";
import { verifyFeedback } from "tallystick-sdk/erc8004/verifyFeedback";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { feedback } from "../../../scripts/erc8004/feedback.ts";
import type { PostOptions } from "../../../scripts/erc8004/openPosting.ts";
import { postedText } from "../../../scripts/erc8004/postedText.ts";
import { readAnyFile } from "../../../scripts/erc8004/readAnyFile.ts";
import { register } from "../../../scripts/erc8004/register.ts";
import { registriesOf } from "../../../scripts/erc8004/registryOptions.ts";
import { respond } from "../../../scripts/erc8004/respond.ts";
import { auditedHire, openHolder, passes, shows } from "../../sdk/audits/auditScene.ts";
import { MEAN, mean, NODE } from "../../sdk/support/market.ts";
import { useMarket } from "../../sdk/support/useMarket.ts";
import { commandHere } from "../../support/commandHere.ts";
import { type Deployer, deployRegistries } from "../../support/deployRegistries.ts";

/** Expects that verify-feedback accepts a response with a verdict, and names every change in it. */
async function expectReadAs(text: string, hash: string): Promise<void> {
  const holding = await verifyFeedback(text, { hash, isResponse: true });
  expect(holding.findings.filter(({ holds }) => holds === false)).to.deep.equal([]);
  expect(holding.findings.filter(({ holds }) => holds).map(({ field }) => field)).to.deep.equal([
    ...["file", "verdict_proof", "verdict_proof.entry.signature", "receipt_proof"],
    ...["receipt_proof.entry.signature", "clientAddress", "verdict_proof.ledger"],
  ]);
  const unchecked = holding.findings.filter(({ holds }) => holds === null).map(({ field }) => field);
  const anchors = ["verdict_proof.anchor", "receipt_proof.anchor"];
  expect(unchecked).to.deep.equal(["verdict_proof.auditor", ...anchors, "event"]);
  const file = JSON.parse(text);
  const wrongOf = async (changes: object) => {
    const { valid, findings } = await verifyFeedback(writeJsonFile({ ...file, ...changes }).text, {
      isResponse: true,
    });
    return [valid, ...findings.filter(({ holds }) => holds === false).map(({ field }) => field)];
  };
  const other = file.clientAddress.replace(/.$/, (last: string) => (last === "0" ? "1" : "0"));
  const index = { ...file.verdict_proof, index: file.verdict_proof.index + 1 };
  expect(await wrongOf({ clientAddress: other })).to.deep.equal([false, "receipt_proof.entry"]);
  expect(await wrongOf({ verdict_proof: file.receipt_proof })).to.deep.equal([false, "verdict_proof.entry"]);
  expect((await wrongOf({ verdict_proof: index }))[0]).to.equal(false);
  expect((await wrongOf({ note: "more" }))[0]).to.equal(false);
  expect((await verifyFeedback(text, { hash: `0x${"00".repeat(32)}`, isResponse: true })).valid).to.equal(
    false,
  );
  await expectNoFeedback(text);
}

/** Expects that verify-feedback says of a note about spam that it proves nothing. */
async function expectSpamRead(text: string): Promise<void> {
  const { valid, findings } = await verifyFeedback(text, { isResponse: true });
  expect(valid).to.equal(true);
  expect(findings.find(({ field }) => field === "spam")).to.deep.include({ holds: null });
  await expectNoFeedback(text);
}

/** Expects that a response does not pass as a feedback, although each of its own checks holds. */
async function expectNoFeedback(text: string): Promise<void> {
  const { valid, file, findings } = await verifyFeedback(text);
  expect([valid, file]).to.deep.equal([false, undefined]);
  expect(findings.filter(({ holds }) => holds === false)).to.deep.equal([
    { field: "format", holds: false, detail: "is a response to a feedback, and shows no feedback" },
  ]);
}

describe("tallystick erc8004", () => {
  const { chain, market } = useMarket();
  const servers: Server[] = [];
  after(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });
  const listen = async (fetch: (request: Request) => Response | Promise<Response>): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<AddressInfo>();
    servers.push(serve({ fetch, hostname: "127.0.0.1", port: 0 }, resolve) as Server);
    return `http://127.0.0.1:${(await promise).port}`;
  };
  const answerRpc = async (request: Request): Promise<Response> => {
    const { id, method, params } = (await request.json()) as { id: number; method: string; params: [] };
    const result = await chain.client.request({ method, params } as never);
    return Response.json({ jsonrpc: "2.0", id, result });
  };
  const codeOf = (work: Promise<unknown>): Promise<string | undefined> =>
    work.then(
      () => undefined,
      (error: TallystickError) => error.code,
    );

  it("registers an agent, posts feedback and answers it, and shows the cost first; verify-feedback reads the files back", async () => {
    const { identity, reputation, fromBlock } = await deployRegistries(chain.client as unknown as Deployer);
    const seller = await market.openSeller({
      listings: [{ capability: MEAN, price_usdc: "0.05", max_latency_ms: 2_000 }],
      handlers: { [MEAN]: mean },
    });
    const buyer = await market.openBuyer();
    for (const { address } of [seller.wallet, buyer.wallet])
      await chain.client.setBalance({ address, value: 10n ** 18n });
    const { text } = await market.ledger.get("/v1/ledger/entries?from=0&to=1");
    const listing = {
      ...seller.listings[0]?.body,
      entry_hash: JSON.parse(text).current_hash,
      retired: false,
    };
    const [signed] = seller.listings;
    // What the node changes in the listing, and whether it divides its list into pages.
    let changes: object = {};
    let isPaged = false;
    // How many listings the node is asked for at once, and the most that it was.
    let [atOnce, most] = [0, 0];
    // The receipt and the identity that the node knows.
    let receipt = "";
    let known: number | undefined;
    const url = await listen(async (request) => {
      const { pathname, search } = new URL(request.url);
      if (pathname.endsWith("/listings")) {
        const isFirst = isPaged && !search.includes("cursor=");
        const live = Array(3).fill({ ...listing, ...changes });
        const listings = isFirst ? [{ ...listing, retired: true }] : live;
        return Response.json({ agent_id: seller.address, listings, next_cursor: isFirst ? "2" : null });
      }
      if (pathname !== "/graphql") return market.fetch(NODE + pathname + search, request);
      const { query } = (await request.json()) as { query: string };
      if (query.includes("SignedRecord")) {
        most = Math.max(most, ++atOnce);
        // Leaves other requests the time to arrive.
        await setTimeout(50);
        atOnce--;
        return Response.json({ data: { ledgerEntryByHash: { record: signed } } });
      }
      const node = { identity: { id: String(known) } };
      const counted = {
        ...{ id: "hire", hireId: "0x", sellerAddress: seller.address, buyerAddress: buyer.wallet.address },
        ...{ capability: MEAN, paymentMode: "direct", priceUsdc: "0.05", amountUsdc: "0.05" },
        ...{ outcome: "SUCCESS", evidence: "SELLER", refunded: false, dispute: false, disputeSource: null },
        ...{ weight: 1, clusterSize: 1, latencyMs: null, time: 1, tx: "0x", escrowId: null, ratings: [] },
        receiptHash: receipt,
      };
      const data = query.includes("CurrentIdentities")
        ? { agent: { identities: { nodes: known === undefined ? [] : [node] } } }
        : { hire: counted };
      return Response.json({ data });
    });
    const rpcUrl = await listen(answerRpc);
    const { chainId } = chain.network;
    const registries = { identity, reputation, chainId: null, firstBlock: null };
    const options: PostOptions = { url, rpcUrl, registries, chainId, fromBlock: Number(fromBlock) };
    const environment = (wallet: { privateKey: string }) => ({
      TALLYSTICK_PRIVATE_KEY: wallet.privateKey,
      TALLYSTICK_LEDGER: "local",
      TALLYSTICK_DEV_MODE: "1",
      TALLYSTICK_STATE_DIR: path.join(market.folder, "state"),
    });
    const agent = { name: "Mean", description: "Computes means." };

    changes = { endpoint: "https://thief.example" };
    expect(await codeOf(register({ ...options, ...agent }, environment(seller.wallet)))).to.equal(
      "listing_differs",
    );
    changes = {};
    isPaged = true;
    const quoted = await register({ ...options, ...agent }, environment(seller.wallet));
    expect(quoted.status).to.equal("quoted");
    expect(most, "a node answers few requests of a client at once").to.equal(1);
    expect(postedText(quoted)).to.contain("ETH (").and.contain("--yes sends it");
    const registered = await register({ ...options, ...agent, yes: true }, environment(seller.wallet));
    expect(registered.status).to.equal("registered");
    expect(JSON.parse(registered.text).services[0]).to.deep.include({ name: "SHP", capabilities: [MEAN] });
    const { agentId } = registered;

    const hire = await buyer.hire({
      capability: MEAN,
      params: { data: [1] },
      maxPriceUsdc: "0.10",
      // The work may take long on a busy machine, and this test does not measure its speed.
      maxLatencyMs: 60_000,
    });
    const receiptHash = hire.receiptHash as string;
    await buyer.rate({ receiptHash, ratingToken: hire.ratingToken as string, stars: 3 });
    const wanted = { ...options, agentId, allowUnanchored: true, yes: true };
    const posted = await feedback(receiptHash, wanted, environment(buyer.wallet));
    expect(posted).to.include({ status: "posted", index: 1 });
    expect((await feedback(receiptHash, wanted, environment(buyer.wallet))).status).to.equal("found");
    expect(await codeOf(feedback(receiptHash, wanted, {}))).to.equal("invalid_input");
    receipt = receiptHash;
    const { agentId: _, ...unnamed } = wanted;
    const byId = () => feedback("hire", unnamed, environment(buyer.wallet));
    expect(await codeOf(byId())).to.equal("invalid_input");
    known = agentId;
    expect((await byId()).status).to.equal("found");

    const answered = await respond(
      {
        ...{ ...options, agentId, feedbackClient: buyer.wallet.address, index: 1, yes: true },
        ...{ spam: "other", detail: "a test", knownBy: listing.entry_hash },
      },
      environment(seller.wallet),
    );
    expect(answered.status).to.equal("posted");

    // An auditor judges this hire and settles its verdict. Then the seller answers with it, as anybody could.
    const paid = JSON.parse(JSON.parse(posted.text).tallystick.receipt_proof.entry).payload.body;
    const audited = await auditedHire({
      ...{ seller: seller.wallet, params: { data: [1] }, result: hire.result },
      assignment: { hire: `${paid.tx_hash}-0` },
    });
    const holder = await openHolder(shows(audited.disclosure));
    const auditor = createAuditor({
      ...{ account: audited.auditor.account, baseUrl: NODE, ledger: "local", judge: passes },
      ...{ client: chain.client as never, store: memoryStore(), devMode: true },
      fetch: (input, init) => (input.startsWith(NODE) ? market.fetch(input, init) : fetch(input, init)),
      node: {
        openOfAuditor: async () => [audited.assignment],
        openOfSeller: async () => [],
        openOfHire: async () => [],
        isFinal: async () => true,
        originsOf: async (of) => (of === seller.address ? [holder.origin] : []),
      },
      now: () => (audited.assignment.time + 60) * 1_000,
    });
    await auditor.round().finally(holder.close);
    const settled = async () => {
      const { size } = market.ledger.ledger;
      const lines = (await market.ledger.get(`/v1/ledger/entries?from=0&to=${size}`)).text.trim().split("\n");
      return lines.map((line) => JSON.parse(line));
    };
    const judged = (await settled()).find(({ payload }) => payload.type === "audit_verdict");
    const verdict = judged.current_hash as string;
    const byVerdict = (entry: string) =>
      respond(
        {
          ...{ ...options, agentId, feedbackClient: buyer.wallet.address, index: 1, yes: true },
          ...{ verdict: entry, knownBy: listing.entry_hash },
        },
        environment(seller.wallet),
      );
    const proved = await byVerdict(verdict);
    expect(proved.status).to.equal("posted");
    expect(proved.uri).to.match(new RegExp(`/v1/erc8004/files/${proved.hash}\\.json#verdict=${verdict}$`));
    const shown = JSON.parse((await market.ledger.get(new URL(proved.uri).pathname)).text);
    const { entry } = verifyProofBundle(shown.verdict_proof, { leaveWriterToChain: true });
    expect(entry.payload).to.deep.include({ type: "audit_verdict" });
    expect(entry.payload.body).to.deep.include({ hire: audited.assignment.hire, verdict: "pass" });
    await expectReadAs(proved.text, proved.hash);
    await expectSpamRead(answered.text);
    // The ledger grows, so a new file would have a longer proof. But the signed verdict is the same, so the earlier
    // file is found.
    const { type: _type, ledger: _ledger, ...said } = judged.payload.body as RecordBody;
    let round = 1;
    const settle = async (changes: RecordBody): Promise<string> => {
      const next = {
        type: "audit_verdict",
        ledger: "local",
        body: { ...said, round: ++round, ...changes },
      } as const;
      const { body, signer, signature } = await signRecord({ ...next, account: audited.auditor.account });
      const grown = await market.ledger.post("/v1/records", { type: next.type, body, signer, signature });
      expect(grown.status, grown.text).to.equal(201);
      return grown.json.hash;
    };
    await settle({});
    expect(await byVerdict(verdict)).to.deep.include({
      ...{ status: "found", hash: proved.hash, uri: proved.uri },
    });
    expect(await codeOf(byVerdict(receiptHash)), "no verdict").to.equal("invalid_input");
    expect(await codeOf(byVerdict("0".repeat(64))), "no entry").to.equal("not_in_ledger");
    // A verdict that differs in one of these fields is of another hire, so it is no answer to this feedback.
    const zero = `0x${"00".repeat(32)}`;
    const others: RecordBody[] = [
      { hire: `${zero}-0` },
      { hire: zero },
      { hire: paid.tx_hash },
      { params_hash: zero },
      { result_hash: zero },
    ];
    for (const other of others) {
      const refused = await byVerdict(await settle(other)).catch((error) => error);
      const fields = refused.issues?.map((it: { field: string }) => it.field);
      expect(fields, JSON.stringify(other)).to.deep.equal(["verdict_proof.entry"]);
    }
    // The verdict is also no answer to feedback that names no receipt, or a receipt of somebody else.
    const say = async (fragment: string, wallet: typeof buyer.wallet, index: number) => {
      const uri = `https://agent.example/feedback.json${fragment}`;
      const args = [BigInt(agentId), 100n, 0, "starred", "", "", uri, zero];
      const { account } = wallet;
      const sender = createTransactionSender({ account, chainId, rpc: chain.transport, pollingMs: 10 });
      const call = { abi: reputationRegistryAbi, functionName: "giveFeedback", args };
      await sender.sendAndWait({ address: reputation, ...call });
      const place = { feedbackClient: wallet.address, index };
      const answering = { ...options, agentId, ...place, verdict, knownBy: listing.entry_hash };
      const refused = await respond(answering, environment(seller.wallet)).catch((error) => error);
      return refused.issues?.map((it: { message: string }) => it.message).join();
    };
    expect(await say("", buyer.wallet, 2)).to.contain("names no receipt");
    expect(await say(`#receipt=${listing.entry_hash}`, buyer.wallet, 3)).to.contain("is no receipt");
    const third = await market.openBuyer();
    await chain.client.setBalance({ address: third.wallet.address, value: 10n ** 18n });
    expect(await say(`#receipt=${receiptHash}`, third.wallet, 1)).to.contain("names a receipt of");

    const file = path.join(market.folder, "feedback.json");
    writeFileSync(file, posted.text);
    const named = [
      "--registries",
      `${identity}=${reputation}`,
      "--chain-id",
      String(chainId),
      "--rpc-url",
      rpcUrl,
    ];
    const args = ["verify-feedback", file, ...named, "--from-block", "0", "--token", chain.token, "--json"];
    const good = await run(...args);
    expect(good.code, good.out + good.err).to.equal(0);
    expect(JSON.parse(good.out)).to.include({ valid: true, hash: posted.hash });
    // An RPC that fails once does not make the command leave out the event.
    let failures = 1;
    const failing = await listen(async (request) => {
      const { id, method } = (await request.clone().json()) as { id: number; method: string };
      if (method !== "eth_chainId" || failures-- <= 0) return await answerRpc(request);
      return Response.json({ jsonrpc: "2.0", id, error: { code: -32_000, message: "busy" } });
    });
    const unsure = await run(...args.map((word) => (word === rpcUrl ? failing : word)));
    expect([unsure.code, unsure.out]).to.deep.equal([1, ""]);
    expect(unsure.err).to.contain("chain_unavailable");
    writeFileSync(file, posted.text.replace('"value":60,', '"value":100,'));
    const bad = await run("erc8004", "verify-feedback", file);
    expect([bad.code, bad.err]).to.deep.equal([1, ""]);
    expect(bad.out).to.contain("does not hold").and.contain("is 100, and the ledger says 60");
  });

  const run = (...args: string[]) => commandHere(args);
});

describe("a feedback file at a stranger's address", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tallystick-feedback-"));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it("is read from a path, a data: address, or public servers", async () => {
    const file = path.join(folder, "file.json");
    writeFileSync(file, '{"a":1}');
    expect(await readAnyFile(file)).to.equal('{"a":1}');
    const data = `data:application/json;base64,${Buffer.from('{"a":2}').toString("base64")}`;
    expect(await readAnyFile(`${data}#receipt=1`)).to.equal('{"a":2}');
    const asked: string[] = [];
    const fetch = async (url: string) => {
      asked.push(url);
      return new Response('{"a":3}');
    };
    expect(await readAnyFile("https://node.example/x.json#receipt=1", { fetch })).to.equal('{"a":3}');
    expect(await readAnyFile("ipfs://bafy/x", { fetch, ipfsGateway: "https://gate.example/" })).to.equal(
      '{"a":3}',
    );
    expect(asked).to.deep.equal(["https://node.example/x.json", "https://gate.example/ipfs/bafy/x"]);
  });

  it("is refused from private addresses, without a gateway, when it is too large, and when it never ends", async () => {
    const large = path.join(folder, "large.json");
    writeFileSync(large, "a".repeat(MAX_FILE_BYTES + 1));
    const tooMuch = async () => new Response("a".repeat(MAX_FILE_BYTES + 1));
    const missing = async () => new Response("no", { status: 404 });
    const reasons = [
      readAnyFile("http://node.example/x"),
      readAnyFile("https://127.0.0.1/x"),
      readAnyFile("https://169.254.169.254/latest/meta-data"),
      readAnyFile("file:///etc/passwd"),
      readAnyFile("ipfs://bafy/x"),
      readAnyFile("ipfs://../../x", { ipfsGateway: "https://gate.example" }),
      readAnyFile("data:text/plain,x"),
      readAnyFile(folder),
      readAnyFile(path.join(folder, "none")),
      readAnyFile(large),
      readAnyFile("https://node.example/x", { fetch: tooMuch }),
      readAnyFile("https://node.example/x", { fetch: missing }),
    ].map((it) =>
      it.then(
        () => "read",
        (error: TallystickError) => error.code,
      ),
    );
    expect([...new Set(await Promise.all(reasons))]).to.deep.equal(["unreadable_file"]);
  });

  it("is searched in the named registries, or those of the chain", () => {
    expect(registriesOf({}, 8453)).to.deep.include({ chainId: 8453, fromBlock: 41_663_799n });
    expect(() => registriesOf({}, 31_337)).to.throw("--registries");
    const base = { identity: "0x11", reputation: "0x22", chainId: 8453, firstBlock: null } as never;
    expect(() => registriesOf({ registries: base, chainId: 1 }, 1)).to.throw("--chain-id");
  });
});
