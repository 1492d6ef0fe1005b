import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Disclosure, writeDisclosure } from "tallystick-protocol/audits/disclosure";
import { hireId } from "tallystick-protocol/hire/hireIds";
import { type HireTerms, signHireRequest } from "tallystick-protocol/hire/hireRequest";
import { jsonHash, paramsHash } from "tallystick-protocol/hire/paramsHash";
import { type CreateAuditorParameters, createAuditor } from "tallystick-sdk/auditor/createAuditor";
import type { Judge } from "tallystick-sdk/auditor/judge";
import type { Assignment, AuditNode } from "tallystick-sdk/audits/assignment";
import type { Fetch } from "tallystick-sdk/requestService";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { openTestService, type TestService } from "../../settlement/support/testService.ts";
import { newWallet, type Wallet } from "../support/sdkChain.ts";

export const CAPABILITY = "text.translate.en.it";
export const NODE = "http://node.test";
export const DAY = 86_400;
const ASSIGNED = 1_767_225_600;

/** A judge whose verdict is always pass. */
export const passes: Judge = async () => ({
  verdict: "pass",
  reasons: [{ code: "meets_request", detail: "every point was met" }],
});

export type AuditedHire = {
  seller: Wallet;
  buyer: Wallet;
  auditor: Wallet;
  assignment: Assignment;
  disclosure: Disclosure;
};

/** A hire with the buyer's signature and the seller's receipt, and the auditor that is assigned to it. */
export async function auditedHire(
  given: Partial<{
    seller: Wallet;
    auditor: Wallet;
    params: HireTerms["params"];
    result: unknown;
    terms: Partial<HireTerms>;
    assignment: Partial<Assignment>;
  }> = {},
): Promise<AuditedHire> {
  const { seller = newWallet(), auditor = newWallet() } = given;
  const { params = { text: "Where is the library?" }, result = { text: "Dov'è la biblioteca?" } } = given;
  const buyer = newWallet();
  const nonce = `0x${crypto.randomUUID().replaceAll("-", "")}`;
  const request = await signHireRequest(
    {
      protocol: "swarmwage/v0.3",
      buyer_id: buyer.address,
      seller_id: seller.address,
      capability: CAPABILITY,
      params,
      nonce,
      ...given.terms,
    },
    buyer,
  );
  const hash = jsonHash(nonce);
  const assignment: Assignment = {
    hire: `${hash}-7`,
    round: 1,
    attempt: 1,
    operator: newWallet().address,
    auditor: auditor.address,
    seller: seller.address,
    buyer: buyer.address,
    capability: CAPABILITY,
    hireId: hireId(buyer.address, nonce),
    paramsHash: paramsHash(params),
    resultHash: jsonHash(result),
    verificationVersion: "v0",
    amount: "50000",
    block: 100,
    time: ASSIGNED,
    tickHash: hash,
    due: ASSIGNED + DAY,
    ...given.assignment,
  };
  return { seller, buyer, auditor, assignment, disclosure: writeDisclosure({ request, result }) };
}

/** A real HTTP server. A test can replace `answer`. `asked` has the requests so far. */
export type Holder = {
  origin: string;
  asked: IncomingMessage[];
  answer: (request: IncomingMessage, response: ServerResponse) => void;
  close: () => Promise<void>;
};

export async function openHolder(answer: Holder["answer"]): Promise<Holder> {
  const asked: IncomingMessage[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(request);
    response.on("error", () => {});
    holder.answer(request, response);
  });
  const holder: Holder = {
    origin: "",
    asked,
    answer,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  holder.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return holder;
}

export const shows =
  (disclosure: unknown): Holder["answer"] =>
  (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(disclosure));
  };

export const refuses =
  (status = 404): Holder["answer"] =>
  (_, response) => {
    response.writeHead(status).end("{}");
  };

/** A settlement service for many scenes. Its clock never goes back. */
export async function openAuditLedger() {
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-audits-"));
  const service: TestService = await openTestService(folder, { DEV_MODE: "1" });
  let latest = ASSIGNED;
  Object.defineProperty(service.clock, "now", { get: () => latest });
  return {
    app: service.app,
    follow: (now: number) => {
      latest = Math.max(latest, now);
    },
    text: (): string =>
      globSync("**/ledger.jsonl", { cwd: folder })
        .map((file) => readFileSync(path.join(folder, file), "utf8"))
        .join(""),
    close: async () => {
      await service.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type AuditLedger = Awaited<ReturnType<typeof openAuditLedger>>;

/** A node that gives the test's assignments, in front of a real settlement service. It also has a clock. */
export async function openAuditScene(ledger: AuditLedger) {
  const clock = { now: ASSIGNED + 60 };
  const before = ledger.text().length;
  const open: Assignment[] = [];
  const origins: { [agent: string]: string[] } = {};
  const holders: Holder[] = [];
  let finalBlock = Number.POSITIVE_INFINITY;
  const node: AuditNode = {
    openOfAuditor: async (auditor) => open.filter((one) => one.auditor === auditor),
    openOfSeller: async (seller) => open.filter((one) => one.seller === seller),
    openOfHire: async (hire) => open.filter((one) => one.hire === hire),
    isFinal: async ({ block }) => block <= finalBlock,
    originsOf: async (agent) => origins[agent] ?? [],
  };
  /** The entries that were added since this scene began. */
  const text = (): string => ledger.text().slice(before);
  /** Sends requests for the node to the service in this process, and requests for holders of work to their sockets. */
  const fetch: Fetch = async (input, init) => {
    ledger.follow(clock.now);
    return input.startsWith(NODE)
      ? await ledger.app.request(input, init)
      : await globalThis.fetch(input, init);
  };

  return {
    clock,
    node,
    open,
    origins,
    fetch,
    setFinal: (block: number) => {
      finalBlock = block;
    },
    /** Starts a server. From then on the node names it as an origin of this agent. */
    hold: async (agent: string, answer: Holder["answer"]): Promise<Holder> => {
      const holder = await openHolder(answer);
      holders.push(holder);
      origins[agent] = [...(origins[agent] ?? []), holder.origin];
      return holder;
    },
    auditorOf: (hire: AuditedHire, changes: Partial<CreateAuditorParameters> = {}) =>
      createAuditor({
        account: hire.auditor.account,
        baseUrl: NODE,
        client: { getBlock: () => Promise.reject(new Error("there is no chain here")) },
        judge: passes,
        store: memoryStore(),
        node,
        ledger: "local",
        devMode: true,
        fetch,
        now: () => clock.now * 1000,
        ...changes,
      }),
    /** The verdicts in the ledger, as they were signed. */
    verdicts: () =>
      text()
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line).payload)
        .filter(({ type }) => type === "audit_verdict"),
    text,
    close: async () => {
      for (const holder of holders) await holder.close();
    },
  };
}

export type AuditScene = Awaited<ReturnType<typeof openAuditScene>>;

/**
 * Gives a suite one ledger, and each of its tests a new scene on this ledger. Call the results only inside hooks and
 * tests.
 */
export function useAuditScene(): { scene: () => AuditScene; ledger: () => AuditLedger } {
  let ledger: AuditLedger;
  let scene: AuditScene;
  before(async () => {
    ledger = await openAuditLedger();
  });
  beforeEach(async () => {
    scene = await openAuditScene(ledger);
  });
  afterEach(() => scene.close());
  after(() => ledger?.close());
  return { scene: () => scene, ledger: () => ledger };
}
