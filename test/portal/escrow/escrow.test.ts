import { readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import { expectAccessibleInBothColours } from "../support/axe.ts";
import { useReader } from "../support/escrowReader.ts";
import { focusComesTo, focused } from "../support/focus.ts";
import { ProviderError } from "../support/testWallet.ts";

/** The most bytes that the code for wallets may have after gzip. A page loads this code when somebody uses a wallet. */
const WALLET_SCRIPT = 45_000;

describe("an escrow in the portal with the reader's wallet", function () {
  this.slow(10_000);
  const reader = useReader();
  const { come, connect, open, begin, send, worked, done, words } = reader;

  it("makes requests only to the node, and loads no wallet code, before the reader does something", async () => {
    const { id } = await reader.scene.deposit();
    await come(reader.scene.buyer);
    const asked: string[] = [];
    reader.page.on("request", (it) => asked.push(it.url()));
    await reader.page.goto(`${reader.scene.url}#/escrow/${id}`);
    await reader.page.getByText("Computed here").waitFor();
    expect(await reader.page.locator(".acts").innerText()).to.contain("Only the buyer can do this");
    expect(reader.wallet.asked).to.deep.equal([]);
    expect(asked.every((it) => it.startsWith(reader.scene.url))).to.equal(true);
    const before = asked.filter((it) => it.endsWith(".js"));
    await connect();
    await reader.page.getByText("byte for byte").waitFor();
    const wallets = asked.filter((it) => it.endsWith(".js") && !before.includes(it));
    const files = wallets.map((it) => readFileSync(path.join(reader.scene.folder, new URL(it).pathname)));
    expect(files).to.have.length.above(0);
    const size = files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0);
    expect(size).to.be.at.most(WALLET_SCRIPT);
    expect(reader.complaints).to.deep.equal([]);
  });

  it("has no fault that axe finds, in light and in dark colours, and fits a phone", async () => {
    const { id } = await reader.scene.deposit();
    const fits = async (what: string) => {
      await expectAccessibleInBothColours(reader.page, what);
      await reader.page.setViewportSize({ width: 360, height: 740 });
      const over = await reader.page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(over, `${what} at 360`).to.equal(0);
      await reader.page.setViewportSize({ width: 360, height: 480 });
      for (const button of await reader.page.locator("dialog > .row.end button").all()) {
        const box = (await button.boundingBox()) ?? { y: -1, height: 0 };
        expect(box.y, `a button of ${what} at 360 by 480`).to.be.above(0);
        expect(box.y + box.height, `a button of ${what} at 360 by 480`).to.be.at.most(480);
      }
      await reader.page.setViewportSize({ width: 1280, height: 900 });
    };
    await come(reader.scene.buyer);
    await reader.page.goto(`${reader.scene.url}#/escrow/${id}`);
    await reader.page.getByText("Computed here").waitFor();
    await fits("an escrow");
    await connect();
    await reader.page.locator(".acts button").first().waitFor();
    await fits("an escrow with a wallet");
    await begin("Split the money");
    await worked();
    await fits("an act");
    await reader.page.keyboard.press("Escape");
    await reader.page.getByRole("dialog").waitFor({ state: "detached" });
    await reader.page.goto(`${reader.scene.url}#/escrow/new?seller=${reader.scene.seller.address}&amount=2`);
    await reader.page.getByText("A link filled in this form").waitFor();
    await fits("a new escrow");
    await reader.page.getByRole("button", { name: "Read the terms" }).press("Enter");
    await reader.page.getByText("The wallet asks you twice").waitFor();
    await fits("a deposit");
    expect(reader.complaints).to.deep.equal([]);
  });

  it("shows the name of each wallet as plain text", async () => {
    const { id } = await reader.scene.deposit();
    await come(reader.scene.buyer);
    await reader.page.goto(`${reader.scene.url}#/escrow/${id}`);
    await reader.page.getByRole("button", { name: "Use your wallet" }).press("Enter");
    // The button is gone. Its card has the focus.
    await focusComesTo(reader.page, "H2 What you can do");
    const names = reader.page.locator(".wallets button");
    await names.nth(1).waitFor();
    expect(await names.allInnerTexts()).to.deep.equal([
      "Test Wallet\nexample.test.wallet",
      "<b>Other</b> wallet\nexample.other",
    ]);
  });

  it("releases by keyboard: shows where the money goes, simulates and sends the transaction, and follows it until the page counts it as done", async () => {
    const { hire, id } = await reader.scene.deposit({
      fee: 10_000n,
      feeRecipient: reader.scene.stranger.address,
    });
    const before = await reader.scene.balance(hire.seller);
    await open(reader.scene.buyer, id);
    const { page } = reader;
    const button = page.locator(".acts").getByRole("button", { name: "Release the money" });
    await button.press("Enter");
    await focusComesTo(page, "H2 Release the money");
    await page.keyboard.press("Escape");
    await focusComesTo(page, "BUTTON Release the money");
    expect(await page.getByRole("dialog").count()).to.equal(0);
    await page.keyboard.press(" ");
    await worked();
    expect(await words())
      .to.contain("4.99 USDC go to")
      .and.contain("0.01 USDC as the fee to");
    // The focus comes first to the words, then to every control of the dialogue, and to nothing of the page behind it.
    expect(await focused(page)).to.equal("H2 Release the money");
    await page.keyboard.press("Tab");
    for (let n = 0; n < 30 && (await focused(page)) !== "BUTTON Release the money"; n++) {
      const isInside = await page.evaluate(() => document.activeElement?.closest("dialog") !== null);
      expect(isInside, await focused(page)).to.equal(true);
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await done();
    // The money is released. Its button is gone.
    await focusComesTo(page, "H2 What you can do");
    expect((await reader.scene.state(id)).status).to.equal(2);
    expect((await reader.scene.balance(hire.seller)) - before).to.equal(4_990_000n);
    await reader.page.locator("h1 + .badge").getByText("Released").waitFor();
    expect(await reader.page.locator(".acts").innerText()).to.contain("Not open: the money was released.");
    expect(reader.complaints).to.deep.equal([]);
  });

  it("splits the money by the amount that the buyer enters", async () => {
    const { id } = await reader.scene.deposit();
    await open(reader.scene.buyer, id);
    await begin("Split the money");
    const field = reader.page.getByLabel("To the seller, of 5.00 USDC");
    await field.fill("5.00");
    await reader.page.getByText("An amount above 0 and below 5.00").waitFor();
    await field.fill("3.5");
    await worked();
    expect(await words())
      .to.contain("3.50 USDC go to")
      .and.contain("1.50 USDC come back to the buyer");
    await send("Split the money");
    await done();
    expect((await reader.scene.state(id)).status).to.equal(3);
  });

  it("lets only the seller mark its delivery, only once, with the hash of the result", async () => {
    const { scene } = reader;
    const { id } = await scene.deposit();
    await open(scene.buyer, id);
    expect(await reader.page.getByRole("button", { name: "Mark the delivery" }).count()).to.equal(0);
    expect(await reader.page.locator(".acts").innerText()).to.contain("Only the seller can do this");
    await reader.context.close();
    await open(scene.seller, id);
    await begin("Mark the delivery");
    const field = reader.page.getByLabel("Hash of the result, if you want it on the chain");
    await field.fill("0x12");
    await reader.page.getByText("32 bytes: 0x and 64 digits").waitFor();
    await field.fill(`0x${"AB".repeat(32)}`);
    await worked();
    expect(await words())
      .to.contain("It can be said once")
      .and.contain("5.00 USDC stay where they are");
    await send("Mark the delivery");
    await done();
    expect(await scene.state(id)).to.include({ status: 1, delivered: true, amount: 5_000_000n });
    const [marked] = await scene.client.getContractEvents({
      address: scene.escrow,
      abi: hireEscrowAbi,
      eventName: "Delivered",
      args: { escrowId: id },
      fromBlock: 0n,
    });
    expect(marked?.args.resultHash).to.equal(`0x${"ab".repeat(32)}`);
    await reader.page.getByText("Done: the seller marked it.").waitFor();
    await reader.page.getByText("delivery marked", { exact: true }).waitFor();
    expect(reader.complaints).to.deep.equal([]);
  });

  it("lets a seller refund a hire, and shows which actions only others can take", async () => {
    const { id } = await reader.scene.deposit();
    await open(reader.scene.seller, id);
    expect(await reader.page.getByRole("button", { name: "Release the money" }).count()).to.equal(0);
    expect(await reader.page.locator(".acts").innerText()).to.contain(
      "You are the seller: you can give the hire up",
    );
    await begin("Refund the money");
    await worked();
    await send("Refund the money");
    await done();
    expect((await reader.scene.state(id)).status).to.equal(4);
  });

  it("offers the timeout refund to anyone once the chain's clock has passed the deadline", async () => {
    const { hire, id } = await reader.scene.deposit();
    await open(reader.scene.stranger, id);
    expect(await reader.page.locator(".acts").innerText()).to.contain(
      "Open to anyone once the deadline has passed.",
    );
    await reader.scene.passTo(hire.deadline);
    await begin("Refund after the deadline");
    await worked();
    await send("Refund after the deadline");
    await done();
    expect((await reader.scene.state(id)).status).to.equal(5);
  });

  it("names the party that the token bars, and later withdraws the credit of this party", async () => {
    const { hire, id } = await reader.scene.deposit();
    await reader.scene.write(reader.scene.token, reader.scene.tokenAbi, "blacklist", [hire.seller]);
    await open(reader.scene.buyer, id);
    await begin("Release the money");
    await reader.page.getByRole("dialog").getByText("The token bars").waitFor();
    await send("Release the money");
    await done();
    await reader.page.getByRole("button", { name: "Withdraw what the token held back" }).waitFor();
    await begin("Withdraw what the token held back");
    await reader.page.getByRole("dialog").getByText("it moves nothing from or to that account").waitFor();
    await reader.scene.write(reader.scene.token, reader.scene.tokenAbi, "unBlacklist", [hire.seller]);
    const before = await reader.scene.balance(hire.seller);
    await reader.page.getByRole("button", { name: "Try again" }).click();
    await worked();
    await send("Withdraw what the token held back");
    await done();
    await reader.page
      .getByText(/^Done, in block/)
      .nth(1)
      .waitFor();
    expect((await reader.scene.balance(hire.seller)) - before).to.equal(5_000_000n);
  });

  it("reports that the wallet's owner refused, and sends nothing", async () => {
    const { id } = await reader.scene.deposit();
    await open(reader.scene.buyer, id);
    reader.wallet.answers.set("eth_sendTransaction", () => {
      throw new ProviderError(4001, "User rejected the request.");
    });
    await begin("Release the money");
    await worked();
    await send("Release the money");
    await reader.page.getByText("You refused it in the wallet.").waitFor();
    expect((await reader.scene.state(id)).status).to.equal(1);
    await reader.page.reload();
    await reader.page.locator(".acts").waitFor();
    expect(await reader.page.getByText("Look into the wallet").count()).to.equal(0);
  });
});
