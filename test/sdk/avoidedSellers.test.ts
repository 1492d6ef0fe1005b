import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { avoidedSellers } from "tallystick-sdk/buyer/avoidedSellers";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";

describe("a seller that failed", () => {
  it("is avoided for an hour, and one whose failure cannot be read is not", async () => {
    const store = memoryStore();
    let time = 0;
    const get = async <T>(key: string): Promise<T | undefined> => {
      if (key === "avoid/0x02") throw new TallystickError({ code: "unreadable_value", message: "damaged" });
      return await store.get<T>(key);
    };
    const avoided = avoidedSellers({ ...store, get }, () => time);
    for (const agent of ["0x01", "0x02"]) await avoided.add(agent);
    expect([...(await avoided.now())]).to.deep.equal(["0x01"]);
    time = 3_600_000;
    expect([...(await avoided.now())]).to.deep.equal([]);
    expect(await store.keys("avoid")).to.deep.equal([]);
  });

  it("is not forgotten when its failure cannot be read once, and stops no hire when the failure cannot be deleted", async () => {
    const store = memoryStore();
    let time = 0;
    let isAway = true;
    const fails = async (): Promise<never> => {
      throw new Error("too many open files");
    };
    const get = <T>(key: string): Promise<T | undefined> => (isAway ? fails() : store.get<T>(key));
    const avoided = avoidedSellers({ ...store, get, delete: fails }, () => time);
    await avoided.add("0x01");
    expect([...(await avoided.now())]).to.deep.equal([]);
    expect(await store.keys("avoid")).to.deep.equal(["avoid/0x01"]);
    isAway = false;
    expect([...(await avoided.now())]).to.deep.equal(["0x01"]);
    time = 3_600_000;
    expect([...(await avoided.now())]).to.deep.equal([]);
  });
});
