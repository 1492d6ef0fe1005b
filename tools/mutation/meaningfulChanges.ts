import type { AstNode } from "./astNode.ts";
import type { Mutant } from "./mutant.ts";

type Change = Pick<Mutant, "operator" | "start" | "end" | "replacement" | "choice">;

/** The surroundings of a node in its source. */
export type Surroundings = {
  text: (start: number, end: number) => string;
  rangeOf: (node: AstNode) => [number, number];
  /** The text of the function around it; "" outside of any. */
  within: string;
};

/**
 * The accounts that a wrong check might also accept, as expressions: for code with a hire, and for code with a
 * ledger.
 */
const OF_A_HIRE = [
  "hire.buyer",
  "hire.seller",
  "hire.payee",
  "hire.feeRecipient",
  "hire.arbiter",
  "guardian",
];
const OF_A_LEDGER = ["_guardian(ledgerId)"];

/**
 * For each message that can be signed, an expression for its digest. A value that the mutated function does not know,
 * such as 200_001, is the value that the tests sign. The key is the message's typehash: a function that names it
 * already asks for this message.
 */
const OF_HIRES: Record<string, string> = {
  HIRE_TYPEHASH: "id",
  RELEASE_TYPEHASH: "_hashTypedDataV4(keccak256(abi.encode(RELEASE_TYPEHASH, id)))",
  REFUND_TYPEHASH: "_hashTypedDataV4(keccak256(abi.encode(REFUND_TYPEHASH, id, hire.buyer)))",
  SPLIT_TYPEHASH: "_hashTypedDataV4(keccak256(abi.encode(SPLIT_TYPEHASH, id, uint128(200_001))))",
  MARK_DELIVERED_TYPEHASH:
    "_hashTypedDataV4(keccak256(abi.encode(MARK_DELIVERED_TYPEHASH, id, bytes32(type(uint256).max / 255 * 0x5e))))",
};
const OF_LEDGERS: Record<string, string> = {
  HEAD_TYPEHASH: "_hashTypedDataV4(keccak256(abi.encode(HEAD_TYPEHASH, ledgerId, newSize, newRoot)))",
};

/** The calls that check the sender or a signature, and the positions of their arguments. */
const ASKS: Record<string, { signer: number; terms?: number; signature?: number }> = {
  _requireSender: { signer: 1 },
  _requireSigned: { signer: 0, terms: 1, signature: 2 },
  _requireWord: { signer: 0, terms: 1, signature: 2 },
};

/** Calls by which one account takes the tokens of another account. */
const TAKES = ["safeTransferFrom", "permit", "_pullByAllowance", "_tryPermit"];

/** Calls that run somebody else's code. */
const CALLS_OUT = [
  "_callTransfer",
  "callNoReturn",
  "safeTransfer",
  "safeTransferFrom",
  "_tryPermit",
  "_pullByAllowance",
  "_push",
];

/**
 * Changes that come from a misunderstanding of the contract, not from a wrong operator. Examples are a check that
 * accepts one more account or one more signed message, and an event with another argument of the same type. Others
 * are a balance that is compared loosely, a statement after a call instead of before it, and the wrong account's
 * tokens.
 */
export function meaningfulChanges(node: AstNode, around: Surroundings): Change[] {
  switch (node.nodeType) {
    case "ExpressionStatement":
      return widened(node, around);
    case "EmitStatement":
      return misnamed(node, around);
    case "BinaryOperation":
      return [...loosened(node, around), ...oneMore(node, around)];
    case "FunctionCall":
      return [...misdirected(node, around), ...alsoSigned(node, around)];
    case "Block":
      return late(node, around);
    default:
      return [];
  }
}

/**
 * Widens a check of the sender or of a signature: one more account may send or sign, or the account may have signed
 * another message.
 */
function widened(node: AstNode, { text, rangeOf, within }: Surroundings): Change[] {
  const call = node.expression as AstNode | undefined;
  const asked = call && ASKS[calleeOf(call)];
  if (call === undefined || asked === undefined) return [];
  const given = argumentsOf(call).map((it) => text(...rangeOf(it)));
  const [start, last] = rangeOf(node);
  const end = last + 1;
  const statement = text(start, end);
  const unless = (operator: string, condition: string): Change => ({
    operator,
    start,
    end,
    replacement: `if (!(${condition})) ${statement}`,
    choice: { form: "statement", start, end },
  });
  const signer = given[asked.signer] as string;
  const senders = accountsIn(within, signer).map((other) => unless("sender", `msg.sender == ${other}`));
  if (asked.terms === undefined || asked.signature === undefined) return senders;
  const [terms, signature] = [given[asked.terms], given[asked.signature] as string];
  const words = otherWords(within, signer, `_hashTypedDataV4(${terms})`, signature);
  return [
    ...senders,
    ...words.map(([operator, signed]) => unless(operator, `${signature}.length != 0 && ${signed}`)),
  ];
}

/** Widens a signature check in code that calls `isSignedBy` itself. */
function alsoSigned(node: AstNode, { text, rangeOf, within }: Surroundings): Change[] {
  if (calleeOf(node) !== "isSignedBy") return [];
  const given = argumentsOf(node).map((it) => text(...rangeOf(it)));
  const [start, end] = rangeOf(node);
  const words = otherWords(within, given[0] as string, given[1] as string, given[2] as string);
  return words.map(([operator, signed]) =>
    inPlace(operator, start, end, `(${text(start, end)} || ${signed})`),
  );
}

/** The accounts that a wrong check in a function might also accept, without the account that it should accept. */
function accountsIn(within: string, asked: string): string[] {
  if (within.includes("Hire calldata hire")) {
    return OF_A_HIRE.filter((it) => it !== asked && it !== `hire.${asked}`);
  }
  return within.includes("bytes32 ledgerId") ? OF_A_LEDGER : [];
}

/**
 * Makes the wider conditions: the same message signed by each other account, and each other message signed by
 * the same account.
 */
function otherWords(within: string, signer: string, digest: string, signature: string): [string, string][] {
  const signed = (by: string, what: string) => `Signatures.isSignedBy(${by}, ${what}, ${signature})`;
  const byOthers = accountsIn(within, signer).map((it): [string, string] => ["signer", signed(it, digest)]);
  const words = Object.entries(within.includes("Hire calldata hire") ? OF_HIRES : OF_LEDGERS)
    .filter(([typehash, other]) => other !== digest && !within.includes(typehash))
    .filter(([, other]) => !other.includes("newRoot") || within.includes("newRoot"));
  return [...byOthers, ...words.map(([, other]): [string, string] => ["word", signed(signer, other)])];
}

/** Replaces an argument of an event by the next one of the same type, or by the sender of the transaction. */
function misnamed(node: AstNode, { text, rangeOf }: Surroundings): Change[] {
  const given = argumentsOf(node.eventCall as AstNode).map((it) => {
    const [start, end] = rangeOf(it);
    return { start, end, text: text(start, end), type: typeOf(it) };
  });
  return given.flatMap((it, i) => {
    const alike = [...given.slice(i + 1), ...given.slice(0, i)].find(
      (one) => one.type === it.type && one.text !== it.text,
    );
    const instead = alike ? [alike.text] : [];
    if (it.type === "address" && it.text !== "msg.sender") instead.push("msg.sender");
    return [...new Set(instead)].map((other) => inPlace("event", it.start, it.end, other));
  });
}

/** Replaces the equality of two amounts by "at most" or "at least". */
function loosened(node: AstNode, { text, rangeOf }: Surroundings): Change[] {
  const [left, right] = [node.leftExpression as AstNode, node.rightExpression as AstNode];
  const loose = { "==": ["<=", ">="], "!=": ["<", ">"] }[node.operator as string];
  const amounts = [left, right].every((it) => /^uint(64|128|256)$/.test(typeOf(it)));
  if (loose === undefined || !amounts) return [];
  const [a, b] = [text(...rangeOf(left)), text(...rangeOf(right))];
  return loose.map((operator) => inPlace("loose", ...rangeOf(node), `${a} ${operator} ${b}`));
}

/** Widens a check of the caller by one more account, or lets one account pass a check of the deadline. */
function oneMore(node: AstNode, { text, rangeOf, within }: Surroundings): Change[] {
  const [start, end] = rangeOf(node);
  const whole = text(start, end);
  // A part of a longer condition is left out here. The whole condition is widened instead.
  if (within.includes(`${whole} ||`)) return [];
  const widen = (more: string) => inPlace("role", start, end, `(${whole}) ${more}`);
  if (/^(\w+) == hire\.\w+( \|\| \1 == hire\.\w+)+$/.test(whole)) {
    const [who] = whole.split(" ");
    return [...OF_A_HIRE.filter((it) => !whole.includes(it)), "msg.sender"].map((other) =>
      widen(`|| ${who} == ${other}`),
    );
  }
  if (!within.includes("bytes32 ledgerId")) {
    if (!/^block\.timestamp [<>]=? hire\.deadline$/.test(whole)) return [];
    return OF_A_HIRE.map((other) => widen(`&& msg.sender != ${other}`));
  }
  const [, who, operator] = /^(msg\.sender|signer) (!=|==) writer$/.exec(whole) ?? [];
  return OF_A_LEDGER.flatMap((other) => {
    if (operator === undefined) return [];
    return [widen(operator === "!=" ? `&& ${who} != ${other}` : `|| ${who} == ${other}`)];
  });
}

/**
 * Takes the tokens of the wrong account, swaps owner and spender, or pays the payee in place of the buyer after a
 * delivery.
 */
function misdirected(node: AstNode, { text, rangeOf, within }: Surroundings): Change[] {
  if (calleeOf(node) === "_push" && within.includes("bool delivered")) {
    const [start, end] = rangeOf(argumentsOf(node)[1] as AstNode);
    const paid = "_orSeller(hire.payee, hire.seller)";
    return [inPlace("owner", start, end, `(delivered ? ${paid} : ${text(start, end)})`)];
  }
  if (!TAKES.includes(calleeOf(node))) return [];
  const accounts = argumentsOf(node).filter((it) => typeOf(it) === "address");
  const [owner, spender] = accounts.map((it) => ({ range: rangeOf(it), text: text(...rangeOf(it)) }));
  if (owner === undefined) return [];
  const instead = ["msg.sender"];
  if (/\bHire calldata hire\b/.test(within)) instead.push("hire.seller", "hire.payee", "guardian");
  const changes = instead.map((other) => inPlace("owner", ...owner.range, other));
  if (spender) {
    const [start, end] = [owner.range[0], spender.range[1]];
    const between = text(owner.range[1], spender.range[0]);
    // Owner and spender are two expressions, so this change cannot be switched on at run time.
    changes.push({ operator: "owner", start, end, replacement: `${spender.text}${between}${owner.text}` });
  }
  return changes;
}

/**
 * Moves one statement behind the external call that follows it: the last statement before the call, or an earlier one
 * that reads a balance or the remaining gas.
 */
function late(node: AstNode, { text, rangeOf }: Surroundings): Change[] {
  const parts = ((node.statements ?? []) as AstNode[]).map((it) => {
    const [start, end] = rangeOf(it);
    const range: [number, number] = [start, text(end, end + 1) === ";" ? end + 1 : end];
    const code = text(...range);
    return { range, code, callsOut: CALLS_OUT.some((name) => new RegExp(`\\b${name}\\(`).test(code)) };
  });
  return parts.flatMap((call, i) => {
    if (!call.callsOut) return [];
    const after = parts.slice(0, i).findLastIndex((it) => it.callsOut) + 1;
    return parts.slice(after, i).flatMap(({ range: [start, from], code }, j) => {
      if (after + j < i - 1 && !/_balance\(\)|gasleft\(\)/.test(code)) return [];
      const [, end] = call.range;
      return [{ operator: "order", start, end, replacement: `${text(from, end)} ${code}` }];
    });
  });
}

function inPlace(operator: string, start: number, end: number, replacement: string): Change {
  return { operator, start, end, replacement, choice: { form: "expression", start, end } };
}

function calleeOf(call: AstNode): string {
  const called = (call.expression ?? {}) as AstNode;
  return ((called.memberName ?? called.name) as string) ?? "";
}

function argumentsOf(call: AstNode): AstNode[] {
  return (call.arguments ?? []) as AstNode[];
}

function typeOf(node: AstNode): string {
  return (node.typeDescriptions as { typeString?: string } | undefined)?.typeString ?? "";
}
