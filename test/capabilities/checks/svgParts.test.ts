import { expect } from "chai";
import * as fc from "fast-check";
import {
  apply,
  IDENTITY,
  type Matrix,
  multiply,
  readTransform,
} from "tallystick-capabilities/checks/svgMatrix";
import { MAX_DRAWN, referencesIn, svgReferences } from "tallystick-capabilities/checks/svgReferences";

describe("a transform of a drawing", () => {
  /** Where a transform moves the point (1, 2). */
  const moved = (text: string) => {
    const matrix = readTransform(text);
    return matrix && apply(matrix, 1, 2).map((one) => Math.round(one * 1e6) / 1e6 + 0);
  };

  it("moves points as SVG says, and several transforms from the last to the first", () => {
    const cases: [text: string, point: [number, number]][] = [
      ["", [1, 2]],
      ["translate(3)", [4, 2]],
      ["translate(3, 4)", [4, 6]],
      ["translate(-3 -4)", [-2, -2]],
      ["scale(2)", [2, 4]],
      ["scale(2 3)", [2, 6]],
      ["scale(2, 0)", [2, 0]],
      ["rotate(90)", [-2, 1]],
      ["rotate(90 10 20)", [28, 11]],
      ["rotate(180, 1)", [1, -2]],
      ["skewX(45)", [3, 2]],
      ["skewY(45)", [1, 3]],
      ["matrix(1 2 3 4 5 6)", [12, 16]],
      ["matrix(1,0,0,1,5,6)", [6, 8]],
      ["translate(10) scale(2)", [12, 4]],
      ["scale(2),translate(10)", [22, 4]],
      ["  TRANSLATE ( 3 , 4 )  ", [4, 6]],
      ["translate(1.5e1)", [16, 2]],
    ];
    for (const [text, point] of cases) expect(moved(text), text).to.deep.equal(point);
  });

  it("is unknown in any other form", () => {
    for (const text of [
      "spin(3)",
      "translate",
      "translate(3",
      "3",
      "translate(3) x",
      "translate(3)) ",
      "none",
    ])
      expect(readTransform(text), text).to.equal(undefined);
    expect(readTransform("translate(1)"), "after a refused one").to.deep.equal([1, 0, 0, 1, 1, 0]);
  });

  it("of two is the second one first", () => {
    const [m, n]: [Matrix, Matrix] = [
      [2, 3, 5, 7, 11, 13],
      [17, 19, 23, 29, 31, 37],
    ];
    const [x, y] = apply(n, 1, 2);
    expect(apply(multiply(m, n), 1, 2)).to.deep.equal(apply(m, x, y));
    expect([multiply(IDENTITY, m), multiply(m, IDENTITY)]).to.deep.equal([m, m]);
  });
});

describe("what a drawing draws", () => {
  const own = (shapes: number, paths = 0) => ({ shapes, paths });
  const to = (id: string, times = 1) => ({ id, times });

  it("is everything inside of an element, and what its references draw again", () => {
    const all = svgReferences();
    const root = all.open(own(1), undefined, []);
    const group = all.open(own(2, 1), "g", []);
    all.open(own(3, 2), undefined, []);
    all.close();
    all.close();
    const use = all.open(own(0), undefined, [to("g"), to("g", 2), to("nothing")]);
    all.close();
    all.close();
    expect([all.drawn(group), all.drawn(use), all.drawn(root)]).to.deep.equal([
      ...[own(5, 3), own(15, 9), own(21, 12)],
    ]);
    expect(all.drawn(root), "the same again").to.deep.equal(own(21, 12));
  });

  it("is the first of two elements with one id", () => {
    const all = svgReferences();
    for (const shapes of [5, 7]) {
      all.open(own(shapes), "a", []);
      all.close();
    }
    const use = all.open(own(0), undefined, [to("a")]);
    expect(all.drawn(use)).to.deep.equal(own(5));
  });

  it("is the most for whatever leads to a circle, and is counted up to a limit for a long chain", () => {
    const circle = svgReferences();
    circle.open(own(1), "a", [to("b")]);
    circle.close();
    const b = circle.open(own(2), "b", [to("a"), to("b")]);
    circle.close();
    const c = circle.open(own(3), "c", [to("c")]);
    circle.close();
    const d = circle.open(own(0), undefined, [to("a")]);
    circle.close();
    const e = circle.open(own(4), undefined, [to("e")]);
    circle.close();
    for (const at of [b, c, d]) expect(circle.drawn(at)).to.deep.equal(own(MAX_DRAWN, MAX_DRAWN));
    expect(circle.drawn(e)).to.deep.equal(own(4));
    const chain = svgReferences();
    let last = chain.open(own(1, 3), "0", []);
    chain.close();
    for (let n = 1; n <= 5_000; n++) {
      last = chain.open(own(0), String(n), [to(String(n - 1), 2)]);
      chain.close();
    }
    expect(chain.drawn(last)).to.deep.equal(own(MAX_DRAWN, MAX_DRAWN));
  });

  it("is what a drawing has when every reference is expanded, or the most if that does not end", () => {
    const reference = fc.record({ id: fc.nat(8).map(String), times: fc.integer({ min: 1, max: 3 }) });
    const references = fc.array(reference, { maxLength: 2 });
    // `up`: how many elements end before this one begins.
    const part = fc.record({ up: fc.nat(3), shapes: fc.nat(2), references });
    const seen = { ends: 0, circles: 0 };
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 7 }), (parts) => {
        const all = svgReferences();
        const outer: number[] = [];
        const open: number[] = [];
        for (const [at, { up, ...one }] of parts.entries()) {
          for (let n = 0; n < up && open.length > 1; n++) {
            open.pop();
            all.close();
          }
          outer.push(open.at(-1) ?? -1);
          open.push(all.open(own(one.shapes), String(at), one.references));
        }
        const expanded = (at: number, above: number[]): number => {
          const one = parts[at];
          if (one === undefined) return 0;
          if (above.includes(at)) return MAX_DRAWN;
          let sum = one.shapes;
          for (const [inner, it] of outer.entries()) if (it === at) sum += expanded(inner, [...above, at]);
          for (const { id, times } of one.references) sum += times * expanded(Number(id), [...above, at]);
          return Math.min(MAX_DRAWN, sum);
        };
        for (const at of parts.keys()) {
          const shapes = expanded(at, []);
          seen[shapes === MAX_DRAWN ? "circles" : "ends"]++;
          expect(all.drawn(at).shapes).to.equal(shapes);
        }
      }),
      { seed: 46, numRuns: 500 },
    );
    expect(seen.ends).to.be.above(200);
    expect(seen.circles).to.be.above(200);
  });

  it("follows from the attributes: references, and markers at every point of a line", () => {
    const cases: [attributes: { [name: string]: string }, found: { id: string; times: number }[]][] = [
      [{ href: "#a" }, [to("a")]],
      [{ href: " #a " }, [to("a")]],
      [{ href: "https://a.example/#a" }, []],
      [{ href: "url(#a)" }, []],
      [{ fill: "url(#a)" }, [to("a")]],
      [{ fill: "url( '#a' )", mask: 'url("#b")' }, [to("a"), to("b")]],
      [{ filter: "url(#a) url(#b)" }, [to("a"), to("b")]],
      [{ style: "fill: url(#a)" }, []],
      [{ fill: "red", width: "5" }, []],
      [{ fill: "#a", href: "#abc" }, [to("abc")]],
      [{ fill: "url(#abc)", mask: `url(#${"a".repeat(300)})` }, [to("abc"), to("a".repeat(200))]],
      [{ "marker-mid": "url(#a)", points: "10,10 20,20 30.5,30.5" }, [to("a", 3)]],
      [{ "marker-end": "url(#a)" }, [to("a", 2)]],
      [{ marker: "url(#a)", d: "M0 0L1 1L2 2L3 3" }, [to("a", 4)]],
      [{ "marker-mid": "url(#a)", points: "0,0 1,1 2,2 3,3 4,4" }, [to("a", 5)]],
      [{ "marker-start": "url(#a)", points: "0,0 1,1 2" }, [to("a", 3)]],
      [{ "marker-start": "url(#a)", "marker-end": "url(#b)", d: "M0 0h1h1" }, [to("a", 3), to("b", 3)]],
      [{ "marker-end-x": "url(#a)", d: "M0 0h1h1" }, [to("a")]],
      [{ "x-marker": "url(#a)", d: "M0 0h1h1" }, [to("a")]],
    ];
    for (const [attributes, found] of cases)
      expect(referencesIn(attributes), JSON.stringify(attributes)).to.deep.equal(found);
  });
});
