import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { waitUntil } from "../../../scripts/processes/waitUntil.ts";

describe("scripts/processes/waitUntil", () => {
  it("asks again until there is an answer, and treats errors as no answer yet", async () => {
    const answers = [undefined, false, new Error("refused"), "here"] as const;
    let asked = 0;
    const look = async () => {
      const answer = answers[asked++];
      if (answer instanceof Error) throw answer;
      return answer;
    };
    expect(await waitUntil(look, { what: "it", withinMs: 60_000, everyMs: 1 })).to.equal("here");
    expect(asked).to.equal(4);
  });

  it("gives up with the last error as cause", async () => {
    const look = async () => {
      throw new Error("connection refused");
    };
    const error = await waitUntil(look, { what: "the chain", withinMs: 20, everyMs: 5 }).catch(
      (e: unknown) => e,
    );
    expect(error).to.be.instanceOf(TallystickError).that.includes({ code: "wait_timeout" });
    expect((error as Error).message).to.equal("gave up waiting for the chain after 0 s: connection refused");
  });

  it("ends at once with the reason when it is aborted", async () => {
    const stop = new AbortController();
    const waiting = waitUntil(async () => undefined, { what: "it", withinMs: 60_000, signal: stop.signal });
    stop.abort(new Error("Ctrl-C"));
    expect(await waiting.catch((e: Error) => e.message)).to.equal("Ctrl-C");
  });
});
