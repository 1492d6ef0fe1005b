import { expect } from "chai";
import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import type { Abi, Hex } from "viem";
import { useReader } from "../support/escrowReader.ts";
import { ProviderError } from "../support/testWallet.ts";

describe("an escrow's page, when something goes wrong", function () {
  this.slow(10_000);
  const reader = useReader();
  const { come, connect, open, begin, send, worked, done } = reader;

  /** Sends a transaction from the page as the buyer. The transaction waits for a block. */
  const waiting = async () => {
    const { id } = await reader.scene.deposit();
    await open(reader.scene.buyer, id);
    await reader.scene.client.setAutomine(false);
    await begin("Release the money");
    await worked();
    await send("Release the money");
    await reader.page.getByText("Sent. It waits for a block.").waitFor();
    const { scene } = reader;
    const nonce = await scene.client.getTransactionCount({ address: scene.buyer.address });
    const { params } = reader.wallet.asked.findLast(({ method }) => method === "eth_sendTransaction") ?? {
      params: [],
    };
    const { to, data } = params[0] as { to: Hex; data: Hex };
    return { id, nonce, to, data };
  };
  const dear = { maxFeePerGas: 90_000_000_000n, maxPriorityFeePerGas: 50_000_000_000n, gas: 300_000n };

  describe("with the wallet", () => {
    it("asks the wallet to switch to the node's chain, and describes the chain if the wallet does not know it", async () => {
      const { id } = await reader.scene.deposit();
      await come(reader.scene.buyer);
      reader.wallet.chainId = 1;
      let isKnown = false;
      reader.wallet.answers.set("wallet_switchEthereumChain", () => {
        if (!isKnown) throw new ProviderError(4902, "Unrecognized chain");
        reader.wallet.chainId = 31_337;
        return null;
      });
      reader.wallet.answers.set("wallet_addEthereumChain", ([chain]) => {
        expect(chain).to.include({ chainId: "0x7a69" });
        isKnown = true;
        return null;
      });
      await reader.page.goto(`${reader.scene.url}#/escrow/${id}`);
      await connect();
      await reader.page.getByText("The wallet is on chain 1, and this escrow is on a local chain.").waitFor();
      expect(await reader.page.locator(".acts").count()).to.equal(0);
      await reader.page.getByRole("button", { name: "Switch to a local chain" }).click();
      await reader.page.getByRole("button", { name: "Release the money" }).waitFor();
    });

    it("stops waiting for a silent wallet after 20 seconds, and reports this", async () => {
      const { id } = await reader.scene.deposit();
      await come(reader.scene.buyer);
      reader.wallet.answers.set("eth_getCode", () => new Promise(() => {}));
      await reader.page.clock.install();
      await reader.page.goto(`${reader.scene.url}#/escrow/${id}`);
      await connect();
      await reader.page.getByText("Reading the contract through your wallet").waitFor();
      await reader.page.clock.fastForward(21_000);
      await reader.page.getByText("The wallet does not answer within 20 seconds.").waitFor();
    });

    for (const [method, answer] of [
      ["eth_requestAccounts", "all of them"],
      ["eth_chainId", { chain: 31_337 }],
      ["eth_getCode", "<script>"],
      ["eth_call", "0x01"],
      ["eth_getBlockByNumber", []],
    ] as const) {
      it(`reports a malformed answer to ${method}, and offers no action`, async () => {
        const { id } = await reader.scene.deposit();
        await come(reader.scene.buyer);
        reader.wallet.answers.set(method, () => answer);
        await reader.page.goto(`${reader.scene.url}#/escrow/${id}`);
        await connect();
        await reader.page.getByText(/with something that is not an? (answer|list)/).waitFor();
        expect(await reader.page.locator(".acts button").count()).to.equal(0);
        expect(reader.complaints).to.deep.equal([]);
      });
    }

    it("refuses a malformed transaction hash, and reports that the wallet may have sent the transaction", async () => {
      const { id } = await reader.scene.deposit();
      await open(reader.scene.buyer, id);
      reader.wallet.answers.set("eth_sendTransaction", () => 5);
      await begin("Release the money");
      await worked();
      await send("Release the money");
      await reader.page.getByText("It may have sent the transaction.").waitFor();
      await reader.page.reload();
      await reader.page.getByText("this page has no answer").waitFor();
    });

    it("sends nothing if the wallet has changed its account, whether it told the page or not", async () => {
      const { id } = await reader.scene.deposit();
      await open(reader.scene.buyer, id);
      await begin("Release the money");
      await worked();
      const { seller } = reader.scene;
      reader.wallet.answers.set("eth_accounts", () => [seller.address]);
      await send("Release the money");
      await reader.page.getByText("The wallet uses another account now.").waitFor();
      expect(reader.sent()).to.equal(0);
      await reader.wallet.emit("accountsChanged", [seller.address]);
      await reader.page.getByText("You are the seller: you can give the hire up").waitFor();
      expect(await reader.page.getByRole("dialog").count()).to.equal(0);
    });

    it("shows the cost of gas if the account cannot pay it", async () => {
      const { id } = await reader.scene.deposit();
      await reader.scene.client.setBalance({ address: reader.scene.arbiter.address, value: 1_000_000n });
      await open(reader.scene.arbiter, id);
      await begin("Refund the money");
      await reader.page
        .getByText(/The account has 0\.000001 ETH, and the transaction may cost 0\.\d+ ETH/)
        .waitFor();
      expect(reader.sent()).to.equal(0);
    });
  });

  describe("with the transaction", () => {
    it("follows a transaction that was sent again with another fee", async () => {
      const { id, nonce, to, data } = await waiting();
      await reader.wallet.send({ to, data, nonce, ...dear });
      await reader.scene.client.mine({ blocks: 1 });
      await done();
      expect((await reader.scene.state(id)).status).to.equal(2);
    });

    it("offers no action while a transaction is pending, also after a reload or in another tab, and offers all again when it is cancelled", async () => {
      const { id, nonce } = await waiting();
      const { page, context, scene } = reader;
      const isClosed = async (where: typeof page) => {
        await where
          .getByText(/Not open: your transaction “Release the money” is pending/)
          .first()
          .waitFor();
        expect(await where.locator(".acts button").count()).to.equal(0);
      };
      await isClosed(page);
      await page.reload();
      await isClosed(page);
      const tab = await context.newPage();
      await tab.goto(`${scene.url}#/escrow/${id}`);
      await isClosed(tab);
      await tab.close();
      await reader.wallet.send({ to: scene.buyer.address, nonce, ...dear });
      await scene.client.mine({ blocks: 1 });
      await page.getByText("You cancelled it:").waitFor();
      expect((await scene.state(id)).status).to.equal(1);
      await page.getByRole("button", { name: "Split the money" }).waitFor();
    });

    it("offers no action while the wallet has not answered, or has given an unknown answer", async () => {
      const { id } = await reader.scene.deposit();
      await open(reader.scene.buyer, id);
      const { page } = reader;
      const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<unknown>()];
      reader.wallet.answers.set("eth_sendTransaction", () => {
        asked.resolve();
        return answer.promise;
      });
      await begin("Release the money");
      await worked();
      await send("Release the money");
      await asked.promise;
      await page.keyboard.press("Escape");
      const closed = page.getByText(/Not open: your transaction “Release the money” is pending/).first();
      await closed.waitFor();
      expect(await page.locator(".acts button").count()).to.equal(0);
      answer.resolve(5);
      await page.getByText("this page has no answer").waitFor();
      expect(await closed.isVisible()).to.equal(true);
      expect(await page.locator(".acts button").count()).to.equal(0);
      await page.getByRole("button", { name: "Forget it" }).click();
      await page.getByRole("button", { name: "Release the money" }).waitFor();
    });

    it("reports that another transaction has used the nonce of the sent one", async () => {
      const { nonce } = await waiting();
      await reader.wallet.send({ to: reader.scene.stranger.address, value: 1n, nonce, ...dear });
      await reader.scene.client.mine({ blocks: 1 });
      await reader.page.getByText("another transaction of your account, which does something else").waitFor();
    });

    it("still follows a transaction after the page is loaded again", async () => {
      await waiting();
      await reader.page.reload();
      await reader.page.getByText("Sent. It waits for a block.").waitFor();
      await reader.scene.client.mine({ blocks: 1 });
      await done();
      await reader.page.reload();
      await reader.page.locator(".acts").waitFor();
      expect(await reader.page.getByText("Done, in block").count()).to.equal(0);
    });

    it("reports that the contract refused a transaction because another party acted first", async () => {
      const { scene } = reader;
      const { id, hire } = await (async () => {
        const deposited = await scene.deposit();
        await open(scene.buyer, deposited.id);
        return deposited;
      })();
      await scene.client.setAutomine(false);
      await begin("Release the money");
      await worked();
      await send("Release the money");
      await reader.page.getByText("Sent. It waits for a block.").waitFor();
      await scene.client.impersonateAccount({ address: hire.seller });
      await scene.client.writeContract({
        address: scene.escrow,
        abi: hireEscrowAbi as Abi,
        functionName: "refund",
        args: [hire, hire.seller, "0x"],
        account: hire.seller,
        chain: scene.client.chain,
        gas: 300_000n,
        maxFeePerGas: 900_000_000_000n,
        maxPriorityFeePerGas: 500_000_000_000n,
      });
      await scene.client.mine({ blocks: 2 });
      await reader.page.getByText("The contract refused it in block").waitFor();
      expect((await scene.state(id)).status).to.equal(4);
    });

    it("asks the wallet for nothing if another party acted while the dialogue was open", async () => {
      const { hire, id } = await reader.scene.deposit();
      await open(reader.scene.buyer, id);
      await begin("Split the money");
      await worked();
      await reader.scene.passTo(hire.deadline);
      await reader.scene.write(reader.scene.escrow, hireEscrowAbi as Abi, "timeoutRefund", [hire]);
      await send("Split the money");
      await reader.page.getByRole("dialog").getByText("Not open: the deadline passed").waitFor();
      expect(reader.sent()).to.equal(0);
    });
  });

  describe("with the node", () => {
    /** Opens the page of an escrow as its buyer. `change` changes the node's answers. */
    const lie = async (change: (json: string) => string) => {
      const { id } = await reader.scene.deposit();
      reader.scene.node.change = change;
      await come(reader.scene.buyer);
      await reader.page.goto(`${reader.scene.url}#/escrow/${id}`);
    };
    const other = `0x${"66".repeat(20)}`;

    for (const [what, pattern, put] of [
      ["another seller", /"sellerAddress":"[^"]*"/, `"sellerAddress":"${other}"`],
      ["another amount", /"amountUsdc":"[^"]*"/, '"amountUsdc":"0.05"'],
      ["another contract", /"contract":"[^"]*"/, `"contract":"${other}"`],
      ["another deadline", /"deadline":\d+/, '"deadline":1'],
      ["an arbiter of its own", /"arbiter":"[^"]*"/, `"arbiter":"${other}"`],
      ["garbage", /"hireId":"[^"]*"/, '"hireId":"<b>"'],
      ["another chain", /"chainId":\d+/, '"chainId":8453'],
    ] as const) {
      it(`offers no action if the node gives ${what}`, async () => {
        await lie((json) => json.replace(pattern, put));
        await reader.page.getByText("The node's terms are not those of this escrow").waitFor();
        expect(await reader.page.getByRole("button", { name: "Use your wallet" }).count()).to.equal(0);
        expect(reader.wallet.asked).to.deep.equal([]);
      });
    }

    it("shows the payee to which the escrow's id belongs if the node gives another payee", async () => {
      await lie((json) => json.replace(/"payee":"[^"]*"/, `"payee":"${other}"`));
      await reader.page.getByText("Computed here").waitFor();
      expect(await reader.page.locator("main").innerHTML()).not.to.contain("0x6666");
    });

    it("shows the state on the chain if the node gives another state", async () => {
      await lie((json) => json.replace('"status":"HELD"', '"status":"RELEASED"'));
      await reader.page.getByText("What happened to the money").waitFor();
      await connect();
      await reader.page.getByText("On the chain, the money is held.").waitFor();
      await reader.page.getByRole("button", { name: "Release the money" }).waitFor();
    });

    it("signs nothing if the node names another token", async () => {
      await lie((json) => json.replace(/"token":\{"address":"[^"]*"/, `"token":{"address":"${other}"`));
      await connect();
      await reader.page.getByText(/The contract holds the token 0x\w+, and the node names 0x66/).waitFor();
      expect(await reader.page.locator(".acts").count()).to.equal(0);
    });

    for (const [what, contract, text] of [
      ["no contract", () => other, "There is no contract at"],
      ["a contract of another kind", () => reader.scene.token, "is not a released HireEscrow"],
    ] as const) {
      it(`lets nobody pay into ${what}`, async () => {
        await come(reader.scene.buyer);
        reader.scene.node.change = (json) => json.replaceAll(reader.scene.escrow, contract());
        await reader.page.goto(`${reader.scene.url}#/escrow/new`);
        await connect();
        await reader.page.getByText(text).waitFor();
        expect(await reader.page.getByRole("button", { name: "Read the terms" }).count()).to.equal(0);
      });
    }

    it("warns about a copy of the code at another address: the storage of the copy may have any content", async () => {
      const { scene } = reader;
      const args = [scene.token, scene.admin, "copy"] as const;
      const copy = await scene.connection.ethers.deployContract("HireEscrow", [...args]);
      const address = (await copy.getAddress()).toLowerCase();
      await come(scene.buyer);
      scene.node.change = (json) => json.replaceAll(scene.escrow, address);
      await reader.page.goto(`${scene.url}#/escrow/new`);
      await connect();
      await reader.page
        .getByText("cannot see whether somebody wrote credits of their own into the contract")
        .waitFor();
    });
  });
});
