import { expect } from "chai";
import { retryUntilAvailable, type Waiting } from "../../../indexer/src/segments/retryUntilAvailable.ts";

/** A value that is available after some failures, in conditions that the test sets. `said` lists the events. */
function tryTo(failures: number, change: Partial<Waiting> = {}) {
  const said: string[] = [];
  let asked = 0;
  const attempt = async () => {
    if (++asked <= failures) throw new Error(`not yet ${asked}`);
    return "there";
  };
  const trying = retryUntilAvailable(attempt, {
    isCanonical: async () => true,
    isBuried: async () => false,
    keepAlive: async () => void said.push("alive"),
    onBlocked: async ({ attempts, logged }) => void said.push(`${attempts}: ${logged}`),
    onUnblocked: async () => void said.push("unblocked"),
    signal: new AbortController().signal,
    pause: { first: 1, most: 4 },
    ...change,
  });
  return { said, trying };
}

describe("retryUntilAvailable", () => {
  it("returns an available value at once, and reports nothing", async () => {
    const { trying, said } = tryTo(0);
    expect(await trying).to.deep.equal({ result: "there" });
    expect(said).to.deep.equal([]);
  });

  it("waits for a late value, keeps the connection alive, and withdraws the report", async () => {
    const { trying, said } = tryTo(2);
    expect(await trying).to.deep.equal({ result: "there" });
    expect(said).to.deep.equal(["1: not yet 1", "alive", "2: not yet 2", "alive", "unblocked"]);
  });

  it("does not give up while another block has replaced the anchor's block only for a short time", async () => {
    // Nodes on different forks may be behind one address.
    const answers = [false, false, true];
    let asked = 0;
    const { trying, said } = tryTo(3, { isCanonical: async () => answers[asked++] ?? true });
    expect(await trying).to.deep.equal({ result: "there" });
    expect(asked).to.equal(3);
    expect(said.at(-1)).to.equal("unblocked");
  });

  it("gives up when the chain has gone on from the other block", async () => {
    const buried = [false, true];
    let asked = 0;
    const { trying, said } = tryTo(Number.POSITIVE_INFINITY, {
      isCanonical: async () => false,
      isBuried: async () => buried[asked++] ?? false,
    });
    expect(await trying).to.equal(null);
    expect(asked).to.equal(2);
    expect(said.at(-1)).to.equal("unblocked");
  });

  it("gives up when every answer of two minutes names another block", async () => {
    let time = 0;
    // The time of each answer in seconds. A block that is there once more starts the two minutes again.
    const answers: [number, boolean][] = [
      [0, false],
      [119, false],
      [121, true],
      [122, false],
      [241, false],
      [242, false],
    ];
    let asked = 0;
    const { trying } = tryTo(Number.POSITIVE_INFINITY, {
      now: () => time,
      isCanonical: async () => {
        const [seconds, canonical] = answers[asked++] ?? expect.fail("it asked again");
        time = 1_000 * seconds;
        return canonical;
      },
    });
    expect(await trying).to.equal(null);
    expect(asked).to.equal(answers.length);
  });

  it("does not give up when the chain cannot be asked", async () => {
    const refused = () => Promise.reject(new Error("connection refused"));
    for (const change of [{ isCanonical: refused }, { isCanonical: async () => false, isBuried: refused }]) {
      expect(await tryTo(4, change).trying).to.deep.equal({ result: "there" });
    }
  });

  it("ends when the process shuts down, while it waits and while it tries", async () => {
    for (const failures of [1, Number.POSITIVE_INFINITY]) {
      const stop = new AbortController();
      const { trying } = tryTo(failures, { signal: stop.signal, onBlocked: async () => stop.abort() });
      expect(await trying.catch((error) => error.name)).to.equal("AbortError");
    }
    const stop = new AbortController();
    const reported: unknown[] = [];
    const attempt = async () => {
      stop.abort(new Error("shutting down"));
      throw new Error("cut off");
    };
    const never = async () => expect.fail("it went on");
    const trying = retryUntilAvailable(attempt, {
      isCanonical: never,
      isBuried: never,
      keepAlive: never,
      onBlocked: async (failure) => void reported.push(failure),
      onUnblocked: never,
      signal: stop.signal,
    });
    expect(String(await trying.catch((error) => error))).to.contain("shutting down");
    expect(reported).to.deep.equal([]);
  });

  it("ends with the caller's error when the connection is lost", async () => {
    const lost = new Error("connection terminated");
    const { trying } = tryTo(5, { keepAlive: () => Promise.reject(lost) });
    expect(await trying.catch((error) => error)).to.equal(lost);
  });
});
