import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { askWallet, type CallReader } from "tallystick-protocol/erc1271/askWallet";
import { MAX_SIGNATURE_BYTES, PROBE_GAS, WALLET_GAS } from "tallystick-protocol/erc1271/walletProbe";
import type { TallystickError } from "tallystick-protocol/errors";
import {
  createPublicClient,
  custom,
  getContractAddress,
  type Hex,
  http,
  numberToHex,
  type PublicClient,
  pad,
  zeroAddress,
} from "viem";
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
    const generous: CallReader = { call: (call) => client.call({ ...call, gas: PROBE_GAS + 4_000_000n }) };
    expect(await askWallet(generous, question)).to.equal("yes");
  });

  it("has no verdict if the provider gives less gas", async () => {
    await setCode(WALLET, answering(MAGIC));
    for (const gas of [3_000_000n, 500_000n, 30_000n]) {
      const capped: CallReader = { call: (call) => client.call({ ...call, gas }) };
      expect(await refusal(askWallet(capped, question))).to.have.property("code", "chain_unavailable");
    }
  });

  /** The instructions that leave on the stack whether an opcode gives a value. */
  const gives = (opcode: string, value: Hex | bigint): string =>
    `${opcode}7f${pad(typeof value === "bigint" ? numberToHex(value) : value, { size: 32 }).slice(2)}14`;

  describe("has the same answer from every provider", () => {
    const sender = getContractAddress({ from: zeroAddress, nonce: 0n });
    const pinned: [what: string, opcode: string, value: Hex | bigint][] = [
      ["tx.origin is the zero address", "32", zeroAddress],
      ["tx.gasprice is zero", "3a", 0n],
      ["block.basefee is zero, and not that of the block", "48", 0n],
      ["msg.sender is the zero address's first contract", "33", sender],
      ["msg.value is zero", "34", 0n],
    ];
    for (const [what, opcode, value] of pinned) {
      it(`because ${what}`, async () => {
        expect((await client.getBlock()).baseFeePerGas).to.be.above(0n);
        await setCode(WALLET, yesIf(gives(opcode, value)));
        expect(await askWallet(client, question)).to.equal("yes");
        await setCode(WALLET, yesIf(gives(opcode, numberToHex(7, { size: 20 }))));
        expect(await askWallet(client, question)).to.equal("no");
      });
    }

    it("because everything else is in the header of the block, also of an old one", async () => {
      await client.request({ method: "hardhat_setPrevRandao", params: [`0x${"5e".repeat(32)}`] } as never);
      await client.request({ method: "hardhat_setCoinbase", params: [`0x${"c1".repeat(20)}`] } as never);
      await client.request({ method: "hardhat_mine", params: ["0x1"] } as never);
      const { number, timestamp, miner, mixHash, gasLimit, parentHash } = await client.getBlock();
      const fields: [opcode: string, value: Hex | bigint][] = [
        ["41", miner],
        ["42", timestamp],
        ["43", number],
        ["44", mixHash],
        ["45", gasLimit],
        // The hash of the block before.
        ["6001430340", parentHash],
        // A block without blobs has the lowest fee for them.
        ["4a", 1n],
      ];
      const walletOf = (opcode: string) => numberToHex(BigInt(`0xd0d0${opcode}`), { size: 20 });
      for (const [opcode, value] of fields) await setCode(walletOf(opcode), yesIf(gives(opcode, value)));
      await client.request({ method: "hardhat_mine", params: ["0x3"] } as never);
      const at: CallReader = { call: (call) => client.call({ ...call, blockNumber: number }) };
      for (const [opcode, value] of fields) {
        const asked = { ...question, signer: walletOf(opcode) };
        expect(await askWallet(at, asked), `${opcode} ${value}`).to.equal("yes");
      }
    });

    it("and none from a provider that gives another sender or gas price", async () => {
      await setCode(WALLET, answering(MAGIC));
      const [funded] = (await client.request({ method: "eth_accounts" } as never)) as [Hex];
      const others: Parameters<CallReader["call"]>[0][] = [];
      for (const terms of [{ account: funded }, { account: funded, gasPrice: 10n ** 10n }]) {
        const other: CallReader = {
          call: (call) => {
            others.push(call);
            return client.call({ ...call, ...terms, blockOverrides: undefined });
          },
        };
        const error = await refusal(askWallet(other, question));
        expect(error).to.have.property("code", "chain_unavailable");
        expect(error.message).to.match(/another sender, gas price or base fee than 0$/);
      }
      expect(others).to.have.length(4);
      // A signer without code needs no such terms.
      await setCode(WALLET, "0x");
      const plain: CallReader = { call: ({ data, gas }) => client.call({ data, gas, account: funded }) };
      expect(await askWallet(plain, question)).to.equal("no_contract");
    });

    it("also from a provider that follows only an override of the base fee", async () => {
      await setCode(WALLET, yesIf(gives("48", 0n)));
      const asked: unknown[] = [];
      // In this chain a call never has a base fee. So the opcode of the block's number stands for one.
      const older: CallReader = {
        call: ({ blockOverrides, ...call }) => {
          asked.push(blockOverrides);
          const data = blockOverrides ? call.data : (call.data.replace("323a174817", "323a174317") as Hex);
          return client.call({ ...call, data });
        },
      };
      expect(await askWallet(older, question)).to.equal("yes");
      expect(asked).to.deep.equal([undefined, { baseFeePerGas: 0n }]);
      const refusing: CallReader = {
        call: ({ blockOverrides, ...call }) =>
          blockOverrides
            ? Promise.reject(new Error("too many params"))
            : client.call({ ...call, data: call.data.replace("323a174817", "323a174317") as Hex }),
      };
      const error = await refusal(askWallet(refusing, question));
      expect(error.message).to.match(/another sender, gas price or base fee than 0$/);
    });
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
