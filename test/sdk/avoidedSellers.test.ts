import { expect } from "chai";
import { avoidedSellers } from "tallystick-sdk/buyer/avoidedSellers";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";

describe("a seller that failed", () => {
  it("is avoided for an hour, and one whose failure cannot be read is not", async () => {
    const store = memoryStore();
    let time = 0;
    const get = async <T>(key: string): Promise<T | undefined> => {
      if (key === "avoid/0x02") throw new Error("damaged");
      return await store.get<T>(key);
    };
    const avoided = avoidedSellers({ ...store, get }, () => time);
    for (const agent of ["0x01", "0x02"]) await avoided.add(agent);
    expect([...(await avoided.now())]).to.deep.equal(["0x01"]);
    time = 3_600_000;
    expect([...(await avoided.now())]).to.deep.equal([]);
    expect(await store.keys("avoid")).to.deep.equal([]);
  });
});
