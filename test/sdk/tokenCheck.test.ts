import { expect } from "chai";
import { tokenCheck } from "tallystick-sdk/escrow/tokenCheck";
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
});
