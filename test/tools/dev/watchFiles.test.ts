import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { type FileWatch, watchFiles } from "../../../tools/dev/watchFiles.ts";

describe("tools/dev/watchFiles", () => {
  let folder: string;
  let files: FileWatch | undefined;
  const { signal } = new AbortController();
  const at = (name: string) => path.join(folder, name);
  const write = (name: string) => writeFileSync(at(name), "text");
  /** All files that change until this file changes. A system may report one change in several parts. */
  const until = async (name: string) => {
    const seen: string[] = [];
    while (!seen.includes(name))
      seen.push(...((await files?.next(signal)) ?? []).map((file) => path.relative(folder, file)));
    return [...new Set(seen)];
  };

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), "tallystick-watch-"));
    mkdirSync(at("code/deep"), { recursive: true });
    for (const name of ["code/a.ts", "code/deep/b.ts", "log.jsonl", "other.jsonl"]) write(name);
  });
  afterEach(() => {
    files?.close();
    rmSync(folder, { recursive: true });
  });

  it("reports files below a folder that are written, replaced, created and removed", async () => {
    files = await watchFiles([at("code")]);
    write("code/a.ts");
    expect(await until("code/a.ts")).to.deep.equal(["code/a.ts"]);
    for (let again = 0; again < 2; again++) {
      write("code/deep/b.ts.tmp");
      renameSync(at("code/deep/b.ts.tmp"), at("code/deep/b.ts"));
      expect(await until("code/deep/b.ts")).to.deep.equal(["code/deep/b.ts"]);
    }
    write("code/new.ts");
    await until("code/new.ts");
    rmSync(at("code/new.ts"));
    await until("code/new.ts");
  });

  it("reports files in new folders, also in a folder that replaces a removed folder", async () => {
    files = await watchFiles([at("code")]);
    for (let again = 0; again < 2; again++) {
      mkdirSync(at("later/deep"), { recursive: true });
      renameSync(at("later"), at("code/later"));
      await until("code/later");
      write("code/later/deep/c.ts");
      await until("code/later/deep/c.ts");
      renameSync(at("code/later"), at(`gone${again}`));
      await until("code/later");
    }
  });

  it("reports one watched file among other files, also when it is replaced", async () => {
    files = await watchFiles([at("log.jsonl")]);
    for (let again = 0; again < 2; again++) {
      write("other.jsonl");
      write("next.jsonl");
      renameSync(at("next.jsonl"), at("log.jsonl"));
      expect(await until("log.jsonl")).to.deep.equal(["log.jsonl"]);
    }
  });

  it("remembers changes until the next call, ignores temporary files of editors, and stops on request", async () => {
    files = await watchFiles([at("code"), at("log.jsonl")]);
    for (const name of ["code/.a.ts.swp", "code/a.ts~", "code/deep/b.ts", "log.jsonl"]) write(name);
    expect((await until("log.jsonl")).sort()).to.deep.equal(["code/deep/b.ts", "log.jsonl"]);
    const controller = new AbortController();
    const asked = files.next(controller.signal);
    controller.abort(new Error("enough"));
    expect(await asked.catch((error: Error) => error.message)).to.equal("enough");
  });

  it("names a path that cannot be watched", async () => {
    const error = await watchFiles([at("code"), at("nothing")]).catch((it: unknown) => it);
    expect(error).to.be.instanceOf(TallystickError).with.property("code", "cannot_watch");
    expect((error as Error).message).to.contain("nothing");
  });
});
