import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { readAtMost } from "../../scripts/readAtMost.ts";
import { readReportFile } from "../../scripts/steward/readReportFile.ts";

describe("a file that is read with a limit", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tallystick-read-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it("is read completely up to the limit, in any number of pieces, and not at all above it", async () => {
    for (const [size, most] of [
      [0, 0],
      [1, 0],
      [65_536, 65_536],
      [65_537, 65_536],
      [200_000, 200_000],
      [200_001, 200_000],
    ] as const) {
      const file = path.join(folder, `${size}`);
      const content = Buffer.alloc(size, "ab");
      await writeFile(file, content);
      const handle = await open(file, "r");
      const read = await readAtMost(handle, most).finally(() => handle.close());
      if (size > most) expect(read, `${size}`).to.equal(undefined);
      else expect(read?.equals(content), `${size}`).to.equal(true);
    }
  });

  it("may be endless: a report from such a device is refused", async () => {
    const refusal = await readReportFile("/dev/zero").catch((error: Error) => error);
    expect(refusal).to.include({ code: "unreadable_file" });
    expect((refusal as Error).message).to.contain("too large for a report");
  });
});
