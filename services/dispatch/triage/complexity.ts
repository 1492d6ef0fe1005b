import { schemaDepth } from "./schemaDepth.ts";

/** The name of the function below. If its results change, it gets a new name. */
export const COMPLEXITY_VERSION = "complexity/1";

export type ComplexityInput = {
  /** The work, in the client's words. */
  prompt: string;
  /** The JSON Schema of the answer. Absent: free text. */
  outputSchema?: unknown;
  /** The size of the context slice that goes with the prompt, in bytes of UTF-8. */
  contextBytes?: number;
  /**
   * Earlier tasks of this kind in the ledger that began below the highest tier, and how many of them had to be
   * escalated.
   */
  record?: { tasks: number; escalated: number };
};

/** What was counted in a task. */
export type ComplexityFeatures = {
  /** UTF-16 code units of the prompt. */
  length: number;
  /** Items of lists, questions, and words that order work: "then", "finally", "step 2". */
  steps: number;
  /** Words that ask for reasoning: "prove", "compare", "why". */
  reasoning: number;
  /** Lines that look like code. */
  code: number;
  /** Numerals. */
  numbers: number;
  /** How deep the schema of the answer nests: 1 for an object of scalars, 0 for free text. */
  outputDepth: number;
  contextBytes: number;
  /**
   * Share of earlier tasks of this kind that had to be escalated, in thousandths; a few tasks change it only a little.
   */
  record: number;
};

export type Complexity = {
  version: typeof COMPLEXITY_VERSION;
  /** From 0 to 1, a whole number of thousandths. */
  value: number;
  features: ComplexityFeatures;
};

/**
 * What each feature adds, in thousandths: nothing up to `from`, all of `points` from `to` on, and a straight line between.
 * The sum is cut at 1,000. People chose the numbers. docs/dispatch-measured.md says how good they are.
 */
export const COMPLEXITY_POINTS: {
  readonly [feature in keyof ComplexityFeatures]: {
    readonly from: number;
    readonly to: number;
    readonly points: number;
  };
} = {
  length: { from: 80, to: 2_400, points: 250 },
  steps: { from: 1, to: 8, points: 250 },
  reasoning: { from: 0, to: 3, points: 240 },
  code: { from: 0, to: 12, points: 200 },
  numbers: { from: 1, to: 13, points: 240 },
  outputDepth: { from: 1, to: 5, points: 120 },
  contextBytes: { from: 2_000, to: 64_000, points: 150 },
  record: { from: 50, to: 500, points: 450 },
};

const STEPS =
  /^[ \t]{0,8}(?:[-*•]|\(?\d{1,3}[.)]|step \d{1,3})[ \t]|\?|\b(?:first|second|third|then|next|afterwards|after that|finally|lastly)\b/gim;

const REASONING =
  /\b(?:prove|proof|derive|why|explain|compare|contrast|evaluate|analy[sz]e|design|plan|optimi[sz]e|refactor|debug|argue|justify|infer|deduce|trade-?offs?|step by step)\b/gi;

const CODE =
  /^.{0,400}?(?:[;{}]|=>|\(\)|\):)[ \t]{0,8}$|^[ \t]{0,40}(?:```|#include\b|import\b.{1,200}\bfrom\b|def \w|class \w|function \w|SELECT\b.{1,400}\bFROM\b)/gim;

const NUMBERS = /\d+(?:[.,]\d+)*/g;

/**
 * Steps, words, code and numerals are counted in this many characters at most, so the time stays short for any prompt.
 */
const READ = 100_000;

/**
 * This many tasks that were not escalated are added to every record, so that a few real tasks change it only a little.
 */
const DOUBT = 4;

/**
 * How hard a task looks, from 0 to 1 (swarm.at §6.1). The result depends on the input only. The function adds integers,
 * so all machines get the same last digit. The function does not understand the task. Its result is a first guess, and
 * escalation corrects the guess.
 *
 * @example complexity({ prompt: "Which day is it?" }).value // 0
 */
export function complexity({ prompt, outputSchema, contextBytes = 0, record }: ComplexityInput): Complexity {
  const text = prompt.slice(0, READ);
  const features: ComplexityFeatures = {
    length: prompt.length,
    steps: count(text, STEPS),
    reasoning: count(text, REASONING),
    code: count(text, CODE),
    numbers: count(text, NUMBERS),
    outputDepth: outputSchema === undefined ? 0 : schemaDepth(outputSchema),
    contextBytes,
    record: record === undefined ? 0 : Math.floor((1_000 * record.escalated) / (record.tasks + DOUBT)),
  };
  return { version: COMPLEXITY_VERSION, value: complexityOf(features), features };
}

/** The complexity that follows from features. With it, anyone can check a value that was stored beside its features. */
export function complexityOf(features: ComplexityFeatures): number {
  let points = 0;
  for (const [feature, { from, to, points: most }] of Object.entries(COMPLEXITY_POINTS)) {
    const above = Math.min(Math.max(features[feature as keyof ComplexityFeatures] - from, 0), to - from);
    points += Math.floor((above * most) / (to - from));
  }
  return Math.min(points, 1_000) / 1_000;
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
