/**
 * The capability by which an operator of audits hires and pays a drawn auditor. The result of the hire says only
 * that the auditor takes the assignment. Its verdict comes through the ledger (SHP §8.3.1).
 */
export const AUDIT_CAPABILITY = "custom.tallystick.audit";

const text = { type: "string", maxLength: 256 };
const count = { type: "integer", minimum: 0 };

/**
 * The schemas of {@link AUDIT_CAPABILITY}, for auditors that want their fee when they are hired. They serve this
 * capability at the endpoint of their offer, like any capability that they sell. They answer once they have taken
 * the assignment.
 *
 * @example createSeller({ …, listings: [{ capability: AUDIT_CAPABILITY, price_usdc: "0.005", max_latency_ms: 10_000 }],
 *   schemas: auditHireSchemas, handlers: { [AUDIT_CAPABILITY]: () => ({ taken: true }) } })
 */
export const auditHireSchemas = {
  [AUDIT_CAPABILITY]: {
    input: {
      type: "object",
      properties: {
        token: text,
        hire: { type: "string", maxLength: 80 },
        round: count,
        attempt: count,
        capability: text,
        due: count,
      },
      required: ["token", "hire", "round", "attempt", "capability", "due"],
    },
    output: { type: "object", properties: { taken: { type: "boolean" } }, required: ["taken"] },
  },
};
