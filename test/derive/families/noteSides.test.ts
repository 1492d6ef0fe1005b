import { expect } from "chai";
import { noteSides } from "tallystick-derive/families/noteSides";
import { MemoryStore } from "tallystick-derive/memoryStore";
import type { Row } from "tallystick-derive/tables";
import { contextAt } from "../contextAt.ts";
import { wallet } from "../eventLog.ts";
import { memberRow } from "./memberRow.ts";

const [SELLER, PARENT, FOUNDER, BUYER] = [wallet(1), wallet(2), wallet(3), wallet(4)];

type Member = Row<"familyMember">;

const row = (id: string, parent: string | null, more: Partial<Member> = {}) =>
  memberRow(id, parent, FOUNDER, more);

/** The wallets that are noted after a hire, as seller (`s`) or as buyer (`b`), and the number of rows written. */
function noted(
  members: Member[],
  {
    registered = [],
    seller = SELLER,
    buyer = BUYER,
    isRegistered = registered.length > 0,
  }: { registered?: Member[]; seller?: string; buyer?: string; isRegistered?: boolean } = {},
) {
  const store = new MemoryStore();
  for (const it of members) store.insert("familyMember", it);
  for (const it of registered) store.insert("registeredMember", it);
  const own = store.get(isRegistered ? "registeredMember" : "familyMember", seller) as Member;
  let writes = 0;
  const update = store.update.bind(store);
  store.update = (table, id, change) => {
    writes++;
    update(table, id, change);
  };
  noteSides(contextAt(9, 0, { store }), own, store.get("familyMember", buyer) as Member);
  const of = (table: "familyMember" | "registeredMember") =>
    [...store.rows(table).values()].filter(({ ofHire }) => ofHire).map(({ id }) => id);
  return { b: of("familyMember"), s: of("registeredMember"), writes };
}

const founder = row(FOUNDER, null);
const alone = row(BUYER, null, { family: BUYER });

describe("the sides of a counted hire", () => {
  it("are noted with the wallets before them", () => {
    const members = [founder, row(PARENT, FOUNDER), row(SELLER, PARENT), alone];
    expect(noted(members)).to.deep.equal({ b: [FOUNDER, PARENT, SELLER, BUYER], s: [], writes: 4 });
    const own = [founder, row(PARENT, FOUNDER), row(SELLER, null, { family: SELLER }), row(BUYER, PARENT)];
    expect(noted(own)).to.deep.equal({ b: [FOUNDER, PARENT, SELLER, BUYER], s: [], writes: 4 });
  });

  it("are noted for a registered seller in its own row, and for the wallets before it as payers", () => {
    const members = [founder, row(PARENT, FOUNDER), row(SELLER, null, { family: SELLER }), alone];
    const registered = [row(SELLER, PARENT)];
    expect(noted(members, { registered })).to.deep.equal({
      ...{ b: [FOUNDER, PARENT, BUYER], s: [SELLER], writes: 4 },
    });
    // Another seller's row of the same kind changes nothing.
    const other = [row(PARENT, FOUNDER)];
    expect(
      noted([founder, row(SELLER, null), alone], { registered: other, isRegistered: false }),
    ).to.deep.equal({
      ...{ b: [SELLER, BUYER], s: [], writes: 2 },
    });
  });

  it("are noted only up to the first wallet that was noted before", () => {
    const is = { ofHire: true };
    const members = [founder, row(PARENT, FOUNDER, is), row(SELLER, PARENT), alone];
    expect(noted(members)).to.deep.equal({ b: [PARENT, SELLER, BUYER], s: [], writes: 2 });
    const before = [founder, row(PARENT, FOUNDER), row(SELLER, PARENT, is), alone];
    expect(noted(before)).to.deep.equal({ b: [SELLER, BUYER], s: [], writes: 1 });
    const registered = [row(SELLER, PARENT, is)];
    expect(noted([founder, row(PARENT, FOUNDER), alone], { registered })).to.deep.equal({
      ...{ b: [BUYER], s: [SELLER], writes: 1 },
    });
  });

  it("of an unknown family are noted without the wallets before them, because not all of these are stored", () => {
    const deep = { family: "deep" };
    expect(noted([row(PARENT, null), row(SELLER, PARENT, deep), row(BUYER, PARENT, deep)])).to.deep.equal({
      ...{ b: [SELLER, BUYER], s: [], writes: 2 },
    });
    const registered = [row(SELLER, PARENT, deep)];
    expect(noted([row(PARENT, null), alone], { registered })).to.deep.equal({
      ...{ b: [BUYER], s: [SELLER], writes: 2 },
    });
  });
});
