import { createHash } from "node:crypto";
import { expect } from "chai";
import type { InvalidInputError } from "tallystick-protocol/errors";
import { contextSlice, fetchContextSlice } from "tallystick-sdk/contextSlice";
import { ServiceError } from "tallystick-sdk/requestService";
import { type Draft, type SettleParameters, settle } from "tallystick-sdk/settle";
import { shadowAudit } from "tallystick-sdk/shadowAudit";
import { temporaryFolder } from "../settlement/support/temporaryFolder.ts";
import { API_KEY, openTestService, type TestService } from "../settlement/support/testService.ts";

describe("an agent's loop of settlement", () => {
  const folder = temporaryFolder();
  let service: TestService;
  let memory: { [key: string]: unknown };
  beforeEach(async () => {
    service = await openTestService(folder.path);
    memory = {};
    Object.assign(network, { lose: 0, drop: 0 });
  });
  afterEach(() => service.close());

  /**
   * The service without a real network. `drop` fails the next requests before the service sees them. `lose` loses the
   * next answers.
   */
  const network = { lose: 0, drop: 0 };
  const fetch = async (input: string, init?: RequestInit): Promise<Response> => {
    const isSettle = input.endsWith("/v1/settle");
    if (isSettle && network.drop > 0) {
      network.drop--;
      throw new Error("connect ECONNREFUSED");
    }
    const response = await service.app.request(input, init);
    if (isSettle && network.lose > 0) {
      network.lose--;
      throw new Error("socket hang up");
    }
    return response;
  };

  const run = (changes: Partial<SettleParameters>) =>
    settle({
      baseUrl: "http://tallystick.test/",
      apiKey: API_KEY,
      taskId: "task-1",
      keywords: ["count"],
      work: async ({ slice }) => ({
        dataUpdate: { count: Number(slice.count ?? 0) + 1 },
        confidenceScore: 0.9,
      }),
      onSettled: ({ draft, hash }) => {
        Object.assign(memory, draft?.dataUpdate, { hash });
      },
      fetch,
      ...changes,
    });
  const draft = (dataUpdate: Draft["dataUpdate"], more: Partial<Draft> = {}): Draft => {
    return { dataUpdate, confidenceScore: 0.9, ...more };
  };

  it("proposes no number that JSON would turn into null", async () => {
    const work = async () => draft({ count: 1, rates: [1, Number.NaN] });
    const error = await run({ work }).then(
      () => null,
      (reason: InvalidInputError) => reason,
    );
    expect(error?.issues.map(({ field }) => field)).to.deep.equal(["payload.data_update.rates.1"]);
    expect(service.ledger.size).to.equal(0);
  });

  it("proposes nothing under an id whose outcome no URL can ask for", async () => {
    let worked = 0;
    const work = async () => {
      worked++;
      return draft({ count: 1 });
    };
    for (const taskId of [".", ".."]) {
      const error = await run({ taskId, work }).catch((reason: InvalidInputError) => reason);
      expect(error).to.deep.include({ issues: [{ field: "taskId", message: "must not be . or .." }] });
    }
    expect([worked, service.ledger.size]).to.deep.equal([0, 0]);
    // Any other id can be asked for.
    for (const taskId of ["...", "../x", "a/..", "%2e%2e", "?", "#", " "]) {
      network.lose = 1;
      expect(await run({ taskId }), taskId).to.include({ status: "SETTLED", attempts: 1 });
    }
    expect(service.ledger.size).to.equal(7);
  });

  const waiting = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${API_KEY}` };
    return (await (await service.app.request("/v1/reviews", { headers })).json()).waiting;
  };

  it("changes local state after the settlement, and records the hash of its context in the ledger", async () => {
    const result = await run({});
    expect(result).to.include({ status: "SETTLED", hash: service.ledger.head, index: 0, attempts: 1 });
    expect(memory).to.deep.equal({ count: 1, hash: service.ledger.head });
    const { payload } = await service.ledger.entry(0);
    expect(payload.context_hash).to.equal(createHash("sha256").update("{}").digest("hex"));
  });

  it("reads the state and does the work again if the state has changed meanwhile", async () => {
    let worked = 0;
    const result = await run({
      work: async ({ slice }) => {
        // In the first two attempts another agent settles before this agent.
        if (worked++ < 2) await run({ taskId: "other", onSettled: () => {} });
        return draft({ count: Number(slice.count ?? 0) + 10 });
      },
    });
    expect(result).to.include({ status: "SETTLED", attempts: 3 });
    expect(memory.count).to.equal(12);
    expect(
      (await fetchContextSlice({ baseUrl: "http://x.test", keywords: ["count"], fetch })).slice,
    ).to.deep.equal({
      count: 12,
    });
  });

  it("gives up if the head changes in every attempt, and leaves local state unchanged", async () => {
    const result = await run({
      maxAttempts: 2,
      work: async () => {
        await run({ taskId: "other", onSettled: () => {} });
        return draft({ count: 0 });
      },
    });
    expect(result).to.deep.include({ status: "REJECTED", attempts: 2 });
    expect(memory).to.deep.equal({});
  });

  it("changes no local state after a rejection or a hold, and does the work once", async () => {
    expect(await run({ work: async () => draft({}, { confidenceScore: 0.1 }) })).to.deep.include({
      status: "REJECTED",
      attempts: 1,
    });
    const shadow = { dataUpdate: { other: 1 } };
    expect(await run({ work: async () => draft({ count: 1 }, { shadow }) })).to.include({
      status: "ESCROWED",
    });
    expect(memory).to.deep.equal({});
  });

  it("finds the outcome of a proposal whose answer was lost, and settles the proposal once", async () => {
    network.lose = 1;
    expect(await run({})).to.include({ status: "SETTLED", index: 0, attempts: 1 });
    expect(memory.count).to.equal(1);
    expect(service.ledger.size).to.equal(1);
  });

  it("finds the outcome of a proposal if a proxy gave the answer, and settles the proposal once", async () => {
    for (const [n, text] of ["{}", "null", "<html>", '{"status":"SETTLED"}', '{"status":"OK"}'].entries()) {
      let left = 1;
      const taskId = `task-${n}`;
      const result = await run({
        taskId,
        fetch: async (input, init) => {
          const response = await fetch(input, init);
          return input.endsWith("/v1/settle") && left-- > 0 ? new Response(text) : response;
        },
      });
      expect(result, text).to.include({ status: "SETTLED", attempts: 1, worked: 1 });
      const { history } = await (await service.app.request(`/v1/status/${taskId}`)).json();
      expect(history, text).to.have.length(1);
    }
  });

  it("does not take a proxy's 404 for settlement's word that it knows nothing of a task, and settles the task once", async () => {
    network.lose = 1;
    const proxied = async (input: string, init?: RequestInit) =>
      new URL(input).pathname.startsWith("/v1/status/")
        ? new Response("<h1>404 Not Found</h1>", { status: 404, headers: { "content-type": "text/html" } })
        : await fetch(input, init);
    const error = await run({ fetch: proxied }).catch((reason: ServiceError) => reason);
    expect(error).to.include({ code: "unreachable", status: 0 });
    expect(service.ledger.size).to.equal(1);
    const { parent_hash } = JSON.parse((await service.get("/v1/ledger/entries?from=0&to=1")).text);
    const later = await run({ proposedOn: [parent_hash], fetch: proxied }).catch(
      (reason: ServiceError) => reason,
    );
    expect(later).to.include({ code: "http_error", status: 404 });
    expect(await run({ proposedOn: [parent_hash] })).to.include({ status: "SETTLED", index: 0, worked: 0 });
    expect(service.ledger.size).to.equal(1);
  });

  it("does not treat a lost proposal as rejected if the head cannot be read", async () => {
    for (const text of ["{}", '{"hash":null}', "<html>"]) {
      const error = await run({
        fetch: async (input, init) => {
          if (input.endsWith("/v1/settle")) throw new Error("connect ECONNREFUSED");
          return input.endsWith("/v1/ledger/latest") ? new Response(text) : await fetch(input, init);
        },
      }).catch((error) => error);
      expect(error, text).to.be.instanceOf(ServiceError).with.property("code", "unreachable");
      expect(memory).to.deep.equal({});
    }
  });

  it("finds the outcome of a proposal if the service could not give it in time", async () => {
    const problem = { code: "outcome_unknown", detail: "The shared store has not answered yet." };
    const slow: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      return input.endsWith("/v1/settle") ? Response.json(problem, { status: 503 }) : response;
    };
    expect(await run({ fetch: slow })).to.include({ status: "SETTLED", index: 0, attempts: 1 });
    expect(memory.count).to.equal(1);
    const never: typeof fetch = async (input, init) =>
      input.endsWith("/v1/settle") ? Response.json(problem, { status: 503 }) : fetch(input, init);
    expect(await run({ fetch: never }).catch((reason: unknown) => reason)).to.include({ code: problem.code });
    expect(service.ledger.size).to.equal(1);
  });

  it("proposes again if the lost proposal was rejected, and fails if the outcome stays unknown", async () => {
    let first = true;
    const result = await run({
      work: async ({ slice }) => {
        if (first) {
          first = false;
          await run({ taskId: "other", onSettled: () => {} });
          network.lose = 1;
        }
        return draft({ count: Number(slice.count ?? 0) + 1 });
      },
    });
    expect(result).to.include({ status: "SETTLED", attempts: 2 });
    network.drop = 1;
    const error = await run({}).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(ServiceError).with.property("code", "unreachable");
    expect(memory.count).to.equal(2);
  });

  it("proposes the same draft again if other state has changed, and does not repeat the work", async () => {
    let worked = 0;
    const parents: string[] = [];
    const result = await run({
      work: async ({ slice }) => {
        // Another agent settles something that this agent does not read.
        if (worked++ === 0)
          await run({ taskId: "other", work: async () => draft({ elsewhere: 1 }), onSettled: () => {} });
        return draft({ count: Number(slice.count ?? 0) + 1 }, { agentMetadata: { model: "m-1" } });
      },
      agentMetadata: { model: "?", version: "2" },
      onProposing: ({ parentHash }) => void parents.push(parentHash),
    });
    expect(result).to.include({ status: "SETTLED", attempts: 2, worked: 1 });
    expect(worked).to.equal(1);
    expect(new Set(parents).size).to.equal(2);
    const { payload } = await service.ledger.entry(1);
    expect(payload.agent_metadata).to.deep.equal({ model: "m-1", version: "2" });
  });

  it("finds a held proposal whose answer was lost, and the service holds it once", async () => {
    network.lose = 1;
    const shadow = { dataUpdate: { other: 1 } };
    const result = await run({ work: async () => draft({ count: 1 }, { shadow }) });
    expect(result).to.include({ status: "ESCROWED", divergence: 1 });
    expect(await waiting()).to.equal(1);
  });

  it("finds the proposal of an earlier process, settled or held, and does not repeat the work", async () => {
    const parents: string[] = [];
    const onProposing = ({ parentHash }: { parentHash: string }) => void parents.push(parentHash);
    const never = async (): Promise<Draft> => {
      throw new Error("done again");
    };
    await run({ onProposing });
    await run({ taskId: "other", work: async () => draft({ elsewhere: 1 }) });
    const found = await run({ proposedOn: parents, work: never });
    expect(found).to.deep.include({ status: "SETTLED", index: 0, attempts: 0, worked: 0 });

    const shadow = { dataUpdate: { other: 1 } };
    const held: string[] = [];
    const work = async () => draft({ count: 9 }, { shadow });
    await run({ taskId: "task-2", work, onProposing: ({ parentHash }) => void held.push(parentHash) });
    await run({ taskId: "other", work: async () => draft({ elsewhere: 2 }) });
    expect(await run({ taskId: "task-2", proposedOn: held, work: never })).to.include({ status: "ESCROWED" });
    expect(await waiting()).to.equal(1);
  });

  it("ends with a ServiceError if the service answers in another form, and looks at a hundred held proposals at most", async () => {
    const parent = "ab".repeat(32);
    const never = async (): Promise<Draft> => {
      throw new Error("done again");
    };
    let reviews = 0;
    const lying = (status: unknown) =>
      run({
        ...{ proposedOn: [parent], work: never },
        fetch: async (input) => {
          if (!input.includes("/v1/reviews/")) return Response.json(status);
          reviews++;
          return Response.json({ parent_hash: "cd".repeat(32) });
        },
      }).catch((error: unknown) => error);
    const entry = { parent_hash: parent, hash: "ef".repeat(32), index: 1, timestamp: 1 };
    for (const status of [
      ...[null, [], {}, { history: null, held: [] }, { history: [null], held: [] }],
      ...[
        { history: [{ ...entry, hash: "x" }], held: [] },
        { history: [], held: [null] },
      ],
      { history: Array.from({ length: 101 }, () => entry), held: [] },
    ]) {
      expect(await lying(status), JSON.stringify(status).slice(0, 60)).to.include({
        ...{ name: "ServiceError", code: "unreadable_answer" },
      });
    }
    expect(reviews).to.equal(0);
    const held = Array.from({ length: 5_000 }, (_, n) => ({ id: `../${n}`, divergence: 1 }));
    // None of them is the proposal, so the loop goes on and asks for the context, which this service does not give.
    await lying({ history: [], held });
    expect(reviews).to.equal(100);
  });

  it("looks its proposal up in the ledger if the answer to it has another form", async () => {
    const wrong = [
      ...["<html>", "{}", "null", '{"status":"DONE"}', '{"status":"SETTLED","hash":"x"}'],
      ...['{"status":"SETTLED"}', '{"status":"REJECTED"}', '{"status":"ESCROWED","reason":"r","id":{}}'],
    ];
    for (const [n, text] of wrong.entries()) {
      const result = await run({
        taskId: `task-${n}`,
        fetch: async (input, init) => {
          const response = await fetch(input, init);
          return input.endsWith("/v1/settle") ? new Response(text) : response;
        },
      });
      expect(result, text).to.include({ status: "SETTLED", hash: service.ledger.head, index: n });
    }
  });

  it("proposes nothing if something else answers in place of the context", async () => {
    const never = async (): Promise<Draft> => {
      throw new Error("done without a context");
    };
    const head = service.ledger.head;
    const answers: [text: string, parent: string | undefined][] = [
      ...["<html>", "null", "[]", "7", '"x"'].map((text): [string, string] => [text, head]),
      ["{}", undefined],
      ["{}", "x"],
    ];
    for (const [text, parent] of answers) {
      const headers: HeadersInit = parent === undefined ? {} : { "x-parent-hash": parent };
      const failure = await run({
        work: never,
        fetch: async () => new Response(text, { headers }),
      }).catch((error: unknown) => error);
      expect(failure, text).to.include({ name: "ServiceError", code: "unreadable_answer" });
    }
    expect(service.ledger.size).to.equal(0);
  });

  it("finds a proposal of an earlier process that arrives only after the first look", async () => {
    const parentHash = service.ledger.head;
    const result = await run({
      proposedOn: [parentHash],
      work: async () => {
        await run({});
        return draft({ count: 1 });
      },
    });
    expect(result).to.include({ status: "SETTLED", index: 0 });
    expect(service.ledger.size).to.equal(1);
  });

  it("finds a proposal of an earlier process that arrives between the first look and the reading of the head", async () => {
    const proposedOn = [service.ledger.head];
    let isThere = false;
    const result = await run({
      proposedOn,
      work: async () => expect.fail("done again"),
      fetch: async (input, init) => {
        if (input.includes("/v1/context") && !isThere) {
          isThere = true;
          await run({});
        }
        return fetch(input, init);
      },
    });
    expect(result).to.include({ status: "SETTLED", index: 0, attempts: 0, worked: 0 });
    expect(service.ledger.size).to.equal(1);
  });

  it("gives no draft with the settled work of an earlier process, however late that work is found", async () => {
    const work = async () => draft({ count: 500 });
    const earlier = { work: async () => draft({ count: 1 }), onSettled: () => {} };
    const told: unknown[] = [];
    const onSettled = (settled: { draft?: Draft }) => void told.push(settled.draft);
    // It arrives while the work is done again.
    const late = await run({
      proposedOn: [service.ledger.head],
      onSettled,
      work: async () => {
        await run(earlier);
        return work();
      },
    });
    expect(late).to.include({ status: "SETTLED", index: 0, worked: 1 });
    // It arrives just before this proposal, of which the answer is lost. Both have the same parent.
    const lost = await run({
      taskId: "task-2",
      proposedOn: [service.ledger.head],
      onSettled,
      work,
      fetch: async (input, init) => {
        if (!input.endsWith("/v1/settle")) return fetch(input, init);
        if (service.ledger.size === 1) await run({ ...earlier, taskId: "task-2" });
        throw new Error("socket hang up");
      },
    });
    expect(lost).to.include({ status: "SETTLED", index: 1, worked: 1 });
    expect([late, lost].map((it) => "draft" in it)).to.deep.equal([false, false]);
    expect(told).to.deep.equal([undefined, undefined]);
    // Without an earlier process the proposal on this parent can only be this one.
    network.lose = 1;
    expect(await run({ taskId: "task-3", work })).to.deep.include({ draft: await work() });
  });

  /** Calls `stop` at a request with this number for a path. The request gets no answer. */
  const hangAt =
    (path: string, stop: () => void, number = 1) =>
    (input: string, init?: RequestInit): Promise<Response> => {
      if (!input.includes(path) || --number !== 0) return fetch(input, init);
      stop();
      return new Promise(() => {});
    };
  const waits: { [where: string]: (stop: () => void) => Partial<SettleParameters> } = {
    "it looks for the proposal of an earlier process": (stop) => ({
      proposedOn: ["ab".repeat(32)],
      fetch: hangAt("/v1/status/", stop),
    }),
    "it reads the context": (stop) => ({ fetch: hangAt("/v1/context", stop) }),
    "the work runs": (stop) => ({
      work: async () => {
        stop();
        return draft({ count: 1 });
      },
    }),
    "the proposal is stored": (stop) => ({ onProposing: stop }),
    "it reads the context again": (stop) => ({
      fetch: hangAt("/v1/context", stop, 2),
      work: async () => {
        await run({ taskId: "other", work: async () => draft({ elsewhere: 1 }) });
        return draft({ count: 1 });
      },
    }),
  };
  for (const [where, changes] of Object.entries(waits)) {
    it(`proposes nothing if its signal aborts while ${where}`, async () => {
      const stop = new AbortController();
      const { signal } = stop;
      const stopped = run({ ...changes(() => stop.abort(new Error("enough"))), signal });
      expect(await stopped.catch((reason: Error) => reason.message)).to.equal("enough");
      expect((await service.get("/v1/status/task-1")).status).to.equal(404);
    });
  }

  it("waits for the answer to a proposal that it sent, also if its signal aborts", async () => {
    const stop = new AbortController();
    const { signal } = stop;
    const slow = async (input: string, init?: RequestInit) => {
      if (input.endsWith("/v1/settle")) stop.abort(new Error("enough"));
      return fetch(input, init);
    };
    expect(await run({ signal, fetch: slow })).to.include({ status: "SETTLED", index: 0 });
    expect(memory.count).to.equal(1);
  });

  it("passes on the service's reason for a refusal", async () => {
    const error = await run({ apiKey: "wrong" }).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(ServiceError).and.include({ code: "unauthorized", status: 401 });
  });

  describe("with a shadow audit", () => {
    const work = async () => draft({ price: 100 });

    it("settles an answer if both models agree, and otherwise holds it", async () => {
      const close = shadowAudit(work, { shadow: async () => draft({ price: 95 }) });
      expect((await run({ work: close })).status).to.equal("SETTLED");
      const far = shadowAudit(work, { shadow: async () => draft({ price: 50 }) });
      expect((await run({ work: far })).status).to.equal("ESCROWED");
    });

    it("records the shadow in the draft's metadata", async () => {
      const told = async () => draft({ price: 95 }, { agentMetadata: { model: "m-2" } });
      expect(
        (await run({ work: shadowAudit(work, { shadow: told, when: async () => true }) })).status,
      ).to.equal("SETTLED");
      const { payload } = await service.ledger.entry(0);
      expect(payload.agent_metadata).to.deep.equal({ shadow: { model: "m-2" } });
    });

    it("asks the other model only if `when` says so, and does not settle if this model fails", async () => {
      const never = async (): Promise<Draft> => {
        throw new Error("out of credit");
      };
      const unaudited = shadowAudit(work, {
        shadow: never,
        when: ({ confidenceScore }) => confidenceScore < 0.9,
      });
      expect((await run({ work: unaudited })).status).to.equal("SETTLED");
      const error = await run({ work: shadowAudit(work, { shadow: never }) }).catch(
        (reason: Error) => reason.message,
      );
      expect(error).to.equal("out of credit");
    });
  });

  it("slices a state by keywords, and always includes core_logic", () => {
    const state = { core_logic: "be kind", budget: 3, secret: 1 };
    expect(contextSlice(state, ["budget", "nothing"])).to.deep.equal({ core_logic: "be kind", budget: 3 });
  });
});
