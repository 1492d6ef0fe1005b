import { expect } from "chai";
import { turnsByKey } from "tallystick-sdk/store/turnsByKey";
import { rejection } from "./support/tamper.ts";

describe("the changes of one key", () => {
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it("wait for each other, also if earlier ones have ended or failed, and not for those of other keys", async () => {
    const ends: { [name: string]: PromiseWithResolvers<void> } = {};
    const change = turnsByKey()(async (_key: string, name: string) => {
      const end = Promise.withResolvers<void>();
      ends[name] = end;
      await end.promise;
      return name;
    });
    const begun = async () => {
      await turn();
      return Object.keys(ends);
    };
    const [one, two, other] = [change("a", "one"), rejection(change("a", "two")), change("b", "other")];
    expect(await begun()).to.deep.equal(["one", "other"]);
    ends.one?.resolve();
    expect(await one).to.equal("one");
    expect(await begun()).to.include("two");
    const three = change("a", "three");
    expect(await begun(), "the third waits for the second").not.to.include("three");
    ends.two?.reject(new Error("the disk is away"));
    expect((await two).message).to.equal("the disk is away");
    expect(await begun()).to.include("three");
    for (const name of ["three", "other"]) ends[name]?.resolve();
    expect(await Promise.all([three, other])).to.deep.equal(["three", "other"]);
  });
});
