import { expect } from "chai";
import { writeJsonFile } from "tallystick-protocol/erc8004/jsonFile";
import { responseContent } from "tallystick-protocol/erc8004/responseFile";
import { verifyFeedbackFile } from "../../../scripts/erc8004/verifyFeedbackFile.ts";

/** The address of a file with this text. */
const addressOf = (text: string): string =>
  `data:application/json;base64,${Buffer.from(text).toString("base64")}`;

describe("a file that verify-feedback checks", () => {
  const client = `0x${"bb".repeat(20)}` as const;
  const place = {
    agentRegistry: { chainId: 8_453, address: `0x${"aa".repeat(20)}` as const },
    ...{ agentId: 7, client, index: 1 },
  };
  const spam = responseContent(place, { spam: { reason: "other", detail: "not true" } });
  const response = addressOf(writeJsonFile(spam).text);
  const refusal = (source: string, options: { response?: boolean }): Promise<string> =>
    verifyFeedbackFile(source, options).then(
      () => expect.fail("it passed"),
      (error) => error.message,
    );

  it("passes as a response only if its reader asks for a response", async () => {
    expect((await verifyFeedbackFile(response, { response: true })).valid).to.equal(true);
    expect(await refusal(response, {})).to.match(/^--response: must be given .* shows no feedback$/);
  });

  it("does not pass as a response if it is none", async () => {
    for (const text of ['{"format":"tallystick/feedback/v1"}', "[]", "no JSON"])
      expect(await refusal(addressOf(text), { response: true })).to.match(/^--response: .* is none$/);
    expect((await verifyFeedbackFile(addressOf("{}"), {})).valid).to.equal(false);
  });
});
