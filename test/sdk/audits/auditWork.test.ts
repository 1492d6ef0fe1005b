import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { auditWorks } from "tallystick-sdk/auditor/auditWork";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { rejection } from "../support/tamper.ts";

describe("an auditor with a damaged file", () => {
  it("goes on with its other audits, and names the file", async () => {
    const store = memoryStore();
    for (const token of ["a", "b", "c"]) await store.put(`work/${token}`, { token });
    let fault: Error = new TallystickError({ code: "unreadable_value", message: "damaged" });
    const get = async <T>(key: string): Promise<T | undefined> => {
      if (key === "work/b") throw fault;
      return await store.get<T>(key);
    };
    const works = auditWorks({ ...store, get });
    const lines: unknown[] = [];
    const all = await works.all((...line) => lines.push(line));
    expect(all.map(({ token }) => token)).to.have.members(["a", "c"]);
    expect(JSON.stringify(lines)).to.contain("work/b");
    // Its assignment is not taken up as a new one.
    expect(await works.begin({ token: "b" } as Parameters<typeof works.begin>[0])).to.equal(false);
    fault = new Error("the disk is away");
    expect(await rejection(works.all())).to.equal(fault);
  });
});
