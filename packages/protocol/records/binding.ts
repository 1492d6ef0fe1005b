import { type InputIssue, InvalidInputError } from "../errors.ts";
import type { RecordBody } from "../json/recordBody.ts";
import type { LedgerName } from "./ledgerName.ts";

/** What a bound body contains in addition to its fields. */
export type Binding = { type: string; ledger: LedgerName };

/**
 * The signed form of these types cannot change, because existing SDKs sign it. Their fields show which type they are.
 */
const FREE_TYPES: readonly string[] = ["listing", "receipt"];

/** Whether records of a type sign their type and their ledger inside the body: all but listings and receipts. */
export function isBoundType(type: string): boolean {
  return !FREE_TYPES.includes(type);
}

/** Whether a body has the older form, which names neither its type nor its ledger. */
export function isUnbound(body: RecordBody): boolean {
  return !Object.hasOwn(body, "type") && !Object.hasOwn(body, "ledger");
}

/**
 * The body to sign for a record of `type` in `ledger`. For a listing or receipt these are the fields themselves.
 *
 * @throws InvalidInputError when the fields bring another type or ledger with them
 */
export function bindBody(fields: RecordBody, { type, ledger }: Binding): RecordBody {
  if (!isBoundType(type)) return fields;
  const body = { type, ledger, ...fields };
  checkBinding({ type, body }, ledger);
  return body;
}

/**
 * Refuses a record whose signed body does not name the record's type and this ledger. Otherwise a signature could be
 * replayed as another record, or in another ledger. Listings and receipts pass.
 *
 * @param ledger the ledger in which the record is, or will be
 * @throws InvalidInputError `unbound` for the older form, `other_type`, `other_ledger`; naming `body.type` and
 * `body.ledger`
 */
export function checkBinding({ type, body }: { type: string; body: RecordBody }, ledger: LedgerName): void {
  if (!isBoundType(type)) return;
  const issues: InputIssue[] = [];
  const wanted: Binding = { type, ledger };
  for (const [name, value] of Object.entries(wanted)) {
    if (Object.hasOwn(body, name) && body[name] === value) continue;
    const what = name === "type" ? "the type of this record" : "the name of this ledger";
    issues.push({ field: `body.${name}`, message: `must be ${value}, ${what}` });
  }
  const [first] = issues;
  if (first === undefined) return;
  const code = isUnbound(body) ? "unbound" : first.field === "body.type" ? "other_type" : "other_ledger";
  const hint =
    "Sign type and ledger inside the body. GET /v1/ledger/latest gives the ledger's name. Sign for it only if it is the right ledger.";
  throw new InvalidInputError({ issues, code, hint });
}
