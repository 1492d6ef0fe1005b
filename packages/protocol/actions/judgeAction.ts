import { parseUsdc } from "../amount.ts";
import type { Action } from "./action.ts";
import type { ActionRule, ActionRules, ArgumentRule } from "./actionRules.ts";
import { isWithin, pathComplaint } from "./canonicalPath.ts";
import { isAlike, type Looks, looksOf, SHELL_SIGNS } from "./plainText.ts";
import { programName } from "./programName.ts";

/** Whether an action may be taken, why, and by which rule. */
export type Judgement = { proceed: boolean; reason: string; rule: string | null };

type Of<Type extends ActionRule["type"]> = {
  rule: Extract<ActionRule, { type: Type }>;
  action: Extract<Action, { type: Type }>;
  look: Look;
};

/** Gives what a text looks like. It works this out once for a judgement, because a text may be long and rules many. */
type Look = (text: string) => Looks;

/**
 * Judges an action by the rules (swarm.at §8.2). It is denied when a rule forbids it, allowed when a rule allows it,
 * and denied when no rule matches.
 */
export function judgeAction({ rules, version }: ActionRules, action: Action): Judgement {
  const by = (rule: ActionRule): string => `(rule ${rule.id}, version ${version})`;
  const known = new Map<string, Looks>();
  const look: Look = (text) => {
    const looks = known.get(text) ?? looksOf(text);
    known.set(text, looks);
    return looks;
  };
  const forbids = rules.find((rule) => !rule.allow && matches(rule, action, look));
  if (forbids) {
    return {
      proceed: false,
      reason: `${forbids.reason ?? "This is forbidden"} ${by(forbids)}.`,
      rule: forbids.id,
    };
  }
  const allows = rules.find((rule) => rule.allow && matches(rule, action, look));
  if (allows)
    return { proceed: true, reason: `${allows.reason ?? "This is allowed"} ${by(allows)}.`, rule: allows.id };
  return { proceed: false, reason: `No rule allows this ${action.type} (version ${version}).`, rule: null };
}

function matches(rule: ActionRule, action: Action, look: Look): boolean {
  if (rule.type === "terminal" && action.type === "terminal") return matchesTerminal({ rule, action, look });
  if (rule.type === "file_write" && action.type === "file_write") return matchesWrite({ rule, action, look });
  if (rule.type === "deletion" && action.type === "deletion") return matchesDeletion({ rule, action, look });
  return rule.type === "payment" && action.type === "payment" && matchesPayment({ rule, action, look });
}

function matchesTerminal({ rule, action, look }: Of<"terminal">): boolean {
  if (!rule.allow) {
    if (!isAlike(look(programName(action.program)), look(programName(rule.program)))) return false;
    return (
      rule.args === undefined || rule.args.every((each, at) => forbidsArgument(each, action.args[at], look))
    );
  }
  if (action.program !== rule.program) return false;
  if (rule.cwd === undefined || !allowsFolder(rule.cwd, action.cwd)) return false;
  for (const [name, value] of Object.entries(action.env ?? {})) {
    if (rule.env?.[name] !== value) return false;
  }
  const wanted = rule.args ?? [];
  if (!wanted.every((each, at) => allowsArgument(each, action.args[at]))) return false;
  const more = action.args.slice(wanted.length);
  if (more.length === 0) return true;
  const { rest } = rule;
  return (
    rest !== undefined && more.length <= rest.max && more.every((value) => allowsArgument(rest.each, value))
  );
}

function allowsFolder(rule: string | { within: string }, folder: string): boolean {
  return typeof rule === "string" ? folder === rule : isWithin(folder, rule.within);
}

function allowsArgument(rule: ArgumentRule, value: string | undefined): boolean {
  if (value === undefined) return false;
  if (typeof rule === "string") return value === rule;
  if ("one_of" in rule) return rule.one_of.includes(value);
  // An argument that the rule does not write out must not be an option, and must not have a sign that a shell
  // interprets.
  if (value.startsWith("-") && !("integer" in rule)) return false;
  if (SHELL_SIGNS.test(value)) return false;
  if ("within" in rule) return pathComplaint(value) === undefined && isWithin(value, rule.within);
  if ("integer" in rule) {
    const { min, max } = rule.integer;
    return /^(?:0|-?[1-9]\d{0,14})$/.test(value) && Number(value) >= min && Number(value) <= max;
  }
  return value !== "" && value.length <= rule.text.max_length && !/^[=@%]/.test(value);
}

function forbidsArgument(rule: ArgumentRule, value: string | undefined, look: Look): boolean {
  if (value === undefined) return false;
  if (typeof rule === "string") return isAlike(look(value), look(rule));
  if ("one_of" in rule) return rule.one_of.some((each) => isAlike(look(value), look(each)));
  if ("within" in rule) return isAlike(look(value), look(rule.within), isWithin);
  return allowsArgument(rule, value);
}

/** A rule that forbids a folder also forbids what only looks like it. With `allow`, only this exact folder is meant. */
function covers(folder: string, path: string, { allow, look }: { allow: boolean; look: Look }): boolean {
  return allow ? isWithin(path, folder) : isAlike(look(path), look(folder), isWithin);
}

function matchesWrite({ rule, action, look }: Of<"file_write">): boolean {
  const { allow, path, modes, max_bytes: maxBytes, endings } = rule;
  if (!covers(path.within, action.path, { allow, look }) || (allow && action.path === path.within))
    return false;
  if (modes !== undefined && !modes.includes(action.mode)) return false;
  if (maxBytes !== undefined && (allow ? action.bytes > maxBytes : action.bytes <= maxBytes)) return false;
  if (endings === undefined) return true;
  const endsIn = (name: string, ending: string): boolean => name.endsWith(ending);
  return endings.some((ending) =>
    allow ? endsIn(action.path, ending) : isAlike(look(action.path), look(ending), endsIn),
  );
}

function matchesDeletion({ rule, action, look }: Of<"deletion">): boolean {
  const { allow, path, recursive } = rule;
  if (allow) {
    if (!covers(path.within, action.path, { allow, look }) || action.path === path.within) return false;
    return recursive === true || !action.recursive;
  }
  // Deleting a parent folder would delete the protected folder too.
  const isAbove = action.recursive && isAlike(look(path.within), look(action.path), isWithin);
  if (!isAbove && !covers(path.within, action.path, { allow, look })) return false;
  return recursive === undefined || recursive === action.recursive;
}

function matchesPayment({ rule, action }: Of<"payment">): boolean {
  const { allow, to, max_usdc: max, network, token } = rule;
  if (to !== undefined && !to.includes(action.to)) return false;
  if (network !== undefined && network !== action.network) return false;
  if (token !== undefined && token !== action.token) return false;
  if (max === undefined) return true;
  const isAbove = parseUsdc(action.amount_usdc) > parseUsdc(max);
  return allow ? !isAbove && parseUsdc(action.amount_usdc) > 0n : isAbove;
}
