import { expect } from "chai";
import { slaRequirements, slaTierOf } from "tallystick-derive/steward/sla/slaRequirements";
import { parseDecimal } from "tallystick-protocol/records/decimalSchema";

const promise = (metric: string, target: string, boundUntil: number | null = null) => ({
  metric,
  target: parseDecimal(target),
  boundUntil,
});
const tier = (...promises: ReturnType<typeof promise>[]) => slaTierOf(slaRequirements(promises));

describe("what a tier requires of SLAs", () => {
  it("is met by exactly that promise, and not by a promise one step lower", () => {
    const rows: [promises: [uptime: string, success: string, p99?: string], tier: string][] = [
      [["0.9", "0.8"], "VERIFIED"],
      [["0.899999999", "0.8"], "UNVERIFIED"],
      [["0.9", "0.799999999"], "UNVERIFIED"],
      [["0.95", "0.9"], "TRUSTED"],
      [["0.949999999", "0.9"], "VERIFIED"],
      [["0.95", "0.899999999"], "VERIFIED"],
      [["0.99", "0.95", "5000"], "HIGHLY_TRUSTED"],
      [["0.99", "0.95", "5000.000000001"], "TRUSTED"],
      [["0.99", "0.95"], "TRUSTED"],
      [["0.989999999", "0.95", "1"], "TRUSTED"],
      [["0.99", "0.949999999", "1"], "TRUSTED"],
    ];
    for (const [[uptime, success, p99], expected] of rows) {
      const promises = [promise("uptime", uptime), promise("success_rate", success)];
      if (p99 !== undefined) promises.push(promise("latency_p99", p99));
      expect(tier(...promises), `${uptime} ${success} ${p99}`).to.equal(expected);
    }
    expect(tier(), "no SLA").to.equal("UNVERIFIED");
  });

  it("is met by the best promise for a metric, and by no dropped promise", () => {
    const success = promise("success_rate", "0.8");
    expect(tier(promise("uptime", "0.5"), promise("uptime", "0.9"), success)).to.equal("VERIFIED");
    expect(tier(promise("uptime", "0.9", 1), success)).to.equal("UNVERIFIED");
    const best = slaRequirements([promise("latency_p99", "9000"), promise("latency_p99", "4000")]).at(-1);
    expect(best).to.include({ metric: "latency_p99", promised: parseDecimal("4000"), isMet: true });
  });
});
