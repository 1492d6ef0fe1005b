import { once } from "node:events";
import { serve } from "@hono/node-server";
import { expect } from "chai";
import { createGraphqlClient } from "tallystick-sdk/query/createGraphqlClient";
import { AUDITED, SELLER } from "../../derive/auditScene.ts";
import { wallet } from "../../derive/eventLog.ts";
import { type AuditStory, openAuditStory } from "../../indexer/support/auditStory.ts";
import { commandHere } from "../../support/commandHere.ts";

describe("queries about audits to a node", function () {
  this.slow(15_000);

  let story: AuditStory;
  let server: ReturnType<typeof serve>;
  let url: string;

  before(async () => {
    story = await openAuditStory();
    server = serve({ fetch: story.app.fetch, port: 0, hostname: "127.0.0.1" });
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  });
  after(() => server?.close());

  const run = (...args: string[]) => commandHere(["audits", ...args, "--url", url]);

  it("show draws, the queue and decisions by `tallystick audits`, for people and for programs", async () => {
    const [people, programs, others, refused] = await Promise.all([
      run(),
      run("--json", "--first", "50"),
      run("--operator", wallet(77)),
      run("verify", "no hire"),
    ]);
    expect([people.code, people.err]).to.deep.equal([0, ""]);
    const { rolledBack, dismissed, challenged, undisclosed, assigning, eligible } = story.hires;
    expect(people.out)
      .to.contain(rolledBack)
      .and.to.contain("fabricated: Seen by eye.")
      .and.not.contain(eligible);
    const { draws, queue, decisions } = JSON.parse(programs.out);
    expect(draws).to.have.length(story.store.rows("audit").size - 1);
    const waiting = queue.map(({ auditedHire }: { auditedHire: string }) => auditedHire);
    expect(waiting).to.include.members([challenged, undisclosed, assigning]).and.not.include(rolledBack);
    expect(decisions.map((it: { auditedHire: string }) => it.auditedHire)).to.deep.equal([
      dismissed,
      rolledBack,
    ]);
    expect(others.out).to.equal("No hire was drawn.\n\nNothing waits.\n\nNothing was decided.\n");
    expect([refused.code, refused.err]).to.deep.equal([1, refused.err]);
    expect(refused.err).to.contain("hire");
  });

  it("get answers also from the SDK, for a hundred rows at once", async () => {
    const graphql = createGraphqlClient((query, variables) => story.ask(query, variables));
    const { audit } = await graphql.audit({ id: story.hires.rolledBack });
    expect(audit).to.deep.include({ status: "ROLLED_BACK", sellerAddress: SELLER });
    expect(audit?.rounds[1]?.attempts[0]?.reasons[0]?.code).to.equal("fabricated");
    const { audits } = await graphql.audits({ where: { status: "CHALLENGED" }, first: 100 });
    expect(audits.nodes[0]?.listing?.endpoint).to.equal(`https://${SELLER}.example`);
    const { auditAssignments } = await graphql.openAudits({ where: { open: true }, first: 100 });
    expect(auditAssignments.nodes).to.have.length(3);
    expect(auditAssignments.nodes[0]?.audit?.status).to.equal("ASSIGNED");
    const { auditors } = await graphql.auditors({ where: { operator: AUDITED }, first: 100 });
    expect(auditors.nodes).to.have.length(9);
    const { auditActuations } = await graphql.auditActuations({ first: 100 });
    expect(auditActuations.nodes).to.have.length(2);
  });
});
