import type { Row } from "tallystick-derive/tables";
import { auditorList } from "../rows/auditors.ts";
import { AgentRef, agentAt } from "./agent.ts";
import { builder, OrderDirection } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { listPage } from "./list.ts";
import { NodeRef, registerNode } from "./node.ts";

type Auditor = Row<"auditor">;
type Seat = { capability: string; place: number | null; size: number };

const RosterSeatRef = builder.objectRef<Seat>("RosterSeat").implement({
  description: "Where an auditor stands on the roster of a capability: a draw picks a place.",
  fields: (t) => ({
    capability: t.exposeString("capability"),
    place: t.field({
      type: "SafeInt",
      nullable: true,
      description: "From 0; null when it is not on the roster now.",
      resolve: ({ place }) => place,
    }),
    size: t.field({ type: "SafeInt", description: "Of the roster.", resolve: ({ size }) => size }),
  }),
});

const AuditorRef = builder.objectRef<Auditor>("Auditor").implement({
  interfaces: [NodeRef],
  description: "An agent that offers an operator to audit hires (SHP §8.3.1).",
  fields: (t) => ({
    id: t.exposeID("id", { description: "`<operator>/<agent>`." }),
    operator: t.field({ type: "Address", resolve: ({ operator }) => operator }),
    address: t.field({ type: "Address", resolve: ({ agent }) => agent }),
    agent: t.field(agentAt(({ agent }) => agent)),
    capabilities: t.stringList({ resolve: capabilitiesOf }),
    endpoint: t.exposeString("endpoint", { description: "Where the operator hires it." }),
    active: t.exposeBoolean("isActive", { description: "On rosters; being asked needs Tier 2 besides." }),
    removedFor: t.exposeString("removedFor", {
      nullable: true,
      description: "Why it was taken off the rosters, until it offers itself again.",
    }),
    rosters: t.field({
      type: [RosterSeatRef],
      resolve: (auditor, _, context) => seatsOf(auditor, context),
    }),
    issuedAt: t.field({ type: "SafeInt", resolve: ({ issuedAt }) => issuedAt }),
    time: t.field({ type: "SafeInt", description: "When it was anchored.", resolve: ({ time }) => time }),
    assigned: t.exposeInt("assigned", { description: "How often it was asked, ever." }),
    answered: t.exposeInt("answered", { description: "How often it gave a verdict." }),
    unansweredInARow: t.exposeInt("unanswered"),
  }),
});

function capabilitiesOf({ capabilities }: Auditor): string[] {
  return capabilities === "" ? [] : capabilities.split(",");
}

async function seatsOf(auditor: Auditor, { load, takeRows }: QueryContext): Promise<Seat[]> {
  const capabilities = capabilitiesOf(auditor);
  takeRows(2 * capabilities.length);
  return await Promise.all(
    capabilities.map(async (capability) => {
      const roster = `${auditor.operator}/${capability}`;
      const [member, row] = await Promise.all([
        load.rosterMember.load(`${roster}/${auditor.agent}`),
        load.roster.load(roster),
      ]);
      return { capability, place: member?.place ?? null, size: row?.size ?? 0 };
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
    capability: t.field({ type: "Capability", description: "That its last offer names." }),
    active: t.boolean(),
  }),
});

builder.queryField("auditors", (t) =>
  t.connection(
    {
      description:
        "What agents offer operators to audit, by operator and agent. A page narrowed by several filters may be short (see agents).",
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
      description: "What it offers operators to audit.",
      type: AuditorRef,
      args: { orderDirection: t.arg({ type: OrderDirection }) },
      resolve: ({ row }, args, context) => listPage(args, context, auditorList({ agent: row.id })),
    },
    AuditorConnection,
  ),
);
