import { expect } from "chai";
import type { ReceiptsAnswer } from "tallystick-sdk/query/answers";
import { hiredBefore } from "tallystick-sdk/seller/hiredBefore";
import { newWallet } from "./support/sdkChain.ts";

describe("a seller's question to the indexer about earlier hires", () => {
  const [seller, buyer] = [newWallet(), newWallet()];
  const receipt = (capability: string) =>
    ({ buyer: buyer.address, capability }) as ReceiptsAnswer["receipts"][number];
  /** An indexer with one receipt on each page. */
  const query = (capabilities: string[]) => ({
    receipts: async (agent: string, page: { cursor?: string | null } = {}) => {
      const at = Number(page.cursor ?? 0);
      const next = at + 1 < capabilities.length ? String(at + 1) : null;
      return { agent_id: agent, receipts: [receipt(capabilities[at] ?? "none")], next_cursor: next };
    },
  });

  it("reads all pages, and distinguishes buyers and capabilities", async () => {
    const hasHired = hiredBefore(query(["text.summarize", "code.review.typescript"]), seller.account.address);
    expect(await hasHired(buyer.address, "code.review.typescript")).to.equal(true);
    expect(await hasHired(buyer.address, "text.rewrite")).to.equal(false);
    expect(await hasHired(newWallet().address, "text.summarize")).to.equal(false);
  });

  it("stops reading an endless history", async () => {
    const endless = Array.from({ length: 100 }, () => "text.summarize");
    expect(await hiredBefore(query(endless), seller.address)(buyer.address, "text.rewrite")).to.equal(false);
  });
});
