// Who may do what, and when: the table of rights in docs/SECURITY.md as code, independent of the contract. The matrix in
// test/contracts/hireEscrow/matrix.test.ts compares every cell with these rules.

/** The accounts that try each verb. The relayer sends messages that others signed. */
export const ROLES = [
  "buyer",
  "seller",
  "payee",
  "arbiter",
  "feeRecipient",
  "guardian",
  "relayer",
  "stranger",
] as const;
export type Role = (typeof ROLES)[number];

/** The state of a hire. `late` means that its deadline has come. */
export type Situation = {
  status: "none" | "held" | "released" | "split" | "refunded" | "timedOut";
  delivered: boolean;
  late: boolean;
  paused: boolean;
};

/**
 * How an account acts. It sends the call itself, alone or in a batch. Or somebody else sends its signature, plain or
 * wrapped (ERC-6492).
 */
export const WAYS = ["sender", "batched", "signed", "wrapped"] as const;
export type Way = (typeof WAYS)[number];

export const VERBS = [
  "deposit",
  "depositWithAuthorization",
  "depositWithPermit",
  "markDelivered",
  "release",
  "split",
  "refund",
  "timeoutRefund",
  "pause",
  "unpause",
] as const;
export type Verb = (typeof VERBS)[number];

/** A way in which a cell can break a rule. */
export type Fault = "word" | "party" | "paused" | "tooLate" | "tooEarly" | "status" | "delivered";

type Rule = {
  /** The account whose word the verb needs. `party`: the party that the call names. `anyone`: no word is needed. */
  word: Role | "party" | "anyone";
  ways: readonly Way[];
  /** The status that the hire must have, if any. */
  status?: "none" | "held";
  when?: "before" | "from";
  stops?: "paused";
  once?: "delivered";
};

const SENT: readonly Way[] = ["sender", "batched"];
const SIGNED: readonly Way[] = ["signed", "wrapped"];

const RULES: Record<Verb, Rule> = {
  deposit: { word: "buyer", ways: SENT, status: "none", when: "before", stops: "paused" },
  depositWithAuthorization: { word: "buyer", ways: SIGNED, status: "none", when: "before", stops: "paused" },
  depositWithPermit: { word: "buyer", ways: WAYS, status: "none", when: "before", stops: "paused" },
  markDelivered: { word: "seller", ways: WAYS, status: "held", when: "before", once: "delivered" },
  release: { word: "buyer", ways: WAYS, status: "held" },
  split: { word: "buyer", ways: WAYS, status: "held" },
  refund: { word: "party", ways: WAYS, status: "held" },
  timeoutRefund: { word: "anyone", ways: WAYS, status: "held", when: "from" },
  pause: { word: "guardian", ways: SENT },
  unpause: { word: "guardian", ways: SENT },
};

/** The accounts that can refund in their own name. */
export const PARTIES: readonly Role[] = ["buyer", "seller", "arbiter"];

/**
 * The account whose word a verb needs; undefined if anyone may call the verb. Only a refund names an account in the call:
 * `named`.
 */
export function neededWord(verb: Verb, named: Role): Role | undefined {
  const { word } = RULES[verb];
  if (word === "anyone") return undefined;
  return word === "party" ? named : word;
}

/** Whether a verb accepts this way of acting. */
export function hears(verb: Verb, way: Way): boolean {
  return RULES[verb].ways.includes(way);
}

/**
 * Every rule that a cell breaks. A cell without broken rules is allowed. Any other cell is refused because of one of
 * them.
 */
export function faults(verb: Verb, speaker: Role, named: Role, way: Way, it: Situation): Fault[] {
  const rule = RULES[verb];
  const found: Fault[] = [];
  const needed = neededWord(verb, named);
  if (rule.word === "party" && !PARTIES.includes(named)) found.push("party");
  if (needed !== undefined && (speaker !== needed || !hears(verb, way))) found.push("word");
  if (rule.stops === "paused" && it.paused) found.push("paused");
  if (rule.when === "before" && it.late) found.push("tooLate");
  if (rule.when === "from" && !it.late) found.push("tooEarly");
  if (rule.status !== undefined && it.status !== rule.status) found.push("status");
  if (rule.once === "delivered" && it.delivered && it.status === "held") found.push("delivered");
  return found;
}
