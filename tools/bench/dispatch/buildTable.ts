import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { complexity } from "../../../services/dispatch/triage/complexity.ts";
import { areEqualTexts } from "../../../services/settlement/engine/textComparators.ts";
import { subjectGroups } from "./mmluSubjects.ts";
import { parseCsv } from "./parseCsv.ts";
import type { Answers, Task } from "./table.ts";

const THRIFTY = "mistralai/Mixtral-8x7B-Instruct-v0.1";
const PREMIUM = "gpt-4-1106-preview";

/**
 * Makes the table's tasks from RouteLLM's files: `gsm8k_responses.csv`, and `mmlu/mmlu_<subject>.csv` for each
 * subject.
 * @param folder the folder with these files
 */
export function buildTable(folder: string): Task[] {
  const gsm8k = parseCsv(readFileSync(path.join(folder, "gsm8k_responses.csv"), "utf8"));
  const mmlu = path.join(folder, "mmlu");
  return [
    ...gsm8k.map(gsm8kTask),
    ...readdirSync(mmlu)
      .sort()
      .flatMap((file) => {
        const subject = /^mmlu_([a-z_]+)\.csv$/.exec(file)?.[1];
        if (subject === undefined) return [];
        return parseCsv(readFileSync(path.join(mmlu, file), "utf8")).map((row) => mmluTask(row, subject));
      }),
  ];
}

type Row = { [column: string]: string };

export function gsm8kTask(row: Row): Task {
  const prompt = cell(row, "prompt");
  const [thrifty, premium] = [cell(row, `${THRIFTY}_response`), cell(row, `${PREMIUM}_response`)];
  return { set: "gsm8k", kind: kindOf(prompt), ...judged(row, prompt), answers: answersOf(thrifty, premium) };
}

export function mmluTask(row: Row, subject: string): Task {
  const set = subjectGroups[subject];
  if (set === undefined) throw new Error(`${subject} is no subject of MMLU.`);
  return { set, kind: subject, ...judged(row, cell(row, "prompt")) };
}

function judged(
  row: Row,
  prompt: string,
): Pick<Task, "complexity" | "features" | "thriftyRight" | "premiumRight"> {
  const { value, features } = complexity({ prompt });
  const { length, steps, reasoning, code, numbers } = features;
  return {
    complexity: Math.round(value * 1_000),
    features: { length, steps, reasoning, code, numbers },
    thriftyRight: verdict(row, THRIFTY),
    premiumRight: verdict(row, PREMIUM),
  };
}

function cell(row: Row, name: string): string {
  const value = row[name];
  if (value === undefined) throw new Error(`There is no column ${name}.`);
  return value;
}

function verdict(row: Row, model: string): boolean {
  const text = cell(row, model);
  if (text !== "True" && text !== "False") throw new Error(`${model} must be True or False, not ${text}.`);
  return text === "True";
}

/** The kind of a GSM8K problem: what it counts. The first match is taken. */
function kindOf(prompt: string): string {
  if (/%|\bpercent|\b(?:half|third|quarter|fifth|twice|thrice|double|triple)\b|\d\/\d/i.test(prompt))
    return "shares";
  if (/\$|\b(?:dollars?|cents?|pays?|paid|costs?|price[ds]?)\b/i.test(prompt)) return "money";
  if (/\b(?:hours?|minutes?|days?|weeks?|months?|years?|mph|speed)\b/i.test(prompt)) return "time";
  return "counts";
}

function answersOf(thrifty: string, premium: string): Answers {
  return {
    thrifty: lastNumber(thrifty),
    premium: lastNumber(premium),
    thriftyLength: thrifty.length,
    premiumLength: premium.length,
    overlap: mostOverlap(thrifty, premium),
    normalised: areEqualTexts(thrifty, premium, "normalised"),
    exact: areEqualTexts(thrifty, premium, "exact"),
  };
}

/** The number after the last `####` at the end of an answer to GSM8K, or else the last number of the text. */
export function lastNumber(text: string): string {
  const marked = [...text.matchAll(/####[ \t]*\$?[ \t]*(-?\d[\d,]*(?:\.\d+)?)/g)].at(-1)?.[1];
  const found = marked ?? [...text.matchAll(/-?\d[\d,]*(?:\.\d+)?/g)].at(-1)?.[0] ?? "";
  return found.replaceAll(",", "").slice(0, 40);
}

/**
 * The highest overlap at which settlement's comparator calls two texts equal, in thousandths; -1 if there is none. A
 * binary search finds it.
 */
function mostOverlap(a: string, b: string): number {
  if (!areEqualTexts(a, b, "overlap/1", 0)) return -1;
  let [low, high] = [0, 1_000];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (areEqualTexts(a, b, "overlap/1", middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
