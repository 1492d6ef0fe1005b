import { expect } from "chai";
import { ensureAgent } from "tallystick-derive/agents";
import type { ApplyContext } from "tallystick-derive/applyContext";
import { auditorSettled, auditorTiered, removeAuditor } from "tallystick-derive/audits/auditors";
import { rosterOf, rosterSize } from "tallystick-derive/audits/rosters";
import { allItems } from "tallystick-derive/lists";
import type { Row } from "tallystick-derive/tables";
import type { Address } from "tallystick-protocol/address";
import { contextAt } from "../contextAt.ts";
import { wallet } from "../eventLog.ts";

const [A, OPERATOR, OTHER] = [100, 20, 21].map(wallet) as [Address, Address, Address];

/** A context in which A is an agent of this tier. */
function scene(trustTier = 2): ApplyContext {
  const context = contextAt(9, 0);
  Object.assign(ensureAgent(context, A) as Row<"agent">, { trustTier });
  return context;
}

const offer = (more: object = {}) =>
  ({
    ...{ agent_id: A, operator: OPERATOR, capabilities: ["a.b", "c.d"], active: true, issued_at: 5 },
    ...{ endpoint: "https://Auditor.example:8443/path", ...more },
  }) as Parameters<typeof auditorSettled>[1];

const row = (context: ApplyContext, operator = OPERATOR) => context.store.get("auditor", `${operator}/${A}`);
const places = (context: ApplyContext, operator = OPERATOR) =>
  ["a.b", "c.d", "e.f"].map((it) => rosterSize(context, rosterOf(operator, it)));
const operators = (context: ApplyContext) => allItems(context.store, `auditorFor/${A}`);

describe("the offer of an auditor", () => {
  it("is stored with the host of its endpoint, and gives a place for each capability", () => {
    const context = scene();
    auditorSettled(context, offer());
    expect(row(context)).to.include({
      ...{ id: `${OPERATOR}/${A}`, agent: A, operator: OPERATOR, capabilities: "a.b,c.d", isActive: true },
      ...{ host: "auditor.example", endpoint: "https://Auditor.example:8443/path", issuedAt: 5 },
      ...{ time: context.at.time, unanswered: 0, removedFor: null, barredUntil: null, epoch: 0, assigned: 0 },
    });
    expect(places(context)).to.deep.equal([1, 1, 0]);
    expect(operators(context)).to.deep.equal([OPERATOR]);
  });

  it("replaces the last one: it leaves the rosters that it names no more, and forgets missed verdicts", () => {
    const context = scene();
    auditorSettled(context, offer());
    context.store.update("auditor", `${OPERATOR}/${A}`, {
      unanswered: 2,
      answered: 7,
      barredUntil: 9,
      epoch: 3,
    });
    auditorSettled(context, offer({ capabilities: ["c.d", "e.f"], issued_at: 6 }));
    expect(places(context)).to.deep.equal([0, 1, 1]);
    expect(row(context)).to.include({ capabilities: "c.d,e.f", issuedAt: 6, unanswered: 0, answered: 7 });
    expect(row(context)).to.include({ barredUntil: null, epoch: 3 });
    expect(operators(context)).to.deep.equal([OPERATOR]);
    auditorSettled(context, offer({ operator: OTHER }));
    expect(operators(context)).to.deep.equal([OPERATOR, OTHER]);
    expect(places(context, OTHER)).to.deep.equal([1, 1, 0]);
  });

  it("is withdrawn by one that is not active, and comes back with the next", () => {
    const context = scene();
    auditorSettled(context, offer());
    auditorSettled(context, offer({ active: false }));
    expect(places(context)).to.deep.equal([0, 0, 0]);
    expect(row(context)).to.include({ isActive: false, capabilities: "" });
    auditorSettled(context, offer());
    expect(places(context)).to.deep.equal([1, 1, 0]);
    const first = scene();
    auditorSettled(first, offer({ active: false }));
    expect(row(first)).to.include({ isActive: false, capabilities: "" });
    expect(places(first)).to.deep.equal([0, 0, 0]);
  });

  it("gives no place outside of Tier 2, until the agent rises, and takes it when the agent falls", () => {
    const context = scene(1);
    auditorSettled(context, offer());
    auditorSettled(context, offer({ operator: OTHER, capabilities: ["e.f"] }));
    expect(places(context)).to.deep.equal([0, 0, 0]);
    auditorTiered(context, A, true);
    expect(places(context)).to.deep.equal([1, 1, 0]);
    expect(places(context, OTHER)).to.deep.equal([0, 0, 1]);
    auditorTiered(context, A, false);
    expect(places(context)).to.deep.equal([0, 0, 0]);
    expect(places(context, OTHER)).to.deep.equal([0, 0, 0]);
    auditorTiered(context, wallet(9), true);
    const nobody = contextAt(9, 0);
    auditorSettled(nobody, offer());
    expect(places(nobody)).to.deep.equal([0, 0, 0]);
  });

  it("gives no place again to an auditor that was removed, when its tier changes", () => {
    const context = scene();
    auditorSettled(context, offer());
    removeAuditor(context, row(context) as Row<"auditor">, "unanswered");
    expect(row(context)).to.include({ isActive: false, removedFor: "unanswered", capabilities: "a.b,c.d" });
    expect(places(context)).to.deep.equal([0, 0, 0]);
    auditorTiered(context, A, true);
    expect(places(context)).to.deep.equal([0, 0, 0]);
    auditorSettled(context, offer());
    expect(row(context)).to.include({ isActive: true, removedFor: null });
    expect(places(context)).to.deep.equal([1, 1, 0]);
  });
});
