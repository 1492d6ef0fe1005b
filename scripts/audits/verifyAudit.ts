import type { Row } from "tallystick-derive/tables";
import type { Hex } from "tallystick-protocol/hex";
import type { AuditAnswer } from "tallystick-sdk/query/createGraphqlClient";
import { nodeAt } from "../query/nodeQuery.ts";
import { type AuditChain, openAuditChain } from "./auditChain.ts";
import { checkTicks, type Draw, drawOf } from "./checkDraw.ts";
import { checkLedgers } from "./checkLedgers.ts";
import { checkPayments } from "./checkPayments.ts";
import { type DerivedLog, deriveLogOf } from "./derivedLog.ts";
import { type Finding, Findings } from "./findings.ts";
import { ticksOfAudit } from "./ticksOfAudit.ts";

export type { Finding } from "./findings.ts";

/** An auditor that was asked, as derived from the log. */
type Asked = Pick<Row<"auditAssignment">, "round" | "attempt" | "auditor" | "block">;

/**
 * The result of verifying a hire's audit. `chain`: whether a chain was asked; if not, the block hashes are
 * only the node's claim.
 */
export type AuditVerification = {
  hire: string;
  holds: boolean;
  chain: boolean;
  /** The last block of the log. Later blocks are not compared. */
  upToBlock: number;
  draw: {
    block: number;
    hash: Hex;
    place: number;
    of: number;
    ppm: number;
    number: number;
    drawn: boolean;
  } | null;
  asked: Asked[];
  findings: Finding[];
  /** What could not be checked within the limits, in sentences. `holds` says nothing about it. */
  unchecked: string[];
};

type ClaimedAudit = NonNullable<AuditAnswer["audit"]>;

/**
 * Computes again whether a hire was drawn for an audit, and which auditors had to judge it. The list of hires
 * and the rosters are derived again from the node's open log. The block hashes come from a chain that the
 * caller trusts. The log itself is compared with the ledgers and payments on that chain.
 *
 * @param parameters.hire `<tx>-<log>` of its payment, or its escrow's id
 * @param parameters.rpcUrl the trusted chain; without it no hash is compared, and gaps in the log are not
 * found
 * @throws TallystickError `chain_unavailable`, and those of reading and deriving the log; ServiceError, also
 * `unreadable_answer`
 */
export async function verifyAudit(parameters: {
  url: string;
  hire: string;
  rpcUrl?: string | undefined;
  signal?: AbortSignal;
}): Promise<AuditVerification> {
  const { url, hire, rpcUrl, signal } = parameters;
  const chain = rpcUrl === undefined ? undefined : openAuditChain(rpcUrl);
  const log = await deriveLogOf(url, signal);
  const { audit: claimed } = await nodeAt({ url }).graphql.audit({ id: hire }, { signal });
  const found = new Findings();
  const audit = log.store.get("audit", hire);
  const asked = [...log.store.rows("auditAssignment").values()].filter((it) => it.audit === hire);
  const draw = audit === null ? null : await drawOf(log, audit);
  if (audit === null) compareAbsence(log, hire, claimed, found);
  else compareDraw(log, { audit, draw, claimed }, found);
  compareAsked(log, { asked, claimed }, found);
  if (chain !== undefined) await askChain(url, { log, audit, draw, asked, chain, signal }, found);
  return {
    hire,
    holds: found.all.every(({ holds }) => holds),
    chain: chain !== undefined,
    upToBlock: log.lastBlock,
    draw:
      draw === null || audit === null
        ? null
        : {
            ...{ block: draw.tick.block, hash: draw.tick.hash as Hex, place: draw.place, of: draw.of },
            ...{ ppm: audit.ppm, number: draw.number, drawn: draw.isDrawn },
          },
    asked: asked.map(({ round, attempt, auditor, block }) => ({ round, attempt, auditor, block })),
    findings: found.all,
    unchecked: found.unchecked,
  };
}

function compareAbsence(
  { lastBlock }: DerivedLog,
  hire: string,
  claimed: ClaimedAudit | null,
  found: Findings,
): void {
  found.check(
    claimed === null || claimed.eligibleBlock > lastBlock,
    `According to the log, nobody may audit the hire ${hire} up to block ${lastBlock}. The node says the same.`,
    `The node says that the hire ${hire} is ${claimed?.status.toLowerCase()}. According to its log, nobody may audit it.`,
  );
}

function compareDraw(
  { lastBlock }: DerivedLog,
  { audit, draw, claimed }: { audit: Row<"audit">; draw: Draw | null; claimed: ClaimedAudit | null },
  found: Findings,
): void {
  if (
    !found.check(
      claimed !== null,
      "The node knows the audit.",
      `The node knows no audit of ${audit.id}; its log gives one.`,
    )
  )
    return;
  if (draw !== null) {
    const { place, of, number, tick } = draw;
    const where = `Number ${place} of the ${of} hires that the tick of block ${tick.block} drew from (u = ${number}, ${audit.ppm} ppm)`;
    const isDrawn = audit.drawnBlock === tick.block;
    // A hire is not drawn if it failed by the rules before that tick, or if it was revealed as a canary.
    const isLeft = audit.drawnBlock === null && (audit.cause === "rules" || audit.canary !== null);
    found.check(
      isDrawn === draw.isDrawn || isLeft,
      `${where} is ${draw.isDrawn ? "" : "not "}drawn.`,
      `${where} has to be ${draw.isDrawn ? "" : "not "}drawn; according to the log it is ${isDrawn ? "" : "not "}drawn.`,
    );
  }
  const { drawnBlock } = audit;
  // Blocks that are not final may still change, so the node's answers about them are not compared.
  const said =
    claimed?.draw !== null && claimed?.draw !== undefined && claimed.draw.block <= lastBlock
      ? claimed.draw
      : null;
  found.check(
    (said?.block ?? null) === drawnBlock,
    drawnBlock === null
      ? "The node says that it was not drawn."
      : `The node says that it was drawn in block ${drawnBlock}.`,
    `The node says that it was drawn in block ${said?.block ?? "none"}; its log gives ${drawnBlock ?? "none"}.`,
  );
  if (said !== null && draw !== null && said.block === draw.tick.block)
    found.check(
      said.tickHash === draw.tick.hash,
      `The node says that it was drawn by ${draw.tick.hash}.`,
      `The node says that it was drawn by ${said.tickHash}; its log has ${draw.tick.hash}.`,
    );
}

function compareAsked(
  { lastBlock }: DerivedLog,
  { asked, claimed }: { asked: Row<"auditAssignment">[]; claimed: ClaimedAudit | null },
  found: Findings,
): void {
  const said = new Map<string, ClaimedAudit["rounds"][number]["attempts"][number]>(
    (claimed?.rounds ?? []).flatMap(({ round, attempts }) =>
      attempts
        .filter((it) => it.assignedBlock <= lastBlock)
        .map((it) => [`round ${round}, attempt ${it.attempt}`, it] as const),
    ),
  );
  for (const { round, attempt, auditor, auditorType, block } of asked) {
    const name = `round ${round}, attempt ${attempt}`;
    const it = said.get(name);
    said.delete(name);
    const by = auditorType === "auditor" ? "drawn from the roster" : "by its operator itself";
    found.check(
      it?.auditorAddress === auditor && it.assignedBlock === block,
      `For ${name} ${auditor} was asked in block ${block}, ${by}.`,
      `For ${name} the node says that ${it?.auditorAddress ?? "nobody"} was asked${it === undefined ? "" : ` in block ${it.assignedBlock}`}. According to its log, it had to be ${auditor}, in block ${block}.`,
    );
  }
  for (const [name, it] of said)
    found.check(
      false,
      "",
      `For ${name} the node says that ${it.auditorAddress} was asked. According to its log, nobody was asked.`,
    );
}

type Verified = {
  log: DerivedLog;
  audit: Row<"audit"> | null;
  draw: Draw | null;
  asked: Row<"auditAssignment">[];
  chain: AuditChain;
  signal: AbortSignal | undefined;
};

async function askChain(
  url: string,
  { log, audit, draw, asked, chain, signal }: Verified,
  found: Findings,
): Promise<void> {
  const since = audit?.eligibleBlock ?? Number.POSITIVE_INFINITY;
  const blocks = audit === null ? [] : ticksOfAudit(log, { audit, draw, asked });
  await checkTicks(log, { blocks, since }, chain, found);
  await checkLedgers(url, log, chain, found);
  await checkPayments(log, chain, found, { signal });
}
