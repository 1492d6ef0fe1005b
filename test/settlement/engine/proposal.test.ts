import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { PyJson } from "tallystick-protocol/json/pythonJson";
import {
  type Proposal,
  parseSettleRequest,
  settlementPayload,
} from "../../../services/settlement/engine/proposal.ts";

const HASH = "ab".repeat(32);
const header = { task_id: "t", parent_hash: HASH };
const payload = { data_update: { a: 1n }, confidence_score: 0.9 };
const least = {
  taskId: "t",
  parentHash: HASH,
  agentMetadata: {},
  dataUpdate: { a: 1n },
  confidenceScore: 0.9,
};
const read = (changes: { [key: string]: PyJson }) => parseSettleRequest({ header, payload, ...changes });

/** The faults that an answer names, as `field: message`. */
const faults = (body: PyJson): string[] => {
  try {
    parseSettleRequest(body);
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return error.issues.map(({ field, message }) => `${field}: ${message}`);
  }
  return [];
};

describe("a proposal that is read", () => {
  it("has what was sent, and nothing for what was left out, is null or has no meaning here", () => {
    expect(read({})).to.deep.equal({ proposal: least });
    const nothing = { header: { ...header, context_hash: null }, proof: null, shadow: null, agent: "0x01" };
    expect(read(nothing)).to.deep.equal({ proposal: least });
    const whole = read({
      header: { ...header, agent_metadata: { model: "m" }, context_hash: "cd".repeat(32), note: "x" },
      ...{ proof: "because", shadow: { payload: { data_update: { a: 2n }, confidence_score: 0.1 } } },
    });
    expect(whole).to.deep.equal({
      proposal: {
        ...least,
        ...{ agentMetadata: { model: "m" }, contextHash: "cd".repeat(32), proof: "because" },
      },
      shadow: { dataUpdate: { a: 2n } },
    });
  });

  it("has a task id of up to 128 characters and a confidence from 0 to 1, as an int or a float", () => {
    for (const task_id of ["x", "é".repeat(128), "a b", "😀"])
      expect(read({ header: { ...header, task_id } }).proposal.taskId).to.equal(task_id);
    for (const [sent, known] of [
      [0n, 0],
      [1n, 1],
      [0, 0],
      [1, 1],
      [0.5, 0.5],
    ] as const)
      expect(read({ payload: { ...payload, confidence_score: sent } }).proposal.confidenceScore).to.equal(
        known,
      );
  });

  it("is refused with every fault, each with its field, and without the fields of a missing object", () => {
    const object = "must be an object";
    const hash = "must be 64 lower-case hex digits";
    const share = "payload.confidence_score: must be a number from 0 to 1";
    const cases: [PyJson, string[]][] = [
      [null, [`body: ${object}`]],
      [[], [`body: ${object}`]],
      [{}, [`header: ${object}`, `payload: ${object}`]],
      [
        { header: {}, payload: {} },
        [
          "header.task_id: must be a string",
          `header.parent_hash: ${hash}`,
          `payload.data_update: ${object}`,
          share,
        ],
      ],
      [{ header, payload: { ...payload, confidence_score: 1.000001 } }, [share]],
      [{ header, payload: { ...payload, confidence_score: -1n } }, [share]],
      [{ header, payload: { ...payload, confidence_score: true } }, [share]],
      [
        { header: { ...header, context_hash: 1n, agent_metadata: null }, payload, proof: 1n, shadow: 1n },
        [
          `header.agent_metadata: ${object}`,
          `header.context_hash: ${hash}`,
          "proof: must be a string",
          `shadow: ${object}`,
        ],
      ],
      [{ header, payload, shadow: {} }, [`shadow.payload: ${object}`]],
      [{ header, payload, shadow: { payload: {} } }, [`shadow.payload.data_update: ${object}`]],
    ];
    for (const [body, wanted] of cases) expect(faults(body)).to.deep.equal(wanted);
    const forbidden = "header.task_id: must not have control characters or lone surrogates";
    for (const [task_id, fault] of [
      ["", "header.task_id: must have 1 to 128 characters"],
      ["x".repeat(129), "header.task_id: must have 1 to 128 characters"],
      ["a\nb", forbidden],
      ["\u0085", forbidden],
      ["a\ud800", forbidden],
    ] as const)
      expect(faults({ header: { ...header, task_id }, payload })).to.deep.equal([fault]);
  });
});

describe("the payload of a settled proposal", () => {
  it("has only the fields that the proposal has", () => {
    const base = { type: "settlement", data_update: { a: 1n }, confidence_score: 0.9, agent_metadata: {} };
    expect(settlementPayload(least)).to.deep.equal(base);
    const comparison = { path: "a", comparator: "exact", equal: false, shadow: "x" };
    const cases: [Partial<Proposal>, object][] = [
      [{ contextHash: HASH }, { context_hash: HASH }],
      [{ proof: "" }, { proof: "" }],
      [{ comparisons: [comparison] }, { comparisons: [comparison] }],
      [{ agent: "0x01" }, { agent: "0x01" }],
    ];
    for (const [more, field] of cases)
      expect(settlementPayload({ ...least, ...more })).to.deep.equal({ ...base, ...field });
  });
});
