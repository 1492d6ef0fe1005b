import { expect } from "chai";
import { runNotifier } from "../../services/notifying/runNotifier.ts";
import { suiteFolder } from "../support/suiteFolder.ts";
import { KEY } from "./support/testNotifier.ts";

describe("two senders of notices with one folder", () => {
  const folder = suiteFolder();

  it("cannot run at the same time: the second starts only after the first has ended", async () => {
    const config = {
      ...{ nodeUrl: "http://127.0.0.1:9", privateKey: KEY, folder: folder.path, host: "127.0.0.1", port: 0 },
      ...{ roundMs: 60_000, devMode: false },
    };
    const first = await runNotifier(config);
    const refused = await runNotifier(config).catch((error) => error);
    expect(refused).to.include({ code: "notifier_folder" });
    await first.close();
    await (await runNotifier(config)).close();
  });

  it("can start one after the other if the first failed to open, because the folder is free again", async () => {
    const config = {
      ...{ nodeUrl: "http://127.0.0.1:9", privateKey: KEY, folder: folder.path, host: "127.0.0.1", port: 0 },
      ...{ roundMs: 60_000, devMode: false },
    };
    const failed = await runNotifier({ ...config, privateKey: "0x12" }).catch((error) => error);
    expect(failed).to.be.instanceOf(Error).and.not.have.property("code", "notifier_folder");
    await (await runNotifier(config)).close();
  });
});
