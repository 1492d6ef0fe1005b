import { expect } from "chai";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { orderedWrites } from "tallystick-sdk/store/orderedWrites";
import { rejection } from "./support/tamper.ts";

describe("the writes of what a process has in memory", () => {
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  let store: ReturnType<typeof memoryStore>;
  /** What each key has now. */
  let present: Map<string, number>;
  /** The values of the writes that have begun. Each write ends when the test ends it. */
  let begun: unknown[];
  let ends: PromiseWithResolvers<void>[];
  const open = () => {
    const { put } = store;
    store.put = async (key, value) => {
      begun.push(value);
      const end = Promise.withResolvers<void>();
      ends.push(end);
      await end.promise;
      await put(key, value);
    };
    return orderedWrites(store, (key) => present.get(key));
  };
  beforeEach(() => {
    [store, present, begun, ends] = [memoryStore(), new Map(), [], []];
  });

  it("wait for each other if they are of one key, also if others have ended, and each has the value of its own moment", async () => {
    const disk = open();
    const saves: Promise<void>[] = [];
    const save = (value: number) => {
      present.set("a/b", value);
      saves.push(disk.save("a/b"));
    };
    save(1);
    await turn();
    save(2);
    await turn();
    expect(begun).to.deep.equal([1]);
    ends[0]?.resolve();
    await saves[0];
    await turn();
    save(3);
    await turn();
    expect(begun, "the third waits for the second").to.deep.equal([1, 2]);
    ends[1]?.resolve();
    await saves[1];
    await turn();
    ends[2]?.resolve();
    await saves[2];
    expect([begun, await store.get("a/b")]).to.deep.equal([[1, 2, 3], 3]);
  });

  it("do not wait for those of other keys, and delete a key that has no value now", async () => {
    const disk = open();
    for (const key of ["a/b", "a/c"]) present.set(key, 1);
    const saves = ["a/b", "a/c"].map((key) => disk.save(key));
    await turn();
    expect(begun).to.have.length(2);
    for (const end of ends) end.resolve();
    await Promise.all(saves);
    present.delete("a/b");
    await disk.save("a/b");
    expect(await store.keys("a")).to.deep.equal(["a/c"]);
  });

  it("go on after one that failed, which is repeated for whoever needs it", async () => {
    const disk = open();
    present.set("a/b", 1);
    const failed = rejection(disk.save("a/b"));
    await turn();
    ends[0]?.reject(new Error("ENOSPC"));
    expect((await failed).message).to.equal("ENOSPC");
    const repeated = disk.saved("a/b");
    await turn();
    ends[1]?.resolve();
    await repeated;
    expect([begun, await store.get("a/b")]).to.deep.equal([[1, 1], 1]);
    await disk.saved("a/b");
    expect(begun, "it is on the disk").to.have.length(2);
  });
});
