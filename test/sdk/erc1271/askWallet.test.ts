import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { askWallet, type CallReader } from "tallystick-protocol/erc1271/askWallet";
import { MAX_SIGNATURE_BYTES, PROBE_GAS, WALLET_GAS } from "tallystick-protocol/erc1271/walletProbe";
import type { TallystickError } from "tallystick-protocol/errors";
import { createPublicClient, custom, type Hex, http, type PublicClient } from "viem";
import { type Chain, freshChain } from "../../support/freshChain.ts";
import { ERROR_ANSWERS } from "./errorAnswers.ts";

const WALLET = `0x${"c0".repeat(20)}` as const;
const WITNESS = `0x${"aa".repeat(20)}` as const;
const MAGIC = "1626ba7e";
const question = { signer: WALLET, hash: `0x${"12".repeat(32)}`, signature: "0x1234" } as const;

/** Code that answers every call with these four bytes, padded to 32 bytes. */
const answering = (bytes: string): Hex => `0x63${bytes}60e01b60005260206000f3`;
/**
 * Code that answers with the magic value if these instructions leave true on the stack. Otherwise it answers with
 * zeros.
 */
const yesIf = (instructions: string): Hex => `0x${instructions}63${MAGIC}60e01b0260005260206000f3`;
const word = (value: number): string => value.toString(16).padStart(8, "0");

const refusal = (asked: Promise<unknown>): Promise<TallystickError> =>
  asked.then(
    (answer) => expect.fail(`the question gave ${answer}`),
    (error) => error,
  );

describe("a contract wallet that is asked about a signature (ERC-1271)", () => {
  let chain: Chain;
  let client: PublicClient;
  before(async () => {
    chain = await freshChain();
    client = createPublicClient({ transport: custom(chain.provider as never, { retryCount: 0 }) });
  });
  after(() => chain.close());
  const setCode = (address: Hex, code: Hex) =>
    chain.provider.request({ method: "hardhat_setCode", params: [address, code] });

  const cases: [what: string, code: Hex, answer: string][] = [
    ["is believed if it gives the magic value", answering(MAGIC), "yes"],
    ["is believed if bytes follow the magic value", `0x63${MAGIC}60e01b600052620f42406000f3`, "yes"],
    ["is not believed if it gives another value", answering("ffffffff"), "no"],
    ["is not believed if its answer is not a whole word", `0x63${MAGIC}60e01b60005260046000f3`, "no"],
    ["is not believed if the word has more in it", `0x7f${MAGIC}${"00".repeat(27)}0160005260206000f3`, "no"],
    ["is not believed if it gives nothing", "0x00", "no"],
    ["is not believed if it reverts", "0x60006000fd", "no"],
    ["is not believed if it reverts with the magic value", `0x63${MAGIC}60e01b60005260206000fd`, "no"],
    ["is not believed if it has an invalid opcode", "0xfe", "no"],
    ["is not believed if it burns its gas", "0x5b600056", "no"],
    ["is not believed if it gives a megabyte of zeros", "0x621000006000f3", "no"],
    ["is not believed if it tries to write", "0x600160005500", "no"],
    ["is not believed if it destroys itself", "0x33ff", "no"],
    ["is not believed if it calls itself without end", "0x600060006000600060003061fffff100", "no"],
    ["is not believed if it asks for a look-up (ERC-3668)", "0x63556f183060e01b60005260046000fd", "no"],
    ["does not exist without code", "0x", "no_contract"],
  ];
  for (const [what, code, answer] of cases) {
    it(what, async () => {
      await setCode(WALLET, code);
      expect(await askWallet(client, question)).to.equal(answer);
    });
  }

  it("always gets the same gas, even if the provider gives more", async () => {
    // The instruction GAS itself costs 2 gas.
    await setCode(WALLET, yesIf(`5a63${word(WALLET_GAS - 2)}14`));
    expect(await askWallet(client, question)).to.equal("yes");
    const generous: CallReader = { call: ({ data }) => client.call({ data, gas: PROBE_GAS + 4_000_000n }) };
    expect(await askWallet(generous, question)).to.equal("yes");
  });

  it("has no verdict if the provider gives less gas", async () => {
    await setCode(WALLET, answering(MAGIC));
    for (const gas of [3_000_000n, 500_000n, 30_000n]) {
      const capped: CallReader = { call: ({ data }) => client.call({ data, gas }) };
      expect(await refusal(askWallet(capped, question))).to.have.property("code", "chain_unavailable");
    }
  });

  it("gets the hash and the signature as ERC-1271 encodes them", async () => {
    // This code checks the selector of isValidSignature, and the hash after it.
    await setCode(WALLET, yesIf(`60003560e01c63${MAGIC}14600435${"7f"}${"12".repeat(32)}1416`));
    expect(await askWallet(client, question)).to.equal("yes");
    expect(await askWallet(client, { ...question, hash: `0x${"13".repeat(32)}` })).to.equal("no");
    // This code checks the length of the signature, and its first byte.
    await setCode(WALLET, yesIf("6044356002146064356000" + "1a60121416"));
    expect(await askWallet(client, question)).to.equal("yes");
    expect(await askWallet(client, { ...question, signature: "0x123456" })).to.equal("no");
  });

  it("is asked about a signature of the greatest allowed length, and not about a longer signature", async () => {
    await setCode(WALLET, answering(MAGIC));
    const signature = (length: number): Hex => `0x${"12".repeat(length)}`;
    expect(await askWallet(client, { ...question, signature: signature(MAX_SIGNATURE_BYTES) })).to.equal(
      "yes",
    );
    const unasked: CallReader = { call: () => expect.fail("the chain was asked") };
    const longer = { ...question, signature: signature(MAX_SIGNATURE_BYTES + 1) };
    expect(await askWallet(unasked, longer)).to.equal("no");
    expect(await askWallet(client, { ...question, signature: "0x" })).to.equal("yes");
  });

  it("does not count as missing if the provider does not have the state of the block", async () => {
    await setCode(WITNESS, "0x00");
    await setCode(WALLET, "0x");
    expect(await askWallet(client, question, WITNESS)).to.equal("no_contract");
    await setCode(WALLET, answering(MAGIC));
    expect(await askWallet(client, question, WITNESS)).to.equal("yes");
    await setCode(WALLET, "0x");
    await setCode(WITNESS, "0x");
    const error = await refusal(askWallet(client, question, WITNESS));
    expect(error.message).to.match(/no state of this block/);
  });

  describe("over HTTP", () => {
    let server: Server;
    let answer: { status: number; body: string };
    before(async () => {
      server = createServer((_, response) => {
        response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body);
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    });
    after(() => new Promise((resolve) => server.close(resolve)));
    const asked = (body: object | string, status = 200) => {
      answer = {
        status,
        body: typeof body === "string" ? body : JSON.stringify({ jsonrpc: "2.0", id: 1, ...body }),
      };
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-key`;
      return askWallet(createPublicClient({ transport: http(url, { retryCount: 0 }) }), question);
    };

    for (const [name, answers] of Object.entries(ERROR_ANSWERS)) {
      for (const [what, code, message] of answers) {
        it(`has no verdict after an error of ${name}: ${what}`, async () => {
          for (const data of [undefined, "0x", `0x${MAGIC}${"00".repeat(28)}`]) {
            const error = await refusal(asked({ error: { code, message, data } }));
            expect(error).to.have.property("code", "chain_unavailable");
            expect(error.message).not.to.include("secret-key");
          }
        });
      }
    }

    const others: [string, object | string, number?][] = [
      ["no result", { result: null }],
      ["an empty result", { result: "0x" }],
      [
        "the wallet's own answer, from an RPC that calls the wallet directly",
        { result: `0x${MAGIC}${"00".repeat(28)}` },
      ],
      ["a value that the probe never gives", { result: `0x${"00".repeat(31)}09` }],
      ["an HTML page", "<html>", 200],
      ["a gateway's error", "bad gateway", 502],
      ["a refusal", "", 403],
    ];
    for (const [what, body, status] of others) {
      it(`has no verdict after ${what}`, async () => {
        const error = await refusal(asked(body, status));
        expect(error).to.have.property("code", "chain_unavailable");
        expect(error.message).not.to.include("secret-key");
      });
    }

    it("has no verdict if the RPC does not answer", async () => {
      const gone = createPublicClient({
        transport: http("http://127.0.0.1:9/secret-key", { retryCount: 0 }),
      });
      const error = await refusal(askWallet(gone, question));
      expect(error).to.have.property("code", "chain_unavailable");
      expect(error.message).not.to.include("secret-key");
    });
  });
});
