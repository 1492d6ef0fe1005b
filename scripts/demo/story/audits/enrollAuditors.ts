import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { type Auditor, createAuditor } from "tallystick-sdk/auditor/createAuditor";
import { AUDIT_CAPABILITY, auditHireSchemas } from "tallystick-sdk/audits/auditHire";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { OWN_CONNECTION } from "../../../processes/ownConnection.ts";
import { type Actor, actors } from "../../actors.ts";
import { hireOnce } from "../hireDirectly.ts";
import { EXTRACT, SUMMARIZE, TRANSLATE } from "../openMarket.ts";
import type { Scene } from "../scene.ts";
import { judgeDemoWork } from "./judgeDemoWork.ts";
import type { Parties } from "./openParties.ts";

const { acme, bolt, operator, pool, quill, scribe } = actors;

/** How long a consent to audits waits on the demo's node, in seconds. On other nodes it waits a day. */
export const CONSENT_SECONDS = 60;

/** The offers of quill: the same as scribe's, a little cheaper. */
const QUILLS = [
  { ...TRANSLATE, price: "0.40" },
  { ...SUMMARIZE, price: "0.20" },
  { ...EXTRACT, price: "0.80" },
];

/** Ten hires in three capabilities, all good: enough for Tier 2. */
const QUILLS_HIRES = 10;

/** An auditor of the story. Whenever it is opened, it continues from its stored state. */
export type DemoAuditor = { actor: Actor; open: () => Auditor };

/**
 * The operator names a pool and draw rates. A second reliable seller reaches Tier 2, and both sellers offer to
 * audit.
 */
export async function enrollAuditors(scene: Scene, parties: Parties): Promise<DemoAuditor[]> {
  const { node, records, untilAnchored, chain, signal } = scene;
  const { params } = (await (
    await fetch(`${node.url}/v1/params`, { headers: OWN_CONNECTION, signal })
  ).json()) as {
    params: RecordBody;
  };
  await records.publishParams(operator, {
    ...params,
    version: Number(params.version) + 1,
    audit: {
      ...(params.audit as RecordBody),
      operators: { [operator.address]: { pool: pool.address } },
      // All summaries are drawn, so that the story does not have to wait for one in 33. Contested refunds are
      // always drawn.
      rates: { [SUMMARIZE.capability]: 1_000_000 },
      recheckPpm: 0,
      consentSeconds: CONSENT_SECONDS,
    },
  });
  await chain.mint(pool, 1_000_000n);

  let last = { index: 0 };
  for (const offer of QUILLS) last = await records.list(quill, offer);
  await untilAnchored(last.index + 1);
  for (let n = 0; n < QUILLS_HIRES; n++) {
    const offer = QUILLS[n % QUILLS.length] ?? TRANSLATE;
    const hire = {
      buyer: n % 2 === 0 ? acme : bolt,
      seller: quill,
      offer,
      passed: true,
      countersigned: true,
    };
    await hireOnce(scene, hire, `quill-${n + 1}`);
  }

  const auditors: DemoAuditor[] = [];
  // Two names of this machine, because a second auditor must be at another host than the first.
  for (const [actor, host] of [
    [scribe, "127.0.0.1"],
    [quill, "localhost"],
  ] as const) {
    const { endpoint } = await parties.sell({
      actor,
      host,
      listings: [{ capability: AUDIT_CAPABILITY, price_usdc: "0.005", max_latency_ms: 10_000 }],
      schemas: auditHireSchemas,
      work: () => ({ taken: true }),
    });
    const store = memoryStore();
    const { account } = actor;
    const open = () =>
      createAuditor({
        ...{ account, baseUrl: node.url, client: chain.client, store, judge: judgeDemoWork, devMode: true },
        now: parties.now,
      });
    const capabilities = [TRANSLATE.capability, SUMMARIZE.capability];
    await open().offer({ operator: operator.address, capabilities, endpoint });
    auditors.push({ actor, open });
  }
  return auditors;
}
