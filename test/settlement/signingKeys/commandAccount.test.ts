import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { anchorTypedData } from "tallystick-protocol/ledger/anchor";
import { type Hex, keccak256, type LocalAccount, parseTransaction, recoverTransactionAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import { readConfig } from "../../../services/settlement/config.ts";
import { commandAccount } from "../../../services/settlement/signingKeys/commandAccount.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

const KEY: Hex = `0x${"11".repeat(32)}`;
const SIGNER = path.join(import.meta.dirname, "../support/signer.mjs");
const here = privateKeyToAccount(KEY);
const address = here.address.toLowerCase() as Address;

describe("a key behind a signing command", () => {
  const folder = temporaryFolder();
  let file: string;
  beforeEach(() => {
    file = path.join(folder.path, "key");
    writeFileSync(file, `${KEY}\n`);
  });
  const by = (way = "good", more: { deadlineMs?: number; signal?: AbortSignal } = {}) =>
    commandAccount({
      address,
      command: [process.execPath, SIGNER, file, way],
      deadlineMs: 120_000,
      ...more,
    });
  const asked = () =>
    readFileSync(`${file}.asked`, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  const terms = anchorTypedData(
    { ledgerId: keccak256("0x01"), seq: 2n ** 63n, newSize: 7n, newRoot: keccak256("0x02") },
    { chainId: 8453, contract: `0x${"22".repeat(20)}` },
  );
  const refusal = async (work: Promise<unknown>) =>
    work.then(
      () => ({ code: "none", message: "" }),
      (error) => ({ code: error.code, message: error.message as string }),
    );

  it("gives the same signatures as the key itself, and the command sees what it signs", async () => {
    expect(await by().signTypedData(terms)).to.equal(await here.signTypedData(terms));
    const transaction = {
      type: "eip1559",
      chainId: 8453,
      nonce: 7,
      to: here.address,
      gas: 21_000n,
      maxFeePerGas: 10n ** 9n,
      maxPriorityFeePerGas: 1n,
      data: "0x1234",
    } as const;
    const signed = await by().signTransaction(transaction);
    expect(signed).to.equal(await here.signTransaction(transaction));
    expect(parseTransaction(signed as Hex)).to.include({ nonce: 7 });
    expect(
      (await recoverTransactionAddress({ serializedTransaction: signed as never })).toLowerCase(),
    ).to.equal(address);
    expect(await by().signMessage({ message: "x" })).to.equal(await here.signMessage({ message: "x" }));
    const [anchor, sent] = asked();
    expect(anchor).to.deep.include({ version: 1, address, kind: "typed_data" });
    expect(anchor.typed_data.message.seq).to.equal(String(2n ** 63n));
    expect(sent.kind).to.equal("transaction");
  });

  it("gives correct signatures if the command omits v, or answers with the upper s, which no contract accepts", async () => {
    for (const way of ["without v", "of the upper half"])
      expect(await by(way).signTypedData(terms), way).to.equal(await here.signTypedData(terms));
  });

  it("gets none of this process's keys", async () => {
    process.env.OPERATOR_PRIVATE_KEY = KEY;
    process.env.SIGNER_PROFILE = "writer";
    try {
      await by().signTypedData(terms);
    } finally {
      delete process.env.OPERATOR_PRIVATE_KEY;
      delete process.env.SIGNER_PROFILE;
    }
    const [{ env }] = asked();
    expect(env).to.include.members(["PATH", "SIGNER_PROFILE"]);
    expect(env).to.not.include("OPERATOR_PRIVATE_KEY");
  });

  it("is checked: a signature that is not the account's over the digest is refused", async () => {
    for (const way of ["of another digest", "text", "nothing"])
      expect((await refusal(by(way).signTypedData(terms))).code, way).to.equal("signer_answer");
    const other = commandAccount({
      address: `0x${"33".repeat(20)}`,
      command: [process.execPath, SIGNER, file],
      deadlineMs: 120_000,
    });
    expect((await refusal(other.signTypedData(terms))).code).to.equal("signer_answer");
  });

  it("has limits of output and time, ends with the service, and repeats only a part of the command's error text", async () => {
    const { code, message } = await refusal(by("a complaint").signTypedData(terms));
    expect(code).to.equal("signer_failed");
    expect(message).to.contain("it ended with 3: no such key").and.not.contain("\u001b");
    expect(message.length).to.be.below(300);
    expect((await refusal(by("much").signTypedData(terms))).message).to.contain("more than 4096 bytes");
    expect((await refusal(by("never", { deadlineMs: 1_000 }).signTypedData(terms))).message).to.contain(
      "longer than 1 s",
    );
    rmSync(`${file}.asked`, { force: true });
    const stop = new AbortController();
    const stopped = refusal(by("never", { signal: stop.signal }).signTypedData(terms));
    while (!existsSync(`${file}.asked`)) await sleep(20);
    stop.abort();
    expect((await stopped).message).to.contain("the service stops");
    const missing = commandAccount({ address, command: ["/nowhere/signer"] });
    expect((await refusal(missing.signTypedData(terms))).message).to.contain("ENOENT");
    // No shell reads the command.
    const shell = commandAccount({ address, command: [`${process.execPath} ${SIGNER} ${file}; true`] });
    expect((await refusal(shell.signTypedData(terms))).message).to.contain("ENOENT");
  });

  it("does not end its service when no file handle is free to run the command", () => {
    const program = nodeProgram("test/settlement/support/signWithoutHandles.ts");
    const limited = ["-c", 'ulimit -n 96; exec "$@"', "sh", process.execPath, ...program];
    expect(execFileSync("sh", limited, { encoding: "utf8", stdio: "pipe" }).trim()).to.equal("signer_failed");
  });

  it("runs one command at a time if several signatures are requested at once, and continues after a failure", async () => {
    const messages = ["one", "refuse", "two"];
    const sign = async (account: LocalAccount): Promise<string[]> =>
      Promise.all([
        ...messages.map((message) => account.signMessage({ message }).catch(({ code }) => code)),
        account.signTypedData(terms),
      ]);
    const wanted = await sign(here);
    expect(await sign(by("alone"))).to.deep.equal(wanted.with(1, "signer_failed"));
    expect(asked().map(({ message }) => message)).to.deep.equal([...messages, undefined]);
  });

  it("is configured as a list of words, with its account; a key may be in a file instead", () => {
    const chain = {
      ANCHORED_LEDGER: `0x${"44".repeat(20)}`,
      RPC_URL: "http://127.0.0.1:8545",
      CHAIN_ID: "31337",
    };
    const fields = (settings: { [name: string]: string }) => {
      try {
        readConfig({ ...chain, ...settings });
        return [];
      } catch (error) {
        return (error as { issues: { field: string }[] }).issues.map(({ field }) => field);
      }
    };
    const ANCHOR_SIGNER = JSON.stringify(["/bin/sign", "--key", "writer"]);
    const { anchoring } = readConfig({ ...chain, ANCHOR_SIGNER, ANCHOR_SIGNER_ADDRESS: here.address });
    expect(anchoring).to.deep.include({
      writer: address,
      key: { kind: "command", address, command: ["/bin/sign", "--key", "writer"] },
    });
    expect(fields({ ANCHOR_SIGNER })).to.deep.equal(["ANCHOR_SIGNER_ADDRESS"]);
    expect(fields({ ANCHOR_SIGNER_ADDRESS: address })).to.deep.equal(["ANCHOR_SIGNER"]);
    for (const wrong of ["/bin/sign", "[]", "[1]", '{"a":1}'])
      expect(fields({ ANCHOR_SIGNER: wrong, ANCHOR_SIGNER_ADDRESS: address })).to.deep.equal([
        "ANCHOR_SIGNER",
      ]);
    expect(fields({ ANCHOR_SIGNER, ANCHOR_SIGNER_ADDRESS: address, ANCHOR_PRIVATE_KEY: KEY })).to.deep.equal([
      "ANCHOR_SIGNER",
    ]);
    expect(readConfig({ ...chain, ANCHOR_PRIVATE_KEY_FILE: file }).ledger).to.equal(
      readConfig({ ...chain, ANCHOR_PRIVATE_KEY: KEY }).ledger,
    );
    expect(fields({ ANCHOR_PRIVATE_KEY_FILE: file, ANCHOR_PRIVATE_KEY: KEY })).to.deep.equal([
      "ANCHOR_PRIVATE_KEY_FILE",
    ]);
    for (const none of [folder.path, `${file}.none`, "/dev/zero"])
      expect(fields({ ANCHOR_PRIVATE_KEY_FILE: none }), none).to.deep.equal(["ANCHOR_PRIVATE_KEY_FILE"]);
    writeFileSync(file, "not a key");
    expect(fields({ ANCHOR_PRIVATE_KEY_FILE: file })).to.deep.equal(["ANCHOR_PRIVATE_KEY"]);
  });
});
