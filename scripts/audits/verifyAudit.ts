import type { Row } from "tallystick-derive/tables";
import type { Hex } from "tallystick-protocol/hex";
import type { AuditAnswer } from "tallystick-sdk/query/createGraphqlClient";
import { createQueryClient } from "tallystick-sdk/query/createQueryClient";
import { type AuditChain, openAuditChain } from "./auditChain.ts";
import { checkTicks, type Draw, drawOf } from "./checkDraw.ts";
import { checkLedgers } from "./checkLedgers.ts";
import { checkPayments } from "./checkPayments.ts";
import { type DerivedLog, deriveLogOf } from "./derivedLog.ts";
import { type Finding, Findings } from "./findings.ts";

export type { Finding } from "./findings.ts";

/** Who was asked, as the log gives it. */
type Asked = Pick<Row<"auditAssignment">, "round" | "attempt" | "auditor" | "block">;

/** What a verification of a hire's audit came to. `chain`: whether one was asked; else the hashes are the node's own. */
export type AuditVerification = {
  hire: string;
  holds: boolean;
  chain: boolean;
  /** The last block of the log: what the node tells of later ones is not looked at. */
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
};

type Told = NonNullable<AuditAnswer["audit"]>;

/**
 * Computes again whether a hire had to be drawn and who had to audit it: the list and the rosters from the node's open log derived
 * anew, the hashes from a chain that one trusts, and the log held to the ledgers and payments that are there.
 *
 * @param parameters.hire `<tx>-<log>` of its payment, or its escrow's id
 * @param parameters.rpcUrl without it no hash is compared, and nothing that the log leaves out is found
 * @throws TallystickError `chain_unavailable`, and those of reading and deriving the log
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
  const { audit: told } = await createQueryClient({ baseUrl: url }).graphql.audit({ id: hire });
  const found = new Findings();
  const audit = log.store.get("audit", hire);
  const asked = [...log.store.rows("auditAssignment").values()].filter((it) => it.audit === hire);
  const draw = audit === null ? null : await drawOf(log, audit);
  if (audit === null) compareAbsence(log, hire, told, found);
  else compareDraw(log, { audit, draw, told }, found);
  compareAsked(log, { asked, told }, found);
  if (chain !== undefined) await askChain(url, { log, audit, draw, asked, chain }, found);
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
  };
}

function compareAbsence({ lastBlock }: DerivedLog, hire: string, told: Told | null, found: Findings): void {
  found.check(
    told === null || told.eligibleBlock > lastBlock,
    `By the log nobody may audit the hire ${hire} up to block ${lastBlock}, and the node says so.`,
    `The node says that the hire ${hire} is ${told?.status.toLowerCase()}; by its log nobody may audit it.`,
  );
}

function compareDraw(
  { lastBlock }: DerivedLog,
  { audit, draw, told }: { audit: Row<"audit">; draw: Draw | null; told: Told | null },
  found: Findings,
): void {
  if (
    !found.check(
      told !== null,
      "The node knows the audit.",
      `The node knows no audit of ${audit.id}; its log gives one.`,
    )
  )
    return;
  if (draw !== null) {
    const { place, of, number, tick } = draw;
    const where = `Number ${place} of the ${of} hires that the tick of block ${tick.block} drew from (u = ${number}, ${audit.ppm} ppm)`;
    const isDrawn = audit.drawnBlock === tick.block;
    // What failed by the rules, or was told to be arranged, before that tick is drawn no more.
    const isLeft = audit.drawnBlock === null && (audit.cause === "rules" || audit.canary !== null);
    found.check(
      isDrawn === draw.isDrawn || isLeft,
      `${where} is ${draw.isDrawn ? "" : "not "}drawn.`,
      `${where} has to be ${draw.isDrawn ? "" : "not "}drawn; derived, it is ${isDrawn ? "" : "not"}.`,
    );
  }
  const { drawnBlock } = audit;
  // What the node says of blocks that are not final is not compared.
  const said =
    told?.draw !== null && told?.draw !== undefined && told.draw.block <= lastBlock ? told.draw : null;
  found.check(
    (said?.block ?? null) === drawnBlock,
    drawnBlock === null
      ? "The node says that it was not drawn."
      : `The node says that it was drawn in block ${drawnBlock}.`,
    `The node says that it was drawn in block ${said?.block ?? "none"}; by its log it was in ${drawnBlock ?? "none"}.`,
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
  { asked, told }: { asked: Row<"auditAssignment">[]; told: Told | null },
  found: Findings,
): void {
  const said = new Map<string, Told["rounds"][number]["attempts"][number]>(
    (told?.rounds ?? []).flatMap(({ round, attempts }) =>
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
      `For ${name} the node says that ${it?.auditorAddress ?? "nobody"} was asked${it === undefined ? "" : ` in block ${it.assignedBlock}`}; by its log ${auditor} had to be, in block ${block}.`,
    );
  }
  for (const [name, it] of said)
    found.check(
      false,
      "",
      `For ${name} the node says that ${it.auditorAddress} was asked; by its log nobody was.`,
    );
}

type Verified = {
  log: DerivedLog;
  audit: Row<"audit"> | null;
  draw: Draw | null;
  asked: Row<"auditAssignment">[];
  chain: AuditChain;
};

async function askChain(
  url: string,
  { log, audit, draw, asked, chain }: Verified,
  found: Findings,
): Promise<void> {
  const from = audit?.eligibleBlock ?? Number.POSITIVE_INFINITY;
  const to = draw?.tick.block ?? log.lastBlock;
  const waited = log.ticks.filter(({ block }) => block > from && block <= to).map(({ block }) => block);
  await checkTicks(log, [...waited, ...asked.map(({ block }) => block)], chain, found);
  await checkLedgers(url, log, chain, found);
  await checkPayments(log, chain, found);
}
