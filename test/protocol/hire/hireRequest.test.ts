import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { anyCaseAddressSchema } from "tallystick-protocol/anyCaseAddress";
import { readHireRequest, signHireRequest } from "tallystick-protocol/hire/hireRequest";
import { paramsHash } from "tallystick-protocol/hire/paramsHash";
import { keccak256, stringToBytes } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const account = privateKeyToAccount(`0x${"51".repeat(32)}`);
const seller = `0x${"ab".repeat(20)}` as Address;

/**
 * A signed hire of v0.3, made without our code: the signature is over the sorted keys, with the hash of the params in
 * place of the params.
 */
async function signedAs(buyerId: string) {
  const params = { data: [1.5, 2] };
  const signed = {
    buyer_id: buyerId,
    capability: "compute.statistics.mean",
    nonce: `0x${"0c".repeat(16)}`,
    params_hash: paramsHash(params),
    protocol: "swarmwage/v0.3",
  };
  const raw = keccak256(stringToBytes(JSON.stringify(signed)));
  const { params_hash: _, ...rest } = signed;
  return { ...rest, params, signature: await account.signMessage({ message: { raw } }) };
}

describe("a hire's addresses", () => {
  it("are read as lower case, and checked as they were signed", async () => {
    const lower = account.address.toLowerCase();
    for (const spelling of [account.address, lower, `0x${lower.slice(2).toUpperCase()}`]) {
      const read = readHireRequest(await signedAs(spelling), seller);
      expect(read.signed).to.equal(true);
      expect(read.request.buyer_id).to.equal(lower);
    }
    const respelled = { ...(await signedAs(account.address)), buyer_id: lower };
    expect(() => readHireRequest(respelled, seller)).to.throw(
      `is not a signature of ${lower} over this request`,
    );
  });

  it("are signed by us in lower case", async () => {
    const { signature: _, ...terms } = await signedAs(account.address);
    const signed = await signHireRequest(terms, { account });
    expect(signed.buyer_id).to.equal(account.address.toLowerCase());
    expect(readHireRequest(signed, seller).signed).to.equal(true);
  });

  it("must have the checksum of EIP-55 if they have upper-case and lower-case letters", () => {
    const examples = [
      "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
      "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
      "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
      "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
    ];
    for (const address of examples) {
      expect(anyCaseAddressSchema.parse(address)).to.equal(address.toLowerCase());
      const at = address.slice(2).search(/[A-F]/) + 2;
      const wrong = address.slice(0, at) + address.charAt(at).toLowerCase() + address.slice(at + 1);
      expect(anyCaseAddressSchema.safeParse(wrong).success, wrong).to.equal(false);
    }
    for (const none of [
      "",
      "0x",
      `0X${"a".repeat(40)}`,
      `0x${"a".repeat(41)}`,
      `0x${"g".repeat(40)}`,
      7,
      null,
    ]) {
      expect(anyCaseAddressSchema.safeParse(none).success, String(none)).to.equal(false);
    }
  });
});
