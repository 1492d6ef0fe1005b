import { expect } from "chai";
import { apply } from "tallystick-derive/apply";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { parseEvent } from "tallystick-derive/parseEvent";
import { snapshotOf } from "tallystick-derive/snapshot";
import { sha256HexByNode } from "tallystick-runtime/hashing/sha256HexByNode";
import { identityEvents } from "../../tools/bench/identities/identityEvents.ts";
import { measureIdentities } from "../../tools/bench/identities/measureIdentities.ts";

describe("the bench of full registries", () => {
  it("derives the same digest as `derive`, and its later events need less than one database search each", async () => {
    const options = { trustSignatures: true, sha256Hex: sha256HexByNode };
    const size = { identities: 100, feedback: 500 };
    const { digest, parts, rows, lookup, eventsPerSecond } = await measureIdentities(size);
    const store = new MemoryStore();
    for (const event of identityEvents(size)) apply(store, parseEvent(JSON.stringify(event)), options);
    expect(digest).to.equal(snapshotOf(store).digest);
    expect(rows).to.include({ identity: 100, feedback: 500 });
    const [standing] = [[...store.rows("feedback").values()].map((it) => it.standing)];
    expect(new Set(standing)).to.deep.equal(new Set(["backed", "unproven"]));
    expect(parts).to.have.length(10);
    for (const figure of [lookup.any, lookup.fullest, eventsPerSecond]) expect(figure).to.be.above(0);
    expect(Math.max(...parts.slice(5).map(({ finds }) => finds))).to.be.lessThan(1);
  });
});
