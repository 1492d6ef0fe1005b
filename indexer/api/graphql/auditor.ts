import { exactInterval } from "tallystick-derive/audits/exactInterval";
import type { Row } from "tallystick-derive/tables";
import { formatUsdc } from "tallystick-protocol/amount";
import { auditorList, errorsOf } from "../rows/auditors.ts";
import { AgentRef, agentAt } from "./agent.ts";
import { AuditMode } from "./audit.ts";
import { builder, OrderDirection } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { listPage } from "./list.ts";
import { NodeRef, registerNode } from "./node.ts";

type Auditor = Row<"auditor">;
type Seat = { capability: string; place: number | null; size: number; mode: "bootstrap" | "mature" };

const RosterSeatRef = builder.objectRef<Seat>("RosterSeat").implement({
  description: "An auditor's place on the roster of a capability. A draw picks a place.",
  fields: (t) => ({
    capability: t.exposeString("capability"),
    place: t.field({
      type: "SafeInt",
      nullable: true,
      description:
        "The place, from 0; null when it is not on the roster now, because it is not in Tier 2 or was removed.",
      resolve: ({ place }) => place,
    }),
    size: t.field({
      type: "SafeInt",
      description: "The number of places of the roster.",
      resolve: ({ size }) => size,
    }),
    mode: t.field({ type: AuditMode, resolve: ({ mode }) => mode }),
  }),
});

type Errors = Row<"auditorError">;
type Share = { count: number; of: number };

const MeasuredShareRef = builder.objectRef<Share>("MeasuredShare").implement({
  fields: (t) => ({
    count: t.exposeInt("count"),
    of: t.exposeInt("of"),
    interval: t.floatList({
      description: "The exact 95 % interval of the share, from and to (Clopper and Pearson).",
      resolve: ({ count, of }, _, { takeRows }) => {
        takeRows(1 + of / 100);
        return exactInterval(count, of);
      },
    }),
  }),
});

const AuditorErrorRef = builder.objectRef<Errors>("AuditorError").implement({
  description: "How an auditor judged canaries, whose right verdict is known in advance.",
  fields: (t) => ({
    capability: t.exposeString("capability"),
    goodPassed: t.field({
      type: MeasuredShareRef,
      description: "Good canaries that it passed.",
      resolve: ({ good, goodPassed }) => ({ count: goodPassed, of: good }),
    }),
    badFailed: t.field({
      type: MeasuredShareRef,
      description: "Bad canaries that it failed.",
      resolve: ({ bad, badFailed }) => ({ count: badFailed, of: bad }),
    }),
  }),
});

const AuditorErrorConnection = builder.connectionObject(
  { type: AuditorErrorRef, name: "AuditorErrorConnection" },
  { name: "AuditorErrorEdge" },
);

const AuditorRef = builder.objectRef<Auditor>("Auditor").implement({
  interfaces: [NodeRef],
  description: "An agent that offers to audit hires for an operator (SHP §8.3.1).",
  fields: (t) => ({
    id: t.exposeID("id", { description: "`<operator>/<agent>`." }),
    operator: t.field({ type: "Address", resolve: ({ operator }) => operator }),
    address: t.field({ type: "Address", resolve: ({ agent }) => agent }),
    agent: t.field(agentAt(({ agent }) => agent)),
    capabilities: t.stringList({ resolve: capabilitiesOf }),
    endpoint: t.exposeString("endpoint", { description: "The endpoint at which the operator hires it." }),
    active: t.exposeBoolean("isActive", {
      description: "Whether its offer is active. The auditor is on rosters only while it is in Tier 2.",
    }),
    removedFor: t.exposeString("removedFor", {
      nullable: true,
      description: "The reason why it was removed from the rosters; null once it offers itself again.",
    }),
    rosters: t.field({
      type: [RosterSeatRef],
      resolve: (auditor, _, context) => seatsOf(auditor, context),
    }),
    issuedAt: t.field({ type: "SafeInt", resolve: ({ issuedAt }) => issuedAt }),
    time: t.field({ type: "SafeInt", description: "When it was anchored.", resolve: ({ time }) => time }),
    assigned: t.exposeInt("assigned", { description: "How many audits were assigned to it, of all time." }),
    answered: t.exposeInt("answered", { description: "How often it gave a verdict." }),
    unansweredInARow: t.exposeInt("unanswered"),
    barredUntil: t.field({
      type: "SafeInt",
      nullable: true,
      description: "Its offers do not count before this time.",
      resolve: ({ barredUntil }) => barredUntil,
    }),
    judged: t.exposeInt("judged", {
      description: "Its verdicts, in the window, on audits that had two or more verdicts.",
    }),
    wrongFails: t.exposeInt("wrongFails", {
      description: "The judged audits that it failed and that passed in the end.",
    }),
    wrongPasses: t.exposeInt("wrongPasses", {
      description: "The judged audits that it passed and that failed in the end.",
    }),
    accruedUsdc: t.field({
      type: "Usdc",
      description: "What it earned, of all time.",
      resolve: ({ accrued }) => formatUsdc(accrued),
    }),
    paidUsdc: t.field({
      type: "Usdc",
      description: "What the operator's pool paid it.",
      resolve: ({ paid }) => formatUsdc(paid),
    }),
    owedUsdc: t.field({
      type: "Usdc",
      resolve: ({ accrued, paid }) => formatUsdc(accrued > paid ? accrued - paid : 0n),
    }),
    errors: t.connection(
      {
        description: "How it judged its operator's canaries, by capability.",
        type: AuditorErrorRef,
        args: { orderDirection: t.arg({ type: OrderDirection }) },
        resolve: (auditor, args, context) => listPage(args, context, errorsOf(auditor)),
      },
      AuditorErrorConnection,
    ),
  }),
});

function capabilitiesOf({ capabilities }: Auditor): string[] {
  return capabilities === "" ? [] : capabilities.split(",");
}

async function seatsOf(auditor: Auditor, { load, takeRows }: QueryContext): Promise<Seat[]> {
  const capabilities = capabilitiesOf(auditor);
  takeRows(3 * capabilities.length);
  return await Promise.all(
    capabilities.map(async (capability) => {
      const roster = `${auditor.operator}/${capability}`;
      const [member, row, pool] = await Promise.all([
        load.rosterMember.load(`${roster}/${auditor.agent}`),
        load.roster.load(roster),
        load.auditMode.load(roster),
      ]);
      const mode = (pool?.mode ?? "bootstrap") as "bootstrap";
      return { capability, place: member?.place ?? null, size: row?.size ?? 0, mode };
    }),
  );
}

const AuditorConnection = builder.connectionObject(
  { type: AuditorRef, name: "AuditorConnection" },
  { name: "AuditorEdge" },
);

registerNode("Auditor", {
  form: /^0x[0-9a-f]{40}\/0x[0-9a-f]{40}$/,
  find: (id, { load }) => load.auditor.load(id),
});

const AuditorFilter = builder.inputType("AuditorFilter", {
  fields: (t) => ({
    agent: t.field({ type: "Address" }),
    operator: t.field({ type: "Address" }),
    capability: t.field({ type: "Capability", description: "A capability that its latest offer names." }),
    active: t.boolean(),
    assigned: t.boolean({ description: "Whether an audit was ever assigned to it." }),
  }),
});

builder.queryField("auditors", (t) =>
  t.connection(
    {
      description:
        "The agents' offers to operators to audit hires, by operator and agent. With several filters a page may have fewer rows than asked for, although more follow (see agents).",
      type: AuditorRef,
      args: { orderDirection: t.arg({ type: OrderDirection }), where: t.arg({ type: AuditorFilter }) },
      resolve: (_, { where, ...args }, context) => listPage(args, context, auditorList(where ?? {})),
    },
    AuditorConnection,
  ),
);

builder.objectField(AgentRef, "auditorOffers", (t) =>
  t.connection(
    {
      description: "Its offers to operators to audit hires.",
      type: AuditorRef,
      args: { orderDirection: t.arg({ type: OrderDirection }) },
      resolve: ({ row }, args, context) => listPage(args, context, auditorList({ agent: row.id })),
    },
    AuditorConnection,
  ),
);
