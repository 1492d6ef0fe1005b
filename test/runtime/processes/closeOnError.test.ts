import { expect } from "chai";
import { closeOnError } from "tallystick-runtime/processes/closeOnError";

describe("closeOnError", () => {
  it("closes everything that was opened before an error, the last first, even if a close fails too", async () => {
    const closed: string[] = [];
    const failed = await closeOnError(async (opened) => {
      opened(async () => closed.push("lock"));
      opened(() => {
        throw new Error("of a close");
      });
      opened(() => Promise.reject(new Error("of another close")));
      opened(() => closed.push("server"));
      throw new Error("of the opening");
    }).catch((error) => error);
    expect(failed.message).to.equal("of the opening");
    expect(closed).to.deep.equal(["server", "lock"]);
  });

  it("leaves everything open if there is no error", async () => {
    const result = await closeOnError(async (opened) => {
      opened(() => expect.fail("closed"));
      return "open";
    });
    expect(result).to.equal("open");
  });
});
