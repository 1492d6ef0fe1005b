import { expect } from "chai";
import { releasedEntry } from "../../../services/settlement/engine/releasedEntry.ts";

describe("the entry of a released proposal", () => {
  it("names its review, and its divergence if an agent is responsible for it", () => {
    const review = "ab".repeat(32);
    const payloadOf = (of: { taskId: string; divergence?: number }, payload: { [field: string]: string }) =>
      releasedEntry(of, { type: "settlement", ...payload }, review).payload;
    const base = { type: "settlement", review };
    const agent = "0x01";
    expect(payloadOf({ taskId: "t", divergence: 0.5 }, { agent })).to.deep.equal({
      ...base,
      ...{ agent, divergence: 0.5 },
    });
    expect(payloadOf({ taskId: "t" }, { agent })).to.deep.equal({ ...base, agent });
    expect(payloadOf({ taskId: "t", divergence: 0.5 }, {})).to.deep.equal(base);
    expect(payloadOf({ taskId: "t" }, {})).to.deep.equal(base);
  });

  it("can be measured before it has a review: it has a task, and a time and a hash of the longest form", () => {
    const { taskId, timestamp, payload } = releasedEntry({ taskId: "t" }, { type: "settlement" });
    expect(taskId).to.equal("t");
    expect(String(timestamp)).to.have.length("1234567890.1234567".length);
    expect(payload.review).to.match(/^[0-9a-f]{64}$/);
  });
});
