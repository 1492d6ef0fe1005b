import { expect } from "chai";
import { subscribeToNotices } from "tallystick-sdk/notices/subscribeToNotices";
import { privateKeyToAccount } from "viem/accounts";

describe("a subscription to notices", () => {
  const account = privateKeyToAccount(`0x${"51".repeat(32)}`);
  const subscribe = (text: string) =>
    subscribeToNotices({
      ...{
        account,
        baseUrl: "http://node.example",
        ledger: "local",
        url: "https://buyer.example",
        agents: [],
      },
      fetch: async () => new Response(text, { status: 201 }),
    });

  it("gives its id and who signs the notices", async () => {
    const sender = `0x${"5e".repeat(20)}`;
    expect(await subscribe(JSON.stringify({ id: "nsub_1", sender, expires_at: 1 }))).to.deep.equal({
      ...{ id: "nsub_1", sender },
    });
  });

  it("fails if the answer does not say who signs the notices", async () => {
    for (const text of ["", "null", "[]", "{}", '{"id":"nsub_1"}', '{"id":"nsub_1","sender":"0x1"}']) {
      const failure = await subscribe(text).catch((error: unknown) => error);
      expect(failure, text).to.include({ name: "ServiceError", code: "unreadable_answer", status: 0 });
    }
  });
});
