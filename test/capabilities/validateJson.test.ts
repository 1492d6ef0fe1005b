import { expect } from "chai";
import { validateJson } from "tallystick-capabilities/validateJson";

const schema = {
  type: "object",
  properties: { data: { type: "array", items: { type: "number" } }, "a/b": { type: "string" } },
  required: ["data"],
  additionalProperties: false,
};

describe("validateJson", () => {
  it("reports each fault once, with its field", () => {
    expect(validateJson(schema, { data: [1, "two"] }, "params").map(({ field }) => field)).to.deep.equal([
      "params.data.1",
    ]);
    expect(validateJson(schema, { data: [], "a/b": 1 }, "params").map(({ field }) => field)).to.deep.equal([
      "params.a/b",
    ]);
  });

  it("reports missing fields and unexpected fields", () => {
    expect(validateJson(schema, { date: [] }, "params")).to.deep.include({
      field: "params.date",
      message: "is not expected here",
    });
    expect(validateJson(schema, {}, "params")[0]?.message).to.contain('"data"');
    expect(validateJson(schema, undefined, "params")).to.deep.equal([
      { field: "params", message: "is required" },
    ]);
  });

  it("reports nothing for values that fit", () => {
    expect(validateJson(schema, { data: [1.5], "a/b": "c" }, "params")).to.deep.equal([]);
  });

  it("stops earlier if the caller allows fewer steps", () => {
    const values = Array.from({ length: 1_000 }, () => 1);
    const numbers = { items: { type: "number" } };
    expect(validateJson(numbers, values, "params", 10_000)).to.deep.equal([]);
    expect(validateJson(numbers, values, "params", 1_000)[0]?.message).to.contain("too many steps");
  });

  it("writes a constant into a fault only if somebody reads the fault", () => {
    let written = 0;
    const constant = {
      toJSON: () => {
        written++;
        return "a constant";
      },
    };
    const items = Array.from({ length: 100 }, () => 1);
    for (const part of [{ const: constant }, { enum: [constant] }])
      expect(validateJson({ contains: part }, items, "output")).to.have.lengthOf(1);
    expect(written).to.equal(0);
    expect(validateJson({ const: constant }, 1, "output")[0]?.message).to.equal('must be "a constant"');
  });
});

describe("what validateJson keeps of a schema", () => {
  it("is each enum and each list of names, which is read once", () => {
    const reads = { values: 0, names: 0 };
    class Values extends Array<string> {
      override [Symbol.iterator]() {
        reads.values++;
        return super[Symbol.iterator]();
      }
    }
    const one = { enum: new Values("a", "b") };
    for (const value of ["a", "b"]) expect(validateJson(one, value, "value")).to.deep.equal([]);
    const names = new Proxy(
      { "^a$": { type: "number" } },
      {
        ownKeys: (target) => {
          reads.names++;
          return Reflect.ownKeys(target);
        },
      },
    );
    const other = { patternProperties: names };
    for (const value of [{ a: 1 }, { b: "x" }]) expect(validateJson(other, value, "value")).to.deep.equal([]);
    expect(validateJson(other, { a: "x" }, "value")).to.have.length(1);
    expect(reads).to.deep.equal({ values: 1, names: 1 });
  });

  it("are a thousand compiled patterns, and one more makes it begin again", () => {
    // A pattern of our own, which no rule compiles before it is used.
    const first = "first of a thousand$";
    let compiled = 0;
    const Native = globalThis.RegExp;
    class Counting extends Native {
      constructor(source: string | RegExp, flags?: string) {
        super(source, flags);
        if (source === first) compiled++;
      }
    }
    const use = (pattern: string): void => {
      validateJson({ pattern }, "x", "value");
    };
    /** How often the first pattern is compiled when it is used now: once, or not at all if it is still there. */
    const compiledNow = (): number => {
      const before = compiled;
      use(first);
      return compiled - before;
    };
    globalThis.RegExp = Counting as RegExpConstructor;
    try {
      use(first);
      // Earlier tests have left patterns. From here on only these are there: the newest of the loop, and the first.
      let others = 0;
      do use(`^${others++}th before$`);
      while (others <= 1_000 && compiledNow() === 0);
      expect(others).to.be.at.most(1_000);
      for (let n = 0; n < 998; n++) use(`^${n}th of a thousand$`);
      expect(compiledNow()).to.equal(0);
      use("^one more$");
      expect(compiledNow()).to.equal(1);
      expect(compiledNow()).to.equal(0);
    } finally {
      globalThis.RegExp = Native;
    }
  });
});
