import { expect } from "chai";
import { lockFolder } from "tallystick-runtime/processes/lockFolder";
import { readAuditingConfig } from "../../services/auditing/config.ts";
import { runOperator } from "../../services/auditing/runOperator.ts";
import { suiteFolder } from "../support/suiteFolder.ts";

describe("two operators of audits with one folder", () => {
  const folder = suiteFolder();

  it("cannot run at the same time, and an operator that cannot open leaves the folder free", async () => {
    const config = readAuditingConfig({
      // Nothing listens there.
      RPC_URL: "http://127.0.0.1:9",
      CHAIN_ID: "31337",
      TOKEN_ADDRESS: `0x${"70".repeat(20)}`,
      AUDIT_OPERATOR_PRIVATE_KEY: `0x${"61".repeat(32)}`,
      AUDIT_POOL_PRIVATE_KEY: `0x${"62".repeat(32)}`,
      AUDIT_BUDGET_USDC: "1",
      AUDIT_DIR: folder.path,
      AUDIT_PORT: "0",
    });
    const locked = () =>
      lockFolder(folder.path, { file: "operator.lock", program: "test", code: "locked", hint: "" });
    const release = await locked();
    const refused = await runOperator(config).catch((error) => error);
    expect(refused).to.include({ code: "operator_folder" });
    await release();
    const failed = await runOperator(config).catch((error) => error);
    expect(failed).to.be.instanceOf(Error).and.not.have.property("code", "operator_folder");
    await (await locked())();
  });
});
