import { expect } from "chai";
import fc from "fast-check";
import { emptyRow } from "tallystick-derive/emptyRow";
import type { PublishedField } from "tallystick-derive/publishedField";
import { publishedFields } from "tallystick-derive/publishedFields";
import type { Row } from "tallystick-derive/tables";
import { wallet } from "./eventLog.ts";

type Agent = Row<"agent">;

/** Any figures of an agent. All whole numbers are different, so a field that reads the wrong column is noticed. */
const anyAgent = fc.infiniteStream(fc.integer({ min: 0, max: 100 })).map((numbers) => {
  let n = 0;
  const next = () => {
    const { value } = numbers.next();
    return value === 0 ? 0 : value * 100 + n++;
  };
  const blank = emptyRow("agent");
  const figures = Object.entries(blank).map(([column, value]) => {
    if (typeof value === "bigint") return [column, BigInt(next())];
    return [column, typeof value === "number" ? next() : value];
  });
  const weights = ["windowWeight", "ratedWeight", "successWeight", "escrowWeight", "refundedWeight"];
  const fraction = () => `${next()}/${1 + 2 * n}`;
  return {
    ...{ id: wallet(1), claimStatus: "unclaimed", signalsTripped: "" },
    ...Object.fromEntries(figures),
    ...Object.fromEntries([...weights, "auditDisputedWeight", "dayVolume"].map((it) => [it, fraction()])),
  } as Agent;
});

type Fraction = { n: bigint; d: bigint };

function fractionOf(text: string): Fraction {
  const [n = "", d = "1"] = text.split("/");
  return { n: BigInt(n), d: BigInt(d) };
}

const rounded = ({ n, d }: Fraction, decimals: bigint) => (2n * n * 10n ** decimals + d) / (2n * d);

/** The value that follows from the exact numbers of a field. */
function valueFrom({ type, numerator, denominator }: PublishedField, agent: Agent) {
  const part = fractionOf(numerator?.(agent) ?? "");
  if (type === "usdc") {
    const digits = String(rounded(part, 0n)).padStart(7, "0");
    return Number(`${digits.slice(0, -6)}.${digits.slice(-6)}`);
  }
  const whole = fractionOf(denominator?.(agent) ?? "1");
  if (whole.n === 0n) return null;
  return Number(rounded({ n: part.n * whole.d, d: part.d * whole.n }, 9n)) / 1e9;
}

describe("the published fields of an agent", () => {
  const exact = Object.entries(publishedFields as { [name: string]: PublishedField }).filter(
    // A tier is no quotient. Its numbers are those of the success rate.
    ([name, { numerator }]) => numerator !== undefined && name !== "trust_tier",
  );

  it("follow from the exact numbers that are shown with them", () => {
    fc.assert(
      fc.property(anyAgent, (agent) => {
        for (const [name, it] of exact) {
          const value = it.value({ agent, prices: [], cluster: null });
          const shown = it.type === "usdc" ? Number(value) : value;
          expect(shown, name).to.equal(valueFrom(it, agent));
        }
      }),
    );
  });

  it("are null if there is nothing to divide by, and have no other number without hires", () => {
    const weights = { windowWeight: "0", ratedWeight: "0", successWeight: "0", escrowWeight: "0" };
    const agent = {
      ...{ ...emptyRow("agent"), ...weights, id: wallet(1), claimStatus: "unclaimed", signalsTripped: "" },
      ...{ refundedWeight: "0", auditDisputedWeight: "0", dayVolume: "0" },
    } as Agent;
    for (const [name, it] of exact) {
      const expected = it.denominator === undefined ? (it.type === "usdc" ? "0.00" : 0) : null;
      expect(it.value({ agent, prices: [], cluster: null }), name).to.equal(expected);
    }
  });

  it("show exact numbers of every independence field", () => {
    const names = exact.map(([name]) => name);
    expect(names).to.include.members([
      ...["independent_buyers", "established_buyers", "independent_success_rate", "kept_usdc"],
      ...["fees_paid_usdc", "receipt_coverage", "unreceipted_payments", "unreceipted_usdc"],
      ...["unanswered_escrows", "refunds_contested", "refunds_contested_families"],
    ]);
  });
});
