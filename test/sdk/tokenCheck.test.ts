import { expect } from "chai";
import { tokenCheck } from "tallystick-sdk/escrow/tokenCheck";
import { createPublicClient, custom } from "viem";
import { rejection } from "./support/tamper.ts";

const address = (byte: string) => `0x${byte.repeat(20)}` as const;

describe("the check of an escrow's token", () => {
  it("asks the escrow until it names the right token, and never again", async () => {
    const asked: string[] = [];
    let answer = async (): Promise<string> => address("0F");
    const readContract = ((call: { address: string; functionName: string }) => {
      asked.push(`${call.address}.${call.functionName}`);
      return answer();
    }) as never;
    const check = tokenCheck({ readContract }, { escrow: address("e5"), token: address("7a") });
    const other = await rejection(check());
    expect(other).to.include({ code: "wrong_token", field: "escrow", neverSent: true });
    expect(other.message).to.contain(address("0f")).and.to.contain(address("7a"));
    answer = () => Promise.reject(new Error("away"));
    expect((await rejection(check())).message).to.equal("away");
    answer = async () => address("7A");
    await check();
    answer = async () => address("0F");
    await check();
    expect(asked).to.deep.equal(Array(3).fill(`${address("e5")}.token`));
  });

  it("says that there is no escrow if the address has no code or no token, and not if the RPC fails", async () => {
    let answer: () => unknown;
    const client = createPublicClient({
      transport: custom({ request: async () => answer() }, { retryCount: 0 }),
    });
    const check = tokenCheck(client, { escrow: address("e5"), token: address("7a") });
    const fail = (code: number, message: string, data?: string) => () => {
      throw Object.assign(new Error(message), { code, data });
    };
    const none = [
      () => "0x",
      fail(3, "execution reverted", "0x"),
      fail(3, "execution reverted: unknown", "0x12345678"),
      fail(-32_000, "execution reverted"),
    ];
    for (const [at, it] of none.entries()) {
      answer = it;
      const error = await rejection(check());
      expect(error, String(at)).to.include({ code: "wrong_token", field: "escrow", neverSent: true });
      expect(error.message).to.contain(address("e5")).and.to.contain("names no token");
    }
    const faults = [
      fail(-32_603, "internal error"),
      fail(-32_005, "too many requests"),
      fail(-32_000, "header not found"),
      fail(429, "slow down"),
    ];
    for (const [at, it] of faults.entries()) {
      answer = it;
      expect(await rejection(check()), String(at)).to.have.property("name", "ContractFunctionExecutionError");
    }
    answer = () => `0x${"00".repeat(12)}${"7a".repeat(20)}`;
    await check();
  });
});
