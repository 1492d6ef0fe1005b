import { expect } from "chai";
import fc from "fast-check";
import { expectSame } from "../relevant/agreement.ts";
import { expectIdentities } from "./identities.ts";
import { identityLog } from "./identityLog.ts";

/**
 * How many logs are generated. By default every run has the same logs. With IDENTITY_RUNS it is that many random logs.
 */
const asked = process.env.IDENTITY_RUNS;
const RUNS = asked === undefined ? { numRuns: 120, seed: 4 } : { numRuns: Number(asked) };

describe("identities and the oracle", () => {
  const reached = new Map<string, number>();
  const reach = (what: string, is: boolean) => reached.set(what, (reached.get(what) ?? 0) + Number(is));

  it("agree on every link and every feedback, for any log", async () => {
    await fc.assert(
      fc.asyncProperty(identityLog, async (log) => {
        const store = await expectIdentities(log);
        const feedback = [...store.rows("feedback").values()];
        for (const reason of ["agent", "owner", "former", "cluster", "buyers", "family"])
          reach(
            reason,
            feedback.some((it) => it.selfReason === reason),
          );
        reach(
          "backed",
          feedback.some((it) => it.standing === "backed"),
        );
        reach(
          "a hire given on",
          [...store.rows("backing").values()].length >
            feedback.filter((it) => it.standing === "backed").length,
        );
        const identities = [...store.rows("identity").values()];
        reach(
          "moved at once",
          identities.some((it) => it.movedAtOnce),
        );
        reach(
          "sold and linked again",
          identities.some((it) => it.transfers > 0 && it.links > 1),
        );
        reach(
          "unread",
          [...store.rows("registry").values()].some((it) => it.status === "unread"),
        );
      }),
      RUNS,
    );
    console.log(`      ${[...reached].map(([what, times]) => `${what} ${times}`).join(", ")}`);
    // This case needs two clusters of different kinds, with a third agent in both. `boundaries.test.ts` tests this case.
    reached.delete("buyers");
    for (const [what, times] of reached) expect(times, what).to.be.greaterThan(0);
  }).timeout(0);

  it("agree in both forms of a log, row by row", async () => {
    await fc.assert(fc.asyncProperty(identityLog, expectSame), {
      ...RUNS,
      numRuns: Math.ceil(RUNS.numRuns / 8),
    });
  }).timeout(0);
});
