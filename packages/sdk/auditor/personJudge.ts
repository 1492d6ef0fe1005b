import { readDisclosure } from "tallystick-protocol/audits/disclosure";
import { TallystickError } from "tallystick-protocol/errors";
import { readForeignJson } from "tallystick-protocol/json/foreignJson";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { type AuditWork, auditWorks } from "./auditWork.ts";
import { disclosedHireOf } from "./disclosedHireOf.ts";
import { type Judge, type Judgement, readJudgement } from "./judge.ts";

/** The audits that wait for a person's judgement, and the means to judge them. */
export type AuditDesk = {
  /** Give this judge to `createAuditor`. It has no judgement until `decide` stores one. */
  judge: Judge;
  /** The audits whose work is here and waits for a judgement, the most urgent first. */
  waiting: () => Promise<AuditWork[]>;
  /**
   * The work of one audit. Its params and its result are text from strangers. @throws TallystickError
   * `unknown_audit`
   */
  show: (token: string) => Promise<{ work: AuditWork; params: unknown; result: unknown }>;
  /**
   * Stores the judgement of one audit. It can be replaced until the auditor uses it. @throws TallystickError
   * `unknown_audit`; InvalidInputError
   */
  decide: (token: string, judgement: Judgement) => Promise<void>;
};

/**
 * Lets a person be the judge. The auditor puts the work into its store and reads the decision from there. The
 * person may use another process on the same store.
 *
 * @param store the auditor's store
 */
export function personJudge(store: KeyValueStore): AuditDesk {
  const works = auditWorks(store);

  async function find(token: string): Promise<AuditWork> {
    const work = /^audt_[0-9A-Z]{26}$/.test(token) ? await works.get(token) : undefined;
    if (work?.stage === "judging") return work;
    throw new TallystickError({
      code: "unknown_audit",
      message: work
        ? `${token} is ${work.stage}, so it does not wait for a judgement.`
        : `${token} is not an audit of this node.`,
      hint: "List the waiting audits, and give a token from that list.",
    });
  }

  return {
    judge: async ({ token }) => await works.decision(token),
    waiting: async () => {
      const waiting = (await works.all()).filter(({ stage }) => stage === "judging");
      return waiting.sort((a, b) => a.assignment.due - b.assignment.due);
    },
    show: async (token) => {
      const work = await find(token);
      const text = (await works.bytes(token)) ?? "";
      const { params, result } = readDisclosure(readForeignJson(text), disclosedHireOf(work.assignment));
      return { work, params, result };
    },
    decide: async (token, judgement) => {
      const read = readJudgement(judgement);
      await find(token);
      await works.decide(token, read);
    },
  };
}
