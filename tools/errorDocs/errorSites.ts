import { type SourceToken, sourceTokens } from "./sourceTokens.ts";

/**
 * A place where a source makes an error. `message` and `hint` are present if the source has them as text
 * there.
 */
export type ErrorSite = {
  code: string;
  file: string;
  message?: string;
  hint?: string;
  /** The HTTP status, if the source names it there. */
  status?: number;
  /** Whether the error is about an input and names its fields. */
  isInput?: true;
};

/** A function that makes errors: the folder in which it counts, and the positions of its arguments. */
type Maker = { in: string; code: number; message?: number; hint?: number; status?: number; isInput?: true };
const MAKERS = new Map<string, Maker>(
  Object.entries({
    refused: { in: "packages/sdk/", status: 0, code: 1, message: 2 },
    refuse: { in: "packages/sdk/", code: 0, message: 1 },
    lost: { in: "packages/sdk/", code: 0, message: 1, hint: 2 },
    problem: { in: "", status: 0, code: 1, message: 2 },
    queryError: { in: "indexer/api/", code: 0, message: 1 },
    refusal: { in: "indexer/api/", code: 0, message: 1 },
    withCode: { in: "indexer/api/", code: 0 },
    ForeignJsonError: { in: "", code: 0, message: 1, isInput: true },
    invalidInputFromZod: { in: "", code: 2, isInput: true },
  }),
);

const CODE = /^(?:[a-z]+(?:_[a-z0-9]+)*|[A-Z]+(?:_[A-Z]+)*)$/;
/** Zod's code for our own checks. It is not an error code of ours. */
const OF_ZOD = "custom";

/**
 * Finds the places where a source makes errors: objects with a `code` and a message, and calls of {@link
 * MAKERS}.
 */
export function errorSites(file: string, source: string): ErrorSite[] {
  const tokens = sourceTokens(source);
  const sites: ErrorSite[] = [];
  for (const [at, token] of tokens.entries()) {
    if (token.kind !== "name") continue;
    const next = tokens[at + 1]?.value;
    if (token.value === "code" && isMember(tokens, at)) sites.push(...ofObject(file, tokens, at));
    const maker = next === "(" ? MAKERS.get(token.value) : undefined;
    if (maker && file.startsWith(maker.in)) sites.push(...ofCall(file, tokens, at, maker));
  }
  return sites;
}

/** Whether a name is a key of an object: a colon follows it, or it is in short form. */
function isMember(tokens: SourceToken[], at: number): boolean {
  const [before, after] = [tokens[at - 1]?.value ?? "", tokens[at + 1]?.value ?? ""];
  return after === ":" || ("{,".includes(before) && ",}".includes(after));
}

function ofObject(file: string, tokens: SourceToken[], at: number): ErrorSite[] {
  const members = membersAround(tokens, at);
  const hasText = ["message", "detail", "issues", "hint"].some((name) => members.has(name));
  if (!hasText || isVerdictReason(members)) return [];
  const message = textOf(tokens, at, members.get("message") ?? members.get("detail"));
  const hint = textOf(tokens, at, members.get("hint"));
  const status = numberIn(members.get("status"));
  const more = given({ message, hint, status, isInput: members.has("issues") || undefined });
  return codesIn(settingOf(tokens, at, members.get("code")) ?? []).map((code) => ({ code, file, ...more }));
}

/** Whether an object is a reason of an auditor's verdict, `{ code, detail }`. Such a code is not an error's. */
const isVerdictReason = (members: ReadonlyMap<string, unknown>): boolean =>
  members.size === 2 && members.has("detail");

function ofCall(file: string, tokens: SourceToken[], at: number, maker: Maker): ErrorSite[] {
  const parts = partsFrom(tokens, at + 2);
  const part = (n?: number) => (n === undefined ? undefined : parts[n]);
  const message = textOf(tokens, at, part(maker.message));
  const hint = textOf(tokens, at, part(maker.hint) ?? hintIn(parts.at(-1) ?? []));
  const more = given({ message, hint, status: numberIn(part(maker.status)), isInput: maker.isInput });
  return codesIn(part(maker.code) ?? []).map((code) => ({ code, file, ...more }));
}

/** The hint in an object with more fields of an error. */
function hintIn(expression: SourceToken[]): SourceToken[] | undefined {
  const at = expression.findIndex(({ value }, n) => value === "hint" && expression[n + 1]?.value === ":");
  return at < 0 ? undefined : partsFrom(expression, at + 2)[0];
}

/** A copy of an object without the fields that are undefined. */
function given<T extends object>(parts: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as never;
}

const numberIn = (expression?: SourceToken[]): number | undefined =>
  expression?.length === 1 && /^[1-5]\d\d$/.test(expression[0]?.value ?? "")
    ? Number(expression[0]?.value)
    : undefined;

/** The codes that can be the value of an expression. Texts in comparisons do not count. */
function codesIn(expression: SourceToken[]): string[] {
  return expression.flatMap(({ kind, value }, at) =>
    kind === "text" && CODE.test(value) && value !== OF_ZOD && !isCompared(expression, at) ? [value] : [],
  );
}

/** Whether a text is the operand of a comparison. */
const isCompared = (expression: SourceToken[], at: number): boolean => expression[at - 1]?.value === "=";

/** The members of the object around a token, by name. A member in short form has its name as its value. */
function membersAround(tokens: SourceToken[], inside: number): Map<string, SourceToken[]> {
  let depth = 0;
  let begin = inside;
  while (begin > 0) {
    const { kind, value } = tokens[begin - 1] as SourceToken;
    if (kind === "mark" && "([{".includes(value) && depth-- === 0) break;
    if (kind === "mark" && ")]}".includes(value)) depth++;
    begin--;
  }
  const members = new Map<string, SourceToken[]>();
  for (const part of partsFrom(tokens, begin)) {
    const [name, colon] = part;
    if (name?.kind !== "name") continue;
    if (colon === undefined) members.set(name.value, part);
    else if (colon.value === ":") members.set(name.value, part.slice(2));
  }
  return members;
}

/** The parts between commas, from after an opening bracket to the closing one. */
function partsFrom(tokens: SourceToken[], begin: number): SourceToken[][] {
  const parts: SourceToken[][] = [[]];
  let depth = 0;
  for (let at = begin; at < tokens.length; at++) {
    const token = tokens[at] as SourceToken;
    if (token.kind === "mark" && "([{".includes(token.value)) depth++;
    if (token.kind === "mark" && ")]}".includes(token.value) && depth-- === 0) break;
    if (depth === 0 && token.kind === "mark" && token.value === ",") parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts;
}

/** The text of an expression: joined texts, all alternatives of a choice, or the value that a name got before. */
function textOf(tokens: SourceToken[], before: number, given?: SourceToken[]): string | undefined {
  const expression = settingOf(tokens, before, given);
  if (expression === undefined) return undefined;
  const choices: string[] = [];
  let depth = 0;
  for (const [at, { kind, value }] of expression.entries()) {
    if (kind === "mark") depth += "([{".includes(value) ? 1 : ")]}".includes(value) ? -1 : 0;
    if (kind !== "text" || depth > 0 || isCompared(expression, at)) continue;
    const isMore = expression[at - 1]?.value === "+" && expression[at - 2]?.kind === "text";
    if (isMore) choices.push(`${choices.pop()}${value}`);
    else choices.push(value);
  }
  const text = choices.join(" / ").replaceAll(/\s+/g, " ").trim();
  return text === "" ? undefined : text;
}

/** The expression itself. If it is a name: the value that the name got before. */
function settingOf(tokens: SourceToken[], before: number, given?: SourceToken[]): SourceToken[] | undefined {
  const [first, ...rest] = given ?? [];
  return first?.kind === "name" && rest.length === 0 ? setBefore(tokens, before, first) : given;
}

function setBefore(tokens: SourceToken[], before: number, { value }: SourceToken): SourceToken[] | undefined {
  for (let at = before; at > 1; at--) {
    if (tokens[at - 1]?.value !== value || tokens[at]?.value !== "=" || tokens[at - 2]?.value !== "const")
      continue;
    const rest = tokens.slice(at + 1);
    const end = rest.findIndex((token) => token.kind === "mark" && token.value === ";");
    return rest.slice(0, end < 0 ? undefined : end);
  }
  return undefined;
}
