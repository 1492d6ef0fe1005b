import { expect } from "chai";
import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import { escrowId, type Hire } from "tallystick-protocol/escrow/hire";
import type { Abi } from "viem";
import { decodeFunctionData, type Hex } from "viem";
import { useReader } from "../support/escrowReader.ts";
import { ProviderError } from "../support/testWallet.ts";

describe("a deposit in the portal with the reader's wallet", function () {
  this.slow(10_000);
  const reader = useReader();
  const { come, connect, done, words } = reader;

  /** Connects a person's wallet, and fills in the form of a new escrow. */
  const fill = async (person = reader.scene.buyer, amount = "12.5") => {
    await come(person);
    await reader.page.goto(`${reader.scene.url}#/escrow/new`);
    await connect();
    await reader.page.getByLabel("Seller").fill(reader.scene.seller.address);
    await reader.page.getByLabel("Amount, USDC").fill(amount);
  };
  const read = () => reader.page.getByRole("button", { name: "Read the terms" }).click();
  const ready = () => reader.page.getByText("The wallet asks you twice").waitFor();
  const sign = () => reader.page.getByRole("button", { name: "Sign and send" }).click();
  const signatures = () => reader.wallet.asked.filter(({ method }) => method === "eth_signTypedData_v4");

  /**
   * Lets the node name an escrow whose token takes no payment by signature. `allowance` reads how much the buyer has
   * allowed it to take.
   */
  const payPlain = async () => {
    const { scene } = reader;
    const plain = await scene.plain();
    scene.node.change = (json) =>
      json.replaceAll(scene.escrow, plain.escrow).replaceAll(scene.token, plain.token);
    const allowance = () =>
      scene.client.readContract({
        address: plain.token,
        abi: plain.tokenAbi,
        functionName: "allowance",
        args: [scene.buyer.address, plain.escrow],
      });
    return { plain, allowance };
  };
  /** Presses a button of the dialogue, and mines a block, so that the page counts the transaction as done. */
  const press = async (name: string) => {
    await reader.page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
    await reader.page.getByText("Sent. Once this transaction counts as done").waitFor();
    await reader.scene.client.mine({ blocks: 1 });
  };

  it("names the wrong fields, and asks the wallet for nothing", async () => {
    await fill(reader.scene.buyer, "0");
    await reader.page.getByLabel("Seller").fill("me");
    await read();
    await reader.page.getByText("An amount above 0").waitFor();
    expect(await reader.page.getByText("An address: 0x and 40 digits").count()).to.equal(1);
    // The first wrong field has the focus.
    expect(await reader.page.evaluate(() => document.activeElement?.id)).to.equal("draft-seller");
    expect(await reader.page.getByRole("dialog").count()).to.equal(0);
  });

  it("needs one signature, which covers exactly these terms, and has a page before the node knows the escrow", async () => {
    const { scene } = reader;
    await fill();
    await read();
    await ready();
    const said = await words();
    expect(said).to.contain("You put 12.50 USDC into the contract").and.contain("There is no arbiter");
    for (const whole of [reader.scene.seller.address, reader.scene.escrow]) expect(said).to.contain(whole);
    expect(said).to.contain("If nobody does anything, anyone can send it back to you from");
    await sign();
    await done();
    const [asked] = signatures();
    const typed = JSON.parse(String(asked?.params[1]));
    expect(typed.primaryType).to.equal("ReceiveWithAuthorization");
    const { params } = reader.wallet.asked.find(({ method }) => method === "eth_sendTransaction") ?? {
      params: [],
    };
    const { data, chainId } = params[0] as { data: Hex; chainId: Hex };
    // The transaction names its chain. So a wallet that is on another chain by now can refuse it.
    expect(chainId).to.equal("0x7a69");
    const { args } = decodeFunctionData({ abi: hireEscrowAbi, data });
    const hire = lower(args?.[0] as Hire);
    const id = escrowId(hire, { chainId: 31_337, escrow: scene.escrow });
    // One signature pays, and fixes the terms: its nonce is the escrow's id. It is valid for an hour.
    expect(typed.message).to.include({ nonce: id, value: "12500000", to: scene.escrow });
    expect(Number(typed.message.validBefore)).to.be.at.most((await scene.now()) + 3_600);
    expect(hire).to.include({ seller: scene.seller.address, amount: 12_500_000n, fee: 0n });
    expect(await scene.state(id)).to.include({ status: 1, amount: 12_500_000n });
    await reader.page.getByRole("link", { name: "Go to the escrow" }).click();
    await reader.page.getByText("The node has not read of this deposit yet").waitFor();
    await reader.page.getByRole("button", { name: "Release the money" }).waitFor();
    expect(reader.complaints).to.deep.equal([]);
  });

  it("asks for no signature if the deadline passes while the dialogue is open", async () => {
    await fill();
    await reader.page.getByLabel("Deadline, hours from now").fill("0.1");
    await read();
    await ready();
    await reader.scene.passTo(BigInt(await reader.scene.now()) + 400n);
    await sign();
    await reader.page.getByText("Choose a later one. Nothing was signed.").waitFor();
    expect(signatures()).to.have.length(0);
  });

  it("sends nothing if the deadline passes while the wallet is asked to sign", async () => {
    await fill();
    await reader.page.getByLabel("Deadline, hours from now").fill("0.1");
    await read();
    await ready();
    reader.wallet.answers.set("eth_signTypedData_v4", async ([, text]) => {
      await reader.scene.passTo(BigInt(await reader.scene.now()) + 400n);
      return await reader.wallet.account.signTypedData(JSON.parse(String(text)));
    });
    await sign();
    await reader.page.getByText(/The deadline has passed: it was/).waitFor();
    expect(reader.sent()).to.equal(0);
  });

  it("reports that the account has too little of the token", async () => {
    await fill(reader.scene.buyer, "5000");
    await read();
    await reader.page.getByText(/of the token, and 5,000\.00 are needed/).waitFor();
    expect(signatures()).to.have.length(0);
  });

  it("reports that the token bars the buyer, before anything is sent", async () => {
    const { scene } = reader;
    const barred = await scene.person();
    await scene.write(scene.token, scene.tokenAbi, "blacklist", [barred.address]);
    await fill(barred);
    await read();
    await ready();
    expect(await words()).to.contain("The token bars");
    await sign();
    await reader.page.getByText("it moves nothing from or to that account").waitFor();
    expect(reader.sent()).to.equal(0);
  });

  it("reports that the guardian has paused deposits", async () => {
    const { scene } = reader;
    await scene.write(scene.escrow, hireEscrowAbi as Abi, "pause", [600n]);
    try {
      await fill();
      await read();
      await reader.page.getByText("The guardian has paused deposits until").waitFor();
    } finally {
      await scene.write(scene.escrow, hireEscrowAbi as Abi, "unpause", []);
    }
  });

  it("is paid by allowance if the token accepts no signature: first an allowance of exactly the amount, then the deposit", async () => {
    const { scene } = reader;
    const { plain, allowance } = await payPlain();
    await fill();
    await read();
    await reader.page.getByText("It is paid by allowance, in two transactions.").waitFor();
    await press("Allow 12.50 USDC");
    const deposit = reader.page.getByRole("dialog").getByRole("button", { name: "Deposit", exact: true });
    await deposit.waitFor();
    expect(await allowance()).to.equal(12_500_000n);
    await deposit.click();
    await done();
    expect(await allowance()).to.equal(0n);
    expect(signatures()).to.have.length(0);
    const { params } = reader.wallet.asked.findLast(({ method }) => method === "eth_sendTransaction") ?? {
      params: [],
    };
    const { to, data } = params[0] as { to: Hex; data: Hex };
    const { functionName, args } = decodeFunctionData({ abi: hireEscrowAbi, data });
    expect([to, functionName]).to.deep.equal([plain.escrow, "deposit"]);
    const hire = lower(args?.[0] as Hire);
    const id = escrowId(hire, { chainId: 31_337, escrow: plain.escrow });
    expect(await scene.state(id, plain.escrow)).to.include({ status: 1, amount: 12_500_000n });
    expect(reader.complaints).to.deep.equal([]);
  });

  it("is refused if the token's number of decimals is unknown, or not that of USDC", async () => {
    const { scene } = reader;
    const answers: [(request: unknown) => unknown, string][] = [
      [() => `0x${(18).toString(16).padStart(64, "0")}`, "The token has 18 decimals"],
      [
        () => {
          throw new ProviderError(3, "execution reverted");
        },
        "The token has unknown decimals",
      ],
    ];
    await fill();
    for (const [answer, text] of answers) {
      reader.wallet.answers.set("eth_call", (params) =>
        (params[0] as { data: string }).data === "0x313ce567"
          ? answer(params)
          : scene.connection.provider.request({ method: "eth_call", params: params as unknown[] }),
      );
      await read();
      await reader.page.getByText(text).waitFor();
      await reader.page.keyboard.press("Escape");
    }
    expect([signatures().length, reader.sent()]).to.deep.equal([0, 0]);
  });

  it("sets an old allowance to zero first if the token, like Tether's, requires this before a new allowance", async () => {
    const { scene } = reader;
    const { plain, allowance } = await payPlain();
    await scene.client.impersonateAccount({ address: scene.buyer.address });
    await scene.write(plain.token, plain.tokenAbi, "approve", [plain.escrow, 1n], scene.buyer.address);
    await fill();
    // Tether's token reverts without data. Nodes report only that the call reverted.
    for (const method of ["eth_call", "eth_estimateGas"])
      reader.wallet.answers.set(method, async (params) => {
        const { data } = params[0] as { data: string };
        const isChange = data.startsWith("0x095ea7b3") && !/^0+$/.test(data.slice(-64));
        if (isChange && (await allowance()) !== 0n) throw new ProviderError(-32_000, "execution reverted");
        return await scene.connection.provider.request({ method, params: params as unknown[] });
      });
    await read();
    await reader.page.getByText("only after the old one was cleared").waitFor();
    await press("Clear the old allowance");
    await reader.page.getByRole("dialog").getByRole("button", { name: "Allow 12.50 USDC" }).waitFor();
    expect([await allowance(), reader.sent()]).to.deep.equal([0n, 1]);
  });

  it("continues after the page is loaded again between the allowance and the deposit", async () => {
    const { scene } = reader;
    const { plain, allowance } = await payPlain();
    await fill();
    await read();
    await press("Allow 12.50 USDC");
    await reader.page.reload();
    await reader.page.getByText("You began to pay 12.50 USDC by allowance.").waitFor();
    await reader.page.getByRole("button", { name: "Continue this deposit" }).click();
    const deposit = reader.page.getByRole("dialog").getByRole("button", { name: "Deposit", exact: true });
    await deposit.click();
    await reader.page.getByText(/1 of 2 blocks/).waitFor();
    expect(await allowance()).to.equal(0n);
    const { params } = reader.wallet.asked.findLast(({ method }) => method === "eth_sendTransaction") ?? {
      params: [],
    };
    const { args } = decodeFunctionData({ abi: hireEscrowAbi, data: (params[0] as { data: Hex }).data });
    const hire = lower(args?.[0] as Hire);
    expect(hire).to.include({ seller: scene.seller.address, amount: 12_500_000n });
    const id = escrowId(hire, { chainId: 31_337, escrow: plain.escrow });
    expect(await scene.state(id, plain.escrow)).to.include({ status: 1, amount: 12_500_000n });
    // The page offers to continue only once, so that nobody pays twice.
    await reader.page.reload();
    await reader.page.getByRole("button", { name: "Read the terms" }).waitFor();
    expect(await reader.page.getByText("A deposit of yours is not finished").count()).to.equal(0);
  });

  it("has a warning while terms from a link are in the form, and forgets these terms when the link is gone", async () => {
    const { scene } = reader;
    await come(scene.buyer);
    const { page } = reader;
    await page.goto(`${scene.url}#/escrow/new?seller=${scene.stranger.address}&amount=900&fee=1`);
    await connect();
    await page.getByText("A link filled in this form").waitFor();
    expect(await page.getByLabel("Seller").inputValue()).to.equal(scene.stranger.address);
    // The page that opened this page can change the part after # without a new load.
    await page.evaluate(() => {
      location.hash = "#/escrow/new";
    });
    await page.getByText("A link filled in this form").waitFor({ state: "detached" });
    expect(await page.getByLabel("Seller").inputValue()).to.equal("");
    expect(await page.getByLabel("Amount, USDC").inputValue()).to.equal("");
  });

  it("asks for no signature if the wallet has changed its account, whether it told the page or not", async () => {
    const { buyer, stranger } = reader.scene;
    await fill();
    await read();
    await ready();
    reader.wallet.answers.set("eth_accounts", () => [stranger.address]);
    await sign();
    await reader.page.getByText("The wallet uses another account now.").waitFor();
    await reader.wallet.emit("accountsChanged", [stranger.address]);
    await reader.page.getByText("These terms name another buyer than this account.").waitFor();
    expect([signatures().length, reader.sent()]).to.deep.equal([0, 0]);
    // The wallet is back at the first account, so the page shows the same terms again.
    reader.wallet.answers.delete("eth_accounts");
    await reader.wallet.emit("accountsChanged", [buyer.address]);
    await ready();
  });

  it("does not use a signature if the wallet changes its account or chain while it signs", async () => {
    const { stranger } = reader.scene;
    const changes: [change: () => Promise<void>, back: () => Promise<void>, text: string][] = [
      [
        async () => {
          reader.wallet.answers.set("eth_accounts", () => [stranger.address]);
          await reader.wallet.emit("accountsChanged", [stranger.address]);
        },
        async () => {
          reader.wallet.answers.delete("eth_accounts");
          await reader.wallet.emit("accountsChanged", [reader.scene.buyer.address]);
        },
        "These terms name another buyer than this account.",
      ],
      [
        async () => {
          reader.wallet.chainId = 1;
          await reader.wallet.emit("chainChanged", "0x1");
        },
        async () => {
          reader.wallet.chainId = 31_337;
          await reader.wallet.emit("chainChanged", "0x7a69");
        },
        "The wallet is on chain 1, and this escrow is on a local chain.",
      ],
      [
        // Some wallets do not tell the page.
        async () => {
          reader.wallet.chainId = 1;
        },
        async () => {
          reader.wallet.chainId = 31_337;
        },
        "The wallet is on chain 1, and this escrow is on a local chain.",
      ],
    ];
    await fill();
    await read();
    for (const [change, back, text] of changes) {
      await ready();
      reader.wallet.answers.set("eth_signTypedData_v4", async ([, typed]) => {
        await change();
        return await reader.wallet.account.signTypedData(JSON.parse(String(typed)));
      });
      await sign();
      await reader.page.getByText(text).first().waitFor();
      await back();
      const again = reader.page.getByRole("button", { name: "Try again" });
      await again.or(reader.page.getByText("The wallet asks you twice")).first().waitFor();
      if ((await again.count()) > 0) await again.click();
    }
    await ready();
    expect([signatures().length, reader.sent()]).to.deep.equal([3, 0]);
    expect(reader.complaints).to.deep.equal([]);
  });

  it("offers payment by allowance if the wallet cannot sign, and deposits at once if the amount is already allowed", async () => {
    const { scene } = reader;
    await fill();
    await read();
    await ready();
    reader.wallet.answers.set("eth_signTypedData_v4", () => {
      throw new ProviderError(4200, "no");
    });
    await sign();
    await reader.page.getByText("The wallet does not support this.").waitFor();
    await scene.client.impersonateAccount({ address: scene.buyer.address });
    await scene.write(
      scene.token,
      scene.tokenAbi,
      "approve",
      [scene.escrow, 12_500_000n],
      scene.buyer.address,
    );
    await reader.page.getByRole("button", { name: "Pay by allowance instead" }).click();
    await reader.page.getByRole("dialog").getByRole("button", { name: "Deposit", exact: true }).click();
    await done();
    expect(reader.sent()).to.equal(1);
  });

  it("offers no second escrow while the wallet has not answered, or has given an unknown answer", async () => {
    await fill();
    const { page, scene } = reader;
    await read();
    await ready();
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // The wallet sends the transaction, and returns no hash.
    reader.wallet.answers.set("eth_sendTransaction", async ([transaction]) => {
      asked.resolve();
      await answer.promise;
      const { to, data, gas } = transaction as { to: Hex; data: Hex; gas: Hex };
      await reader.wallet.send({ to, data, gas: BigInt(gas) });
      return 5;
    });
    await sign();
    await asked.promise;
    const balance = () =>
      scene.client.readContract({
        address: scene.token,
        abi: scene.tokenAbi,
        functionName: "balanceOf",
        args: [scene.buyer.address],
      }) as Promise<bigint>;
    const before = await balance();
    await page.keyboard.press("Escape");
    const notice = page.getByText("The wallet has not answered about your deposit");
    const form = page.getByRole("button", { name: "Read the terms" });
    await notice.waitFor();
    expect(await form.count()).to.equal(0);
    answer.resolve();
    const same = page.getByRole("button", { name: "Continue with the same terms" });
    await same.waitFor();
    await page.reload();
    await same.waitFor();
    expect(await form.count()).to.equal(0);
    await same.click();
    await page.getByText("Exactly these terms were deposited before.").waitFor();
    await page.keyboard.press("Escape");
    expect(await balance()).to.equal(before - 12_500_000n);
    expect([signatures().length, reader.sent()]).to.deep.equal([1, 1]);
    await page.getByRole("button", { name: "Forget it" }).click();
    await form.waitFor();
  });

  it("offers the form again when the same terms were deposited after all", async () => {
    await fill();
    const { page } = reader;
    await read();
    await ready();
    // The wallet sends nothing, and returns no hash.
    reader.wallet.answers.set("eth_sendTransaction", () => 5);
    await sign();
    await page.getByText("It may have sent the transaction.").waitFor();
    await page.keyboard.press("Escape");
    reader.wallet.answers.delete("eth_sendTransaction");
    await page.getByRole("button", { name: "Continue with the same terms" }).click();
    await ready();
    await sign();
    await page.getByText("Your escrow has an address of its own").waitFor();
    await page.getByRole("button", { name: "Read the terms" }).waitFor();
    expect(await page.getByText("The wallet has not answered about your deposit").count()).to.equal(0);
  });

  it("sends nothing when the signature is refused, malformed or from another account", async () => {
    await fill();
    await read();
    await ready();
    const answers: [() => unknown, string][] = [
      [
        () => {
          throw new ProviderError(4001, "no");
        },
        "You refused it in the wallet.",
      ],
      [() => `0x${"12".repeat(65)}`, "The token does not take the signature"],
      [() => "signed", "something that is not a signature"],
    ];
    for (const [answer, text] of answers) {
      reader.wallet.answers.set("eth_signTypedData_v4", answer);
      await sign();
      await reader.page.getByText(text).waitFor();
      await reader.page.getByRole("button", { name: "Try again" }).click();
      await ready();
    }
    expect(reader.sent()).to.equal(0);
  });
});

function lower(hire: Hire): Hire {
  const texts = Object.entries(hire).map(([name, it]) => [
    name,
    typeof it === "string" ? it.toLowerCase() : it,
  ]);
  return Object.fromEntries(texts) as Hire;
}
