import { readFileSync } from "node:fs";
import { z } from "zod";

/** The committed table. */
export const TABLE = new URL("routellm.tsv", import.meta.url);

/** The features of complexity/1 that the table's tasks have. These tasks have no output schema, context or record. */
export const FEATURES = ["length", "steps", "reasoning", "code", "numbers"] as const;

export type Feature = (typeof FEATURES)[number];

/** One task, and the results of a thrifty and a premium model. */
export type Task = {
  /** `gsm8k`, or the group of MMLU's subjects: `stem`, `humanities`, `social`, `other`. */
  set: string;
  /** The kind of task: for GSM8K what is counted, for MMLU the subject. */
  kind: string;
  /** Complexity in thousandths. */
  complexity: number;
  features: Readonly<Record<Feature, number>>;
  thriftyRight: boolean;
  premiumRight: boolean;
  /** Present only if answers are known: GSM8K. */
  answers?: Answers;
};

export type Answers = {
  /** The last number of each answer, without commas; empty when there is none. */
  thrifty: string;
  premium: string;
  /** Length of each answer in UTF-16 code units. */
  thriftyLength: number;
  premiumLength: number;
  /** The highest `overlap`, in thousandths, at which `overlap/1` calls the two texts equal; -1 if there is none. */
  overlap: number;
  /** Whether `normalised` and `exact` call the two texts equal. */
  normalised: boolean;
  exact: boolean;
};

const COLUMNS = [
  ...["set", "kind", "complexity", ...FEATURES, "thrifty", "premium"],
  ...[
    "thrifty_answer",
    "premium_answer",
    "thrifty_length",
    "premium_length",
    "overlap",
    "normalised",
    "exact",
  ],
];

const ABOUT = [
  "Tasks of GSM8K and MMLU, with the verdicts on two models' answers, as RouteLLM publishes them.",
  "Source: https://github.com/lm-sys/RouteLLM, routellm/evals/gsm8k/gsm8k_responses.csv and routellm/evals/mmlu/responses/*.csv.",
  "License: Apache-2.0 (lm-sys/RouteLLM). The tasks are of GSM8K (MIT, openai/grade-school-math) and MMLU (MIT, hendrycks/test).",
  "Changed: the texts are left out. In their place are features (complexity/1), lengths, last numbers and the results of settlement's comparators.",
  "Models: thrifty is mistralai/Mixtral-8x7B-Instruct-v0.1, premium gpt-4-1106-preview.",
  "Made by npm run bench:dispatch -- --data DIR.",
];

/** The table as text: lines with # describe it, then come the column names, then one line for each task. */
export function formatTable(tasks: readonly Task[]): string {
  return [...ABOUT.map((line) => `# ${line}`), COLUMNS.join("\t"), ...tasks.map(lineOf), ""].join("\n");
}

function lineOf({ set, kind, complexity, features, thriftyRight, premiumRight, answers }: Task): string {
  const values = [
    set,
    kind,
    complexity,
    ...FEATURES.map((name) => features[name]),
    +thriftyRight,
    +premiumRight,
  ];
  if (answers === undefined) return values.join("\t");
  const { thrifty, premium, thriftyLength, premiumLength, overlap, normalised, exact } = answers;
  const more = [thrifty, premium, thriftyLength, premiumLength, overlap, +normalised, +exact];
  return [...values, ...more].join("\t");
}

const whole = z
  .string()
  .regex(/^-?\d{1,9}$/)
  .transform(Number);
const flag = z.enum(["0", "1"]).transform((text) => text === "1");
const number = z.string().regex(/^(?:-?\d{1,40}(?:\.\d{1,40})?)?$/);
const word = z.string().regex(/^[a-z0-9_]{1,64}$/);

const short = z.tuple([word, word, whole, whole, whole, whole, whole, whole, flag, flag]);
const long = z.tuple([...short.def.items, number, number, whole, whole, whole, flag, flag]);

/**
 * Reads a table in the form of {@link formatTable}.
 *
 * @throws Error naming the line at fault
 */
export function parseTable(text: string): Task[] {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  if (lines[0] !== COLUMNS.join("\t"))
    throw new Error("The table has other columns. Make it again with --data.");
  return lines.slice(1).map((line, at) => {
    const cells = line.split("\t");
    const read = cells.length === COLUMNS.length ? long.safeParse(cells) : short.safeParse(cells);
    if (!read.success) throw new Error(`Task ${at + 1} of the table: ${z.prettifyError(read.error)}`);
    return taskOf(read.data);
  });
}

function taskOf(cells: z.output<typeof short> | z.output<typeof long>): Task {
  const [set, kind, complexity, length, steps, reasoning, code, numbers, thriftyRight, premiumRight] = cells;
  const features = { length, steps, reasoning, code, numbers };
  const task: Task = { set, kind, complexity, features, thriftyRight, premiumRight };
  if (cells.length === short.def.items.length) return task;
  const [thrifty, premium, thriftyLength, premiumLength, overlap, normalised, exact] = cells.slice(
    short.def.items.length,
  ) as [string, string, number, number, number, boolean, boolean];
  return { ...task, answers: { thrifty, premium, thriftyLength, premiumLength, overlap, normalised, exact } };
}

/** The tasks of the committed table. */
export function readTable(): Task[] {
  return parseTable(readFileSync(TABLE, "utf8"));
}
