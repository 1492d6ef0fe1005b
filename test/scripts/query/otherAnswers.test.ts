import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { serve } from "@hono/node-server";
import { expect } from "chai";
import { Hono } from "hono";
import { feedback } from "../../../scripts/erc8004/feedback.ts";
import { register } from "../../../scripts/erc8004/register.ts";
import { temporaryFolder } from "../../settlement/support/temporaryFolder.ts";
import { commandHere } from "../../support/commandHere.ts";

const AGENT = `0x${"a1".repeat(20)}`;
const ID = `0x${"b2".repeat(32)}`;

describe("the commands that query a node, at an address where something else answers", function () {
  this.slow(15_000);

  const folder = temporaryFolder();
  let server: ReturnType<typeof serve>;
  let url: string;
  /** The answers: to GraphQL, and to everything else. */
  const answers: { data: unknown; rest: string } = { data: {}, rest: "" };

  before(async () => {
    const app = new Hono();
    app.post("/graphql", ({ json }) => json({ data: answers.data } as object));
    app.all("*", ({ text }) => text(answers.rest));
    server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => server?.close());

  const expectRefused = async (commands: string[][]): Promise<void> => {
    const ended = await Promise.all(commands.map((args) => commandHere([...args, "--url", url])));
    for (const [n, { code, out, err }] of ended.entries()) {
      expect([code, out], commands[n]?.join(" ")).to.deep.equal([1, ""]);
      expect(err)
        .to.match(/does not have the expected form\. Wrong part: /)
        .and.contain("unreadable_answer")
        .and.not.contain("TypeError");
    }
  };

  it("say so and show nothing, if a GraphQL answer has another form", async () => {
    for (const data of [
      {},
      {
        ...{ agent: { address: AGENT }, escrow: { id: ID }, hire: { id: ID, ratings: null }, meta: null },
        ...{ audits: { nodes: [null] }, auditActuations: { nodes: {} } },
      },
    ]) {
      answers.data = data;
      await expectRefused([["agent", AGENT], ["escrow", ID], ["hire", ID], ["status"], ["audits"]]);
    }
  });

  it("say so and show nothing, if an answer over REST has another form", async () => {
    const nested = { trust_report: { factors: {} }, sla_status: { guarantees: [null] }, agents: [null] };
    for (const rest of ["<html>", "null", "{}", JSON.stringify(nested)]) {
      answers.rest = rest;
      await expectRefused([
        ["search", "text.translate"],
        ["trust-report", AGENT],
        ["trust-report", AGENT, "--json"],
        ["sla-status", AGENT],
        ["verify-factor", AGENT, "uptime"],
        ["failures", AGENT],
      ]);
    }
  });

  it("write nothing to ERC-8004's registries by a wrong answer", async () => {
    const registries = { identity: AGENT, reputation: AGENT, chainId: null, firstBlock: null } as const;
    const options = { url, rpcUrl: "http://127.0.0.1:9", registries, chainId: 31_337, yes: true };
    const environment = {
      ...{ TALLYSTICK_PRIVATE_KEY: `0x${"51".repeat(32)}`, TALLYSTICK_LEDGER: "local" },
      ...{ TALLYSTICK_DEV_MODE: "1", TALLYSTICK_STATE_DIR: folder.path },
    };
    const expectPlace = async (work: Promise<unknown>, place: string): Promise<void> => {
      const failure = await work.catch((error: unknown) => error);
      expect(failure, place).to.include({ name: "ServiceError", code: "unreadable_answer" });
      expect((failure as Error).message).to.contain(`Wrong part: ${place}.`);
    };
    const offer = { capability: "text.translate", endpoint: "https://a.example", retired: false };
    for (const entry_hash of [undefined, 7, "0x1"]) {
      answers.rest = JSON.stringify({ listings: [{ ...offer, entry_hash }] });
      const agent = { name: "A", description: "Translates." };
      await expectPlace(register({ ...options, ...agent } as never, environment), "listings.0.entry_hash");
    }
    const hire = {
      ...{ id: "hire", hireId: "0x", sellerAddress: AGENT, buyerAddress: AGENT, capability: null },
      ...{ paymentMode: "direct", priceUsdc: "0.05", amountUsdc: "0.05", outcome: "SUCCESS" },
      ...{ evidence: "SELLER", refunded: false, dispute: false, disputeSource: null, clusterSize: 1 },
      ...{ weight: 1, latencyMs: null, time: 1, tx: "0x", escrowId: null, ratings: [] },
      receiptHash: "ab".repeat(32),
    };
    answers.data = { hire: { ...hire, receiptHash: 7 } };
    await expectPlace(feedback("hire", options as never, environment), "hire.receiptHash");
    answers.data = { hire, agent: { identities: { nodes: [{ identity: { id: 7 } }] } } };
    await expectPlace(
      feedback("hire", options as never, environment),
      "agent.identities.nodes.0.identity.id",
    );
  });

  it("say so if a file is no report", async () => {
    const file = path.join(folder.path, "report.json");
    await writeFile(file, '{"trust_report":{"factors":{"uptime":{"evidence":null}}}}');
    await expectRefused([["verify-factor", file, "uptime"]]);
  });
});
