import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { buildSchema, parse, validate } from "graphql";
import type { Address } from "tallystick-protocol/address";
import { ServiceError } from "tallystick-sdk/requestService";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { createGraphqlNode, operatorQueries } from "../../services/auditing/graphqlNode.ts";
import type { OperatorNode, RolledBackEscrows } from "../../services/auditing/operatorNode.ts";
import { createRound, freshState, type RoundParameters } from "../../services/auditing/operatorRound.ts";
import { AUDITED, POOL, SELLER } from "../derive/auditScene.ts";
import { type AuditStory, openAuditStory } from "../indexer/support/auditStory.ts";

const schema = buildSchema(readFileSync(path.join(repositoryRoot, "indexer/schema.graphql"), "utf8"));
const NONE: ReadonlySet<string> = new Set();

describe("an operator's queries", () => {
  it("fit the node's schema", () => {
    for (const [name, query] of Object.entries(operatorQueries))
      expect(validate(schema, parse(query)).map(String), name).to.deep.equal([]);
  });

  describe("to a node that gives impossible answers", () => {
    const asking = async (answer: unknown, ask: (node: OperatorNode) => Promise<unknown>) => {
      let asked = 0;
      const node = createGraphqlNode({
        baseUrl: "http://node.test",
        operator: AUDITED,
        fetch: async (_, init) => {
          asked++;
          return typeof answer === "function" ? answer(asked, String(init?.body)) : Response.json(answer);
        },
      });
      const result = await ask(node).catch((error: unknown) => error);
      return { result, asked };
    };
    const page = (nodes: unknown[], more: object) => ({ data: { page: { nodes, pageInfo: more } } });

    it("stop after 200 empty pages if every page names a next page", async () => {
      const answer = (n: number) => Response.json(page([], { hasNextPage: true, endCursor: `c${n}` }));
      const { result, asked } = await asking(answer, (node) => node.accounts());
      expect([result, asked]).to.deep.equal([[], 200]);
    });

    it("go on after an empty page, because the node may have looked only at rows that did not fit", async () => {
      const row = { address: POOL, accruedUsdc: "1", paidUsdc: "0" };
      const answer = (n: number) =>
        Response.json(page(n < 4 ? [] : [row], { hasNextPage: n < 4, endCursor: `c${n}` }));
      const { result } = await asking(answer, (node) => node.accounts());
      expect(result).to.deep.equal([{ auditor: POOL, accrued: 1_000_000n, paid: 0n }]);
    });

    it("stop an endless list at 5,000 rows", async () => {
      const row = { address: POOL, accruedUsdc: "0", paidUsdc: "0" };
      const full = Array.from({ length: 100 }, () => row);
      const answer = (n: number) => Response.json(page(full, { hasNextPage: true, endCursor: `c${n}` }));
      const { result, asked } = await asking(answer, (node) => node.accounts());
      expect([(result as unknown[]).length, asked]).to.deep.equal([5_000, 50]);
    });

    it("ask again for an escrow that the node does not know yet, or showed as settled once", async () => {
      const id = `0x${"ab".repeat(32)}`;
      const held = {
        ...{ id, hireId: id, status: "HELD", deadline: 1, feeRecipient: null, arbiter: null },
        ...{ contract: POOL, buyerAddress: AUDITED, sellerAddress: SELLER, payee: SELLER },
        ...{ amountUsdc: "1", feeUsdc: "0" },
      };
      // The node indexes anew, and a reorganization undoes the first refund.
      const refunded = { ...held, status: "REFUNDED" };
      const known = [null, held, refunded, held, refunded];
      let escrows = 0;
      const answer = (_: number, body: string) =>
        Response.json(
          body.includes(id)
            ? { data: { escrow: known[escrows++] } }
            : page([{ auditedHire: id }], { hasNextPage: false }),
        );
      const rounds = async (node: OperatorNode) => {
        const found: number[][] = [];
        for (const over of [...known.map(() => new Set<string>()), new Set([id])]) {
          const { held, settled } = await node.rolledBackEscrows(over);
          found.push([held.length, settled.length]);
        }
        return found;
      };
      const { result } = await asking(answer, rounds);
      expect(result).to.deep.equal([
        [0, 0],
        [1, 0],
        [0, 1],
        [1, 0],
        [0, 1],
        [0, 0],
      ]);
      expect(escrows, "not for one that is over").to.equal(5);
    });

    it("read the other escrows if the answer about one is wrong, and ask no further if the node does not answer", async () => {
      const ids = [1, 2, 3, 4].map((n) => `0x${`0${n}`.repeat(32)}`);
      const withFault = async (fault: () => Response) => {
        const answer = (_: number, body: string) => {
          const id = ids.find((it) => body.includes(it));
          if (id === undefined)
            return Response.json(
              page(
                ids.map((auditedHire) => ({ auditedHire })),
                { hasNextPage: false },
              ),
            );
          if (id === ids[1]) return fault();
          const status = id === ids[2] ? "REFUNDED" : "HELD";
          return Response.json({ data: { escrow: { ...escrow, id, hireId: id, status } } });
        };
        const { result, asked } = await asking(answer, (node) => node.rolledBackEscrows(NONE));
        const { held, settled, unread, reason } = result as RolledBackEscrows;
        const found = [held.map(({ id }) => id), settled.map(({ id }) => id), [...unread]];
        return { found, asked, code: (reason as ServiceError).code };
      };
      for (const fault of [
        () => Response.json({ data: { escrow: { ...escrow, id: ids[1], deadline: "soon" } } }),
        () => Response.json({ errors: [{ message: "It cannot.", extensions: { code: "failed" } }] }),
      ]) {
        const { found, asked } = await withFault(fault);
        expect([found, asked]).to.deep.equal([[[ids[0], ids[3]], [ids[2]], [ids[1]]], 5]);
      }
      const away = () => {
        throw new Error("socket hang up");
      };
      for (const [fault, code] of [
        [away, "unreachable"],
        [() => new Response("busy", { status: 503 }), "http_error"],
      ] as const)
        expect(await withFault(fault)).to.deep.equal({
          ...{ found: [[ids[0]], [], ids.slice(1)], asked: 3, code },
        });
    });

    it("ask for every escrow in the end, also if the node never answers about the first ones", async () => {
      const ids = [1, 2, 3, 4, 5].map((n) => `0x${`0${n}`.repeat(32)}`);
      const bad = new Set([ids[0], ids[1]]);
      const answer = (_: number, body: string) => {
        const id = ids.find((it) => body.includes(it));
        const rows = ids.map((auditedHire) => ({ auditedHire }));
        if (id === undefined) return Response.json(page(rows, { hasNextPage: false }));
        if (bad.has(id)) throw new Error("socket hang up");
        return Response.json({ data: { escrow: { ...escrow, id, hireId: id } } });
      };
      const { result } = await asking(answer, async (node) => {
        const read: string[][] = [];
        for (let round = 0; round < 4; round++) {
          if (round === 3) bad.clear();
          const { held } = await node.rolledBackEscrows(NONE);
          read.push(held.map(({ id }) => id).sort());
        }
        return read;
      });
      expect(result).to.deep.equal([[], [], ids.slice(2), ids]);
    });

    it("stop reading an endless answer", async () => {
      let given = 0;
      const endless = () =>
        new Response(
          new ReadableStream({
            pull: (controller) => {
              given += 1_048_576;
              controller.enqueue(new Uint8Array(1_048_576).fill(32));
            },
          }),
        );
      const { result } = await asking(endless, (node) => node.status());
      expect(result).to.be.instanceOf(ServiceError);
      expect(given).to.be.below(40 * 1_048_576);
    });

    /** Asks with an answer that is wrong in one place, and expects an error that names the place. */
    const expectRefused = async (
      data: unknown,
      ask: (node: OperatorNode) => Promise<unknown>,
      place: string,
    ): Promise<void> => {
      const { result } = await asking({ data }, ask);
      const about = `${place}: ${JSON.stringify(data)}`;
      expect(result, about).to.be.instanceOf(ServiceError).and.to.include({ code: "unreadable_answer" });
      const { message, hint } = result as ServiceError;
      expect(message, about).to.contain(` Wrong part: ${place}.`);
      expect(hint).to.contain("AUDIT_NODE_URL");
    };
    const HASH = `0x${"ab".repeat(32)}`;
    const assignment = {
      ...{ auditedHire: HASH, round: 1, attempt: 1, auditorAddress: SELLER, auditorType: "AUDITOR" },
      ...{ assignedAt: 1, due: 2, audit: { capability: null, amountUsdc: "0.50" } },
    };
    const escrow = {
      ...{ id: HASH, contract: POOL, status: "HELD", hireId: HASH, buyerAddress: AUDITED },
      ...{ sellerAddress: SELLER, payee: SELLER, amountUsdc: "1", feeUsdc: "0", feeRecipient: null },
      ...{ deadline: 1, arbiter: null },
    };
    const params = {
      auditArbiters: [SELLER],
      audit: {
        operators: [{ address: AUDITED, pool: POOL }],
        fees: [
          { fromUsdc: "0.00", feeUsdc: "0.005" },
          { fromUsdc: "1.00", feeUsdc: "0.01" },
        ],
      },
    };
    const [addresses, amounts, hires, times] = [
      [SELLER.toUpperCase(), `${SELLER}0`, "", null, 7, {}],
      ["1e9", "-1", "0.0000001", "NaN", "", "1,5", null, 1, {}],
      [HASH.toUpperCase(), HASH.slice(2), `${HASH}-`, `${HASH}-01`, "", null, 7],
      [-1, 1.5, 2 ** 60, "1", null, {}],
    ];
    const wrongValues: { [field: string]: unknown[] } = {
      ...{ address: addresses, pool: addresses, auditorAddress: addresses, sellerAddress: addresses },
      ...{ contract: addresses, buyerAddress: addresses, payee: addresses },
      ...{ feeRecipient: addresses.filter((it) => it !== null) },
      ...{ arbiter: addresses.filter((it) => it !== null) },
      ...{
        accruedUsdc: amounts,
        paidUsdc: amounts,
        amountUsdc: amounts,
        feeUsdc: amounts,
        fromUsdc: amounts,
      },
      ...{ auditedHire: hires, id: [...hires, `0x${"cd".repeat(32)}`], hireId: hires },
      ...{ round: [0, 100, ...times], attempt: [0, 100, ...times], assignedAt: times, closedTime: times },
      ...{ due: times.filter((it) => it !== null), deadline: times, time: times },
      ...{ endpoint: [null, 7, {}, "x".repeat(2_049)], capability: [7, {}, "", "No capability"] },
      ...{ auditorType: [null, 7], status: [null, 7, "", "held"], audit: [7, "x", []] },
    };
    const rows: [row: object, ask: (node: OperatorNode) => Promise<unknown>][] = [
      [{ address: POOL, accruedUsdc: "1", paidUsdc: "0" }, (node) => node.accounts()],
      [{ address: POOL, endpoint: "https://a.example" }, (node) => node.openAssignments()],
      [
        { auditedHire: HASH, sellerAddress: SELLER, capability: null, closedTime: 1 },
        (node) => node.challenged(),
      ],
      [{ auditedHire: HASH }, (node) => node.rolledBackEscrows(NONE)],
    ];

    it("accept no wrong value in a row of a list", async () => {
      for (const [row, ask] of rows)
        for (const field of Object.keys(row))
          for (const value of wrongValues[field] ?? []) {
            const { data } = page([{ ...row, [field]: value }], { hasNextPage: false });
            await expectRefused(data, ask, `page.nodes.0.${field}`);
          }
    });

    it("accept no wrong value in an assignment, in an escrow, in the rules, and about an entry", async () => {
      const { audit, ...ofAssignment } = assignment;
      const asked = (data: (body: string) => unknown, ask: (node: OperatorNode) => Promise<unknown>) =>
        asking((_: number, body: string) => Response.json({ data: data(body) }), ask);
      const expectWrong = ({ result }: { result: unknown }, place: string) =>
        expect(result, place)
          .to.be.instanceOf(ServiceError)
          .with.property("message")
          .that.contains(`Wrong part: ${place}`);
      const open = (row: object) =>
        asked(
          (body) => page(body.includes("auditAssignments") ? [row] : [], { hasNextPage: false }).data,
          (node) => node.openAssignments(),
        );
      for (const field of Object.keys(ofAssignment))
        for (const value of wrongValues[field] ?? [])
          expectWrong(await open({ ...assignment, [field]: value }), `page.nodes.0.${field}.`);
      for (const value of amounts)
        expectWrong(
          await open({ ...assignment, audit: { ...audit, amountUsdc: value } }),
          "page.nodes.0.audit.amountUsdc.",
        );

      const held = (changed: object) =>
        asked(
          (body) =>
            body.includes("escrow(id")
              ? { escrow: { ...escrow, ...changed } }
              : page([{ auditedHire: HASH }], { hasNextPage: false }).data,
          (node) => node.rolledBackEscrows(NONE),
        );
      expect((await held({})).result)
        .to.have.property("held")
        .with.length(1);
      for (const field of Object.keys(escrow))
        for (const value of wrongValues[field] ?? []) {
          const {
            held: found,
            unread,
            reason,
          } = (await held({ [field]: value })).result as RolledBackEscrows;
          expect([found, [...unread]], field).to.deep.equal([[], [HASH]]);
          expectWrong({ result: reason }, `escrow.${field}.`);
        }

      const rules = (node: OperatorNode) => node.rules();
      expect((await asking({ data: { params } }, rules)).result).to.have.property("pool", POOL);
      for (const address of addresses) {
        await expectRefused(
          { params: { ...params, auditArbiters: [address] } },
          rules,
          "params.auditArbiters.0",
        );
        const operators = [{ address: AUDITED, pool: address }];
        await expectRefused(
          { params: { ...params, audit: { ...params.audit, operators } } },
          rules,
          "params.audit.operators.0.pool",
        );
      }
      for (const amount of amounts) {
        const fees = [{ fromUsdc: "0", feeUsdc: amount }];
        await expectRefused(
          { params: { ...params, audit: { ...params.audit, fees } } },
          rules,
          "params.audit.fees.0.feeUsdc",
        );
      }
      // The fee of a hire is that of the last band that begins below its price. So the bands must be in order.
      const fees = params.audit.fees.toReversed();
      await expectRefused(
        { params: { ...params, audit: { ...params.audit, fees } } },
        rules,
        "params.audit.fees",
      );

      for (const time of times) {
        await expectRefused(
          { ledgerEntry: { record: { time } } },
          (node) => node.anchoredAt({ ledger: "local", index: 1 }),
          "ledgerEntry.record.time",
        );
        await expectRefused(
          { meta: { time, blockedAtSegment: null, blockedAtTransfers: null } },
          (node) => node.status(),
          "meta.time",
        );
      }
    });

    it("accept no answer of another shape, and no list that is longer than they asked for", async () => {
      const asks: ((node: OperatorNode) => Promise<unknown>)[] = [
        (node) => node.status(),
        (node) => node.rules(),
        (node) => node.accounts(),
        (node) => node.openAssignments(),
        (node) => node.challenged(),
        (node) => node.rolledBackEscrows(NONE),
        (node) => node.anchoredAt({ ledger: "local", index: 1 }),
      ];
      for (const ask of asks)
        for (const shape of [{}, { data: null }, { data: {} }, { data: { page: null } }, [], "x"]) {
          const { result } = await asking(shape, ask);
          expect(result, `${ask} ${JSON.stringify(shape)}`).to.be.instanceOf(ServiceError);
        }
      const row = { address: POOL, accruedUsdc: "0", paidUsdc: "0" };
      const long = page(
        Array.from({ length: 101 }, () => row),
        { hasNextPage: false },
      );
      await expectRefused(long.data, (node) => node.accounts(), "page.nodes");
      for (const more of [{}, { hasNextPage: "no" }, { hasNextPage: true, endCursor: 7 }]) {
        const { result } = await asking(page([], more), (node) => node.accounts());
        expect(result, JSON.stringify(more)).to.have.property("code", "unreadable_answer");
      }
    });

    it("tell that the node calls its own figures late or wrong", async () => {
      const well = { blockedAtSegment: null, blockedAtTransfers: null };
      for (const [blocked, isBlocked] of [
        [{}, false],
        [{ blockedAtSegment: { ledger: "0x01" } }, true],
        [{ blockedAtTransfers: { block: 7 } }, true],
      ] as const) {
        const { result } = await asking({ data: { meta: { time: 1, ...well, ...blocked } } }, (node) =>
          node.status(),
        );
        expect(result).to.deep.equal({ time: 1, isBlocked });
      }
      await expectRefused({ meta: { time: 1, blockedAtSegment: null } }, (node) => node.status(), "meta");
    });

    it("cause no payment, because the round ends with the error before it", async () => {
      const payments: unknown[] = [];
      const errors: unknown[] = [];
      const answers: { [query: string]: unknown } = {
        OperatorNodeStatus: { meta: { time: 1, blockedAtSegment: null, blockedAtTransfers: null } },
        OperatorRules: { params },
        OperatorAccounts: page(
          [
            { address: SELLER, accruedUsdc: "5.00", paidUsdc: "0" },
            { address: AUDITED, accruedUsdc: "5.00", paidUsdc: null },
          ],
          { hasNextPage: false },
        ).data,
      };
      const node = createGraphqlNode({
        ...{ baseUrl: "http://node.test", operator: AUDITED },
        fetch: async (_, init) => {
          const [, query = ""] = /query (\w+)/.exec(String(init?.body)) ?? [];
          return Response.json({ data: answers[query] });
        },
      });
      const desk = {
        follow: async () => ({ settled: 0n, waiting: 0, refused: 0 }),
        pay: async (accounts: unknown[]) => {
          payments.push(...accounts);
          return { settled: 0n, waiting: 0, refused: 0 };
        },
      };
      const round = createRound(
        {
          ...{ node, payments: desk, pool: POOL, payAfter: 0, now: () => 0 },
          ...{ finalTime: async () => 1, budgetLeft: async () => 0n },
          log: (_: string, details: { error?: unknown }) => errors.push(details.error),
        } as unknown as RoundParameters,
        freshState(),
        new AbortController().signal,
      );
      await round();
      expect(payments).to.deep.equal([]);
      expect(errors).to.have.length(1);
      expect(String(errors[0])).to.contain("Wrong part: page.nodes.1.paidUsdc.");
    });

    it("end at once when the operator stops, although the node does not answer", async () => {
      const asks: ((node: OperatorNode, signal: AbortSignal) => Promise<unknown>)[] = [
        (node, signal) => node.status(signal),
        (node, signal) => node.rules(signal),
        (node, signal) => node.accounts(signal),
        (node, signal) => node.openAssignments(signal),
        (node, signal) => node.challenged(signal),
        (node, signal) => node.rolledBackEscrows(NONE, signal),
        (node, signal) => node.anchoredAt({ ledger: "local", index: 1 }, signal),
      ];
      for (const ask of asks) {
        const stop = new AbortController();
        const node = createGraphqlNode({
          ...{ baseUrl: "http://node.test", operator: AUDITED },
          fetch: async () => {
            queueMicrotask(() => stop.abort(new Error("stopped")));
            return new Promise(() => {});
          },
        });
        const failure = await ask(node, stop.signal).catch((error: unknown) => error);
        expect(failure, String(ask)).to.be.instanceOf(Error).with.property("message", "stopped");
      }
    });
  });

  describe("to a node with audits", () => {
    let story: AuditStory;
    before(async () => {
      story = await openAuditStory();
    });
    const node = (operator: Address = AUDITED) =>
      createGraphqlNode({
        baseUrl: "http://node.test",
        operator,
        fetch: async (input, init) => await story.app.request(input, init),
      });
    const rows = <Table extends "audit" | "auditAssignment" | "auditor">(table: Table) => [
      ...story.store.rows(table).values(),
    ];

    it("read the node's position and its rules", async () => {
      const { time, isBlocked } = await node().status();
      expect(isBlocked).to.equal(false);
      expect(time).to.be.above(1_700_000_000);
      expect(await node().rules()).to.deep.include({
        pool: POOL,
        fees: [{ from: 0n, fee: 5_000n }],
        auditArbiters: [],
      });
      expect((await node(SELLER).rules()).pool).to.equal(null);
    });

    it("read every assignment that waits, with the endpoint of its auditor", async () => {
      const open = await node().openAssignments();
      const { assigned, secondRound } = story.hires;
      expect(open.map(({ hire }) => hire)).to.include.members([assigned, secondRound]);
      const asked = rows("auditAssignment");
      for (const it of open) {
        const row = asked.find(
          ({ hire, round, attempt }) => hire === it.hire && round === it.round && attempt === it.attempt,
        );
        expect(row?.verdict).to.equal(null);
        expect([it.auditor, it.time, it.due]).to.deep.equal([
          row?.auditor,
          row?.time,
          (row?.time ?? 0) + 86_400,
        ]);
        const offer = rows("auditor").find(({ agent }) => agent === it.auditor);
        expect([it.endpoint, it.amount, it.capability]).to.deep.equal([
          offer?.endpoint,
          500_000n,
          "text.translate",
        ]);
      }
      expect(await node(SELLER).openAssignments()).to.deep.equal([]);
    });

    it("read the account of every auditor to which an audit was ever assigned, and no other offer", async () => {
      const accounts = await node().accounts();
      const offers = rows("auditor").filter(({ assigned }) => assigned > 0);
      expect(offers).to.have.length.below(rows("auditor").length);
      expect(accounts).to.have.deep.members(
        offers.map(({ agent, accrued, paid }) => ({ auditor: agent, accrued, paid })),
      );
      expect(accounts.some(({ accrued }) => accrued > 0n)).to.equal(true);
    });

    it("read the hires that wait for a decision, and only escrows of hires that were rolled back", async () => {
      const { challenged, undisclosed } = story.hires;
      const found = await node().challenged();
      expect(found.map(({ hire }) => hire)).to.have.members([challenged, undisclosed]);
      expect(found.every(({ seller }) => seller === SELLER)).to.equal(true);
      expect(await node().rolledBackEscrows(NONE)).to.deep.equal({ held: [], settled: [], unread: NONE });
    });

    it("read when an entry was anchored", async () => {
      const [record] = story.log.events.filter((it) => it.kind === "record");
      if (record?.kind !== "record") throw new Error("the story has no record");
      const { ledger, seq, time } = record;
      expect(await node().anchoredAt({ ledger, index: seq })).to.equal(time);
      expect(await node().anchoredAt({ ledger, index: 999_999 })).to.equal(undefined);
    });
  });
});
