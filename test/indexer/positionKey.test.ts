import { expect } from "chai";
import fc from "fast-check";
import type { DeriveEvent } from "tallystick-derive/events";
import { keyedLines, positionKey } from "../../indexer/src/positionKey.ts";

type Place = { block: number; log: number; seq: number };

const place: fc.Arbitrary<Place> = fc.record({
  block: fc.nat(1_000_000_000),
  log: fc.nat(100_000),
  seq: fc.nat(Number.MAX_SAFE_INTEGER),
});

const recordAt = ({ block, log, seq }: Place) =>
  ({ kind: "record", block, time: 0, log, seq }) as DeriveEvent;
const tickAt = ({ block }: Place): DeriveEvent => ({ kind: "tick", block, time: 0 });
const paramsAt = ({ block }: Place) => ({ kind: "params", block, time: 0, log: 0 }) as DeriveEvent;

describe("positionKey", () => {
  it("sorts as text in the order of the numbers block, log and seq", () => {
    fc.assert(
      fc.property(place, place, (a, b) => {
        const order = a.block - b.block || a.log - b.log || a.seq - b.seq;
        const [keyA, keyB] = [positionKey(recordAt(a)), positionKey(recordAt(b))];
        expect(Math.sign(order)).to.equal(keyA < keyB ? -1 : keyA > keyB ? 1 : 0);
      }),
    );
  });

  it("puts the parameters before and the tick after every log of the block", () => {
    fc.assert(
      fc.property(place, (at) => {
        expect(positionKey(paramsAt(at)) < positionKey(recordAt({ ...at, log: 0, seq: 0 }))).to.equal(true);
        expect(positionKey(recordAt(at)) < positionKey(tickAt(at))).to.equal(true);
        expect(positionKey(tickAt(at)) < positionKey(paramsAt({ ...at, block: at.block + 1 }))).to.equal(
          true,
        );
      }),
    );
  });

  it("puts lines about the past directly before the event that needs them, in every collation", () => {
    const past = (n: number) => ({ kind: "history", block: n, time: 0, log: n }) as DeriveEvent;
    fc.assert(
      fc.property(place, place, fc.nat(3), fc.boolean(), (a, b, count, isTick) => {
        const order = a.block - b.block || a.log - b.log || a.seq - b.seq;
        const [first, second] = order < 0 ? [a, b] : [b, a];
        fc.pre(order !== 0 && first.seq < Number.MAX_SAFE_INTEGER);
        const told = Array.from({ length: count }, (_, n) => past(n));
        const event = isTick ? tickAt(second) : recordAt(second);
        const events = [
          ...told,
          recordAt(first),
          ...told,
          ...told,
          event,
          ...told,
          recordAt({ ...b, block: b.block + 1_000_000_001 }),
        ];
        const keys = keyedLines(events).map(({ position }) => position);
        expect([...keys].sort()).to.deep.equal(keys);
        expect([...keys].sort(new Intl.Collator("en").compare)).to.deep.equal(keys);
        expect(new Set(keys).size).to.equal(keys.length);
      }),
    );
  });
});
