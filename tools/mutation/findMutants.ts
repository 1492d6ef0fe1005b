import type { AstNode } from "./astNode.ts";
import { meaningfulChanges } from "./meaningfulChanges.ts";
import type { Choice, Mutant } from "./mutant.ts";

type Change = Pick<Mutant, "operator" | "start" | "end" | "replacement" | "choice">;

/**
 * The replacements of each binary operator: its opposite, and for comparisons also the one that differs only at
 * equality.
 */
const OPERATORS: Record<string, string[]> = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "==": ["!="],
  "!=": ["=="],
  "&&": ["||"],
  "||": ["&&"],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["/"],
  "&": ["|"],
  "+=": ["-="],
  "-=": ["+="],
  ">>=": ["<<="],
};

/** Every address field of a hire, and the field that replaces it. */
const OTHER_PARTY: Record<string, string> = {
  buyer: "seller",
  seller: "buyer",
  payee: "buyer",
  feeRecipient: "seller",
  arbiter: "seller",
};

/**
 * Every mutant of one source file, in the order of the file: operators, conditions replaced by true or false,
 * statements and modifiers left out, constants, members of enums, addresses, and the {@link meaningfulChanges}.
 *
 * @param ast solc's syntax tree of the file, with types. Compile without solc's setting `stopAfter`: a tree of a file that
 * was only parsed has no types
 */
export function findMutants(file: string, source: string, ast: AstNode): Mutant[] {
  const bytes = Buffer.from(source);
  const text = (start: number, end: number) => bytes.subarray(start, end).toString();
  const changes: (Change & { where: string })[] = [];

  const visit = (node: AstNode, where: string, around: string, constant: boolean): void => {
    const inside = nameOf(node) ?? where;
    const within = node.nodeType === "FunctionDefinition" ? text(...rangeOf(node)) : around;
    const fixed = constant || node.constant === true;
    const found = [...changesOf(node, text), ...meaningfulChanges(node, { text, rangeOf, within })];
    for (const { choice, ...change } of found) {
      changes.push({ ...change, where: inside, ...(choice && !fixed && { choice }) });
    }
    for (const child of childrenOf(node)) visit(child, inside, within, fixed);
  };
  visit(ast, "", "", false);

  changes.sort((a, b) => a.start - b.start || a.end - b.end);
  const seen = new Map<string, number>();
  return changes.map(({ where, ...change }) => {
    const original = text(change.start, change.end);
    const flat = (part: string) => part.replace(/\s+/g, " ");
    const name = `${where}|${change.operator}|${flat(original)} → ${flat(change.replacement)}`;
    const occurrence = (seen.get(name) ?? 0) + 1;
    seen.set(name, occurrence);
    const line = bytes.subarray(0, change.start).toString().split("\n").length;
    return { id: `${name}|${occurrence}`, file, line, original, ...change };
  });
}

function changesOf(node: AstNode, text: (start: number, end: number) => string): Change[] {
  const [start, end] = rangeOf(node);
  const chosen = (form: Choice["form"]) => ({ choice: { form, start, end } });
  const whole = (operator: string, replacement: string): Change => ({
    operator,
    start,
    end,
    replacement,
    ...chosen("expression"),
  });
  switch (node.nodeType) {
    case "BinaryOperation":
    case "Assignment": {
      const [left, right] =
        node.nodeType === "Assignment"
          ? [node.leftHandSide, node.rightHandSide]
          : [node.leftExpression, node.rightExpression];
      const [from, to] = [rangeOf(left as AstNode)[1], rangeOf(right as AstNode)[0]];
      const operator = node.operator as string;
      const at = from + Buffer.byteLength(text(from, to).split(operator)[0] ?? "");
      return (OPERATORS[operator] ?? []).map((replacement) => ({
        operator: "operator",
        start: at,
        end: at + operator.length,
        replacement,
        ...chosen("expression"),
      }));
    }
    case "IfStatement":
    case "WhileStatement": {
      const [from, to] = rangeOf(node.condition as AstNode);
      // An endless loop is not a useful mutant. It only runs out of gas.
      return held(from, to, node.nodeType === "IfStatement" ? ["true", "false"] : ["false"]);
    }
    case "FunctionCall": {
      const called = (node.expression as AstNode).name;
      const [condition] = node.arguments as AstNode[];
      if ((called !== "require" && called !== "assert") || condition === undefined) return [];
      const [from, to] = rangeOf(condition);
      return held(from, to, ["true", "false"]);
    }
    case "Conditional": {
      const [a, b] = [rangeOf(node.trueExpression as AstNode), rangeOf(node.falseExpression as AstNode)];
      return [whole("branch", text(...a)), whole("branch", text(...b))];
    }
    case "UnaryOperation":
      return node.operator === "!"
        ? [whole("negation", text(...rangeOf(node.subExpression as AstNode)))]
        : [];
    case "ExpressionStatement":
    case "EmitStatement":
      // A statement ends with its semicolon. The step of a for loop has none and is not removed.
      return text(end, end + 1) === ";"
        ? [
            {
              operator: "statement",
              start,
              end: end + 1,
              replacement: "{}",
              choice: { form: "statement", start, end: end + 1 },
            },
          ]
        : [];
    case "ModifierInvocation":
      return node.kind === "modifierInvocation"
        ? [{ operator: "modifier", start, end, replacement: "" }]
        : [];
    case "Literal":
      return literal(node, text(start, end)).map((replacement) => whole("constant", replacement));
    case "YulLiteral":
      return node.kind === "number"
        ? [{ ...whole("constant", `add(${text(start, end)}, 1)`), ...chosen("yulLiteral") }]
        : [];
    case "YulExpressionStatement":
      return [{ ...whole("statement", ""), ...chosen("yulStatement") }];
    case "MemberAccess":
      return member(node, text(start, end)).map(([operator, replacement]) => whole(operator, replacement));
    default:
      return [];
  }
}

/** Replaces a condition by each of the values. */
function held(start: number, end: number, values: string[]): Change[] {
  const choice: Choice = { form: "expression", start, end };
  return values.map((replacement) => ({ operator: "condition", start, end, replacement, choice }));
}

function literal(node: AstNode, original: string): string[] {
  if (node.kind === "bool") return [original === "true" ? "false" : "true"];
  if (node.kind === "string") return [`${original.slice(0, -1)}x"`];
  if (node.kind !== "number") return [];
  // A long literal is an address or a hash. With `+ 1` it would not compile, so its last digit changes.
  if (/^0x/.test(original) && original.length > 18) {
    return [`${original.slice(0, -1)}${original.endsWith("1") ? "2" : "1"}`];
  }
  return [`(${original} + 1)`];
}

function member(node: AstNode, original: string): [string, string][] {
  const name = node.memberName as string;
  const type = (node.typeDescriptions as { typeString?: string } | undefined)?.typeString ?? "";
  const prefix = original.slice(0, original.length - name.length);
  if (original === "msg.sender") return [["address", "address(this)"]];
  if (type === "address" && OTHER_PARTY[name]) return [["address", `${prefix}${OTHER_PARTY[name]}`]];
  if (type.startsWith("enum ") && prefix.endsWith("Status.")) {
    const statuses = ["None", "Held", "Released", "Split", "Refunded", "TimedOut"];
    return [["status", `${prefix}${statuses[(statuses.indexOf(name) + 1) % statuses.length]}`]];
  }
  if (type.startsWith("enum ") && prefix.endsWith("Verdict.")) {
    return [["status", `${prefix}${name === "Valid" ? "RootMismatch" : "Valid"}`]];
  }
  return [];
}

function nameOf(node: AstNode): string | undefined {
  if (node.nodeType === "FunctionDefinition") return (node.name as string) || (node.kind as string);
  if (node.nodeType === "ModifierDefinition") return node.name as string;
  if (node.nodeType === "VariableDeclaration" && node.stateVariable === true) return node.name as string;
  return undefined;
}

function childrenOf(node: AstNode): AstNode[] {
  return Object.entries(node)
    .filter(([key]) => key !== "documentation" && key !== "typeDescriptions")
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .filter((value): value is AstNode => typeof value?.nodeType === "string");
}

function rangeOf(node: AstNode): [number, number] {
  const [start = 0, length = 0] = (node.nativeSrc ?? node.src ?? "0:0:0").split(":").map(Number);
  return [start, start + length];
}
