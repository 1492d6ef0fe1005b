import { expect } from "chai";
import { createPublicClient, custom, type PublicClient } from "viem";
import { readGuardian } from "../../../scripts/deploy/describeGuardian.ts";
import { rejection } from "../../sdk/support/tamper.ts";

const GUARDIAN = `0x${"9a".repeat(20)}` as const;

describe("what a guardian is, by an RPC that fails", () => {
  /** A client whose RPC has code at the guardian's address, and fails at this method. */
  const failing = (error: Error, at = "eth_call") =>
    createPublicClient({
      transport: custom(
        {
          request: async ({ method }) => {
            if (method === at) throw error;
            if (method === "eth_getStorageAt") return `0x${"00".repeat(32)}`;
            // Without an end, so that a test does not depend on which of the requests ends first.
            return method === "eth_getCode" ? "0x6001" : new Promise(() => {});
          },
        },
        { retryCount: 0 },
      ),
    }) as PublicClient;

  it("is not known, and is no contract that is not a Safe", async () => {
    const limited = Object.assign(new Error("too many requests"), { code: -32_005 });
    const internal = Object.assign(new Error("Internal error"), { code: -32_603 });
    const behind = Object.assign(new Error("header not found"), { code: -32_000 });
    for (const method of ["eth_getCode", "eth_call", "eth_getStorageAt"])
      for (const fault of [limited, internal, behind, new Error("away")]) {
        const error = await rejection(readGuardian(failing(fault, method), GUARDIAN));
        expect(error, method).to.include({ name: "TallystickError", code: "chain_unavailable" });
        expect(error.message).to.contain(GUARDIAN);
      }
  });

  it("is a contract if the contract itself refuses to answer as a Safe", async () => {
    const reverted = Object.assign(new Error("execution reverted"), { code: 3, data: "0x" });
    const burnt = Object.assign(new Error("out of gas"), { code: -32_000 });
    const halted = Object.assign(new Error("EVM error: InvalidFEOpcode"), { code: -32_003 });
    for (const error of [reverted, burnt, halted])
      expect(await readGuardian(failing(error), GUARDIAN), error.message).to.deep.equal({ kind: "contract" });
  });
});
