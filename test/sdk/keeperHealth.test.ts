import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { ChainError } from "tallystick-sdk/errors";
import { createKeeperHealth } from "tallystick-sdk/escrow/keeperHealth";

describe("the health of a keeper", () => {
  let time: number;
  let asked: number;
  let logged: string[];
  let work: () => Promise<void>;
  beforeEach(() => {
    [time, asked, logged, work] = [1_800_000_000_000, 0, [], async () => {}];
  });
  const open = (waitMs?: number) =>
    createKeeperHealth({
      ...(waitMs !== undefined && { waitMs }),
      requireAll: () => {
        asked++;
        return work();
      },
      now: () => time,
      log: (sentence, details) => void logged.push(`${sentence} ${details?.error}`),
    });

  it("names what keeps the keeper from working, and shows nothing of what an RPC or a disk says", async () => {
    const secret = "https://rpc.example/key-123";
    const cases: [fault: Error, code: string, reason: RegExp][] = [
      [new ChainError({ code: "wrong_chain", message: secret }), "wrong_chain", /RPC is of another chain/],
      [new ChainError({ code: "wrong_token", message: secret }), "wrong_token", /another token/],
      [
        new ChainError({ code: "chain_unreachable", message: secret }),
        "chain_unreachable",
        /cannot be asked/,
      ],
      [new TallystickError({ code: "other_store", message: secret }), "other_store", /another escrow/],
      [new TallystickError({ code: "toString", message: secret }), "cannot_work", /in its log/],
      [new Error(secret), "cannot_work", /in its log/],
    ];
    for (const [fault, code, reason] of cases) {
      work = () => Promise.reject(fault);
      const health = await open()();
      expect(health).to.include({ ok: false, code });
      expect(JSON.stringify(health)).to.match(reason).and.not.to.contain("key-123");
      expect(logged.at(-1), "for the operator").to.contain(secret);
    }
    work = async () => {};
    expect(await open()()).to.deep.equal({ ok: true });
  });

  it("is looked at once in a second, however many ask, and also if the clock is set back", async () => {
    work = () => Promise.reject(new ChainError({ code: "wrong_chain", message: "another" }));
    const health = open();
    await Promise.all([health(), health(), health()]);
    time += 999;
    expect([(await health()).ok, asked]).to.deep.equal([false, 1]);
    work = async () => {};
    time += 1;
    expect([(await health()).ok, asked]).to.deep.equal([true, 2]);
    time -= 86_400_000;
    await health();
    expect(asked).to.equal(3);
  });

  it("is that of an RPC without an answer while nothing answers, and good again when something does", async () => {
    work = () => new Promise(() => {});
    const health = open(5);
    const both = await Promise.all([health(), health()]);
    for (const answer of both) expect(answer).to.include({ ok: false, code: "chain_unreachable" });
    expect(asked).to.equal(1);
    time += 1_000;
    work = async () => {};
    expect(await health()).to.deep.equal({ ok: true });
  });

  it("is good only as long as nothing fails", async () => {
    const health = open();
    expect(await health()).to.deep.equal({ ok: true });
    work = () => Promise.reject(new ChainError({ code: "chain_unreachable", message: "away" }));
    time += 1_000;
    expect(await health()).to.include({ ok: false, code: "chain_unreachable" });
  });
});
