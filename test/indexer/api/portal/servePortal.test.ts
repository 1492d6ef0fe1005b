import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { servePortal } from "../../../../indexer/api/portal/servePortal.ts";

describe("the portal's addresses without #", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-portal-"));
  writeFileSync(path.join(folder, "index.html"), "<!doctype html>");
  after(() => rmSync(folder, { recursive: true }));

  const seller = `0x${"ab".repeat(20)}`;
  for (const [asked, given] of [
    [`/agent/${seller}`, `/#/agent/${seller}`],
    ["/audits", "/#/audits"],
    [`/escrow/new?seller=${seller}&amount=2`, `/#/escrow/new?seller=${seller}&amount=2`],
    [`/agent/${seller}?node=https://other.example`, `/?node=https%3A%2F%2Fother.example#/agent/${seller}`],
    ["/agent/..%2F%0A?x=%0D%0Ay", "/#/agent/..%2F%0A?x=%0D%0Ay"],
  ] as const) {
    it(`lead from ${asked} to the page, with what the link says`, async () => {
      const response = await servePortal(folder).request(asked);
      expect([response.status, response.headers.get("location")]).to.deep.equal([302, given]);
    });
  }
});
