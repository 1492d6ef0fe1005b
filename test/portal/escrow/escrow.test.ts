import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import type { Browser, BrowserContext, Page } from "playwright-core";
import type { Hex } from "viem";
import { BUILD_TIMEOUT } from "../../contracts/support/chain.ts";
import { BROWSER_MS, startBrowser } from "../../support/browser.ts";
import { expectAccessible } from "../support/axe.ts";
import { type EscrowScene, openEscrowScene, type Person } from "../support/escrowScene.ts";
import { openTestWallet, ProviderError, type TestWallet } from "../support/testWallet.ts";

/** What a wallet's code may weigh, by gzip: it is loaded when somebody uses one. */
const WALLET_SCRIPT = 45_000;

describe("an escrow in the portal, by the reader's wallet", function () {
  this.timeout(BROWSER_MS + BUILD_TIMEOUT);
  this.slow(10_000);
  let scene: EscrowScene;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let wallet: TestWallet;
  let complaints: string[];

  before(async () => {
    scene = await openEscrowScene();
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await scene?.close();
  });
  beforeEach(() => {
    complaints = [];
  });
  afterEach(async () => {
    scene.node.change = (json) => json;
    await scene.client.setAutomine(true);
    await context?.close();
  });

  /** A page in whose browser a person has a wallet. */
  const come = async (person: Person) => {
    context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    wallet = await openTestWallet(context, scene.connection, person.key);
    page = await context.newPage();
    page.setDefaultTimeout(15_000);
    page.on("pageerror", (it) => complaints.push(it.message));
    page.on("console", (it) => {
      if (it.type() === "error" && !it.text().includes("/v1/stream")) complaints.push(it.text());
    });
  };
  const connect = async () => {
    await page.getByRole("button", { name: "Use your wallet" }).click();
    await page.getByRole("button", { name: "Test Wallet example.test.wallet" }).click();
  };
  /** Opens an escrow as a person with a connected wallet. */
  const open = async (person: Person, id: Hex) => {
    await come(person);
    await page.goto(`${scene.url}#/escrow/${id}`);
    await connect();
    await page.getByText("byte for byte").waitFor();
    await page.locator(".acts").waitFor();
  };
  const begin = (act: string) => page.getByRole("button", { name: act, exact: true }).first().click();
  const send = (act: string) =>
    page.getByRole("dialog").getByRole("button", { name: act, exact: true }).click();
  const worked = () => page.getByRole("dialog").getByText("Tried on the chain just now: it works").waitFor();
  const done = async () => {
    await scene.client.mine({ blocks: 1 });
    await page.getByText(/^Done, in block/).waitFor();
  };
  const words = () => page.getByRole("dialog").innerText();

  it("asks nobody but the node, and loads no wallet's code, before the reader does something", async () => {
    const { id } = await scene.deposit();
    await come(scene.buyer);
    const asked: string[] = [];
    page.on("request", (it) => asked.push(it.url()));
    await page.goto(`${scene.url}#/escrow/${id}`);
    await page.getByText("Computed here").waitFor();
    expect(await page.locator(".acts").innerText()).to.contain("Only the buyer can do this");
    expect(wallet.asked).to.deep.equal([]);
    expect(asked.every((it) => it.startsWith(scene.url))).to.equal(true);
    const before = asked.filter((it) => it.endsWith(".js"));
    await connect();
    await page.getByText("byte for byte").waitFor();
    const wallets = asked.filter((it) => it.endsWith(".js") && !before.includes(it));
    const files = wallets.map((it) => readFileSync(path.join(scene.folder, new URL(it).pathname)));
    expect(files).to.have.length.above(0);
    const size = files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0);
    expect(size).to.be.at.most(WALLET_SCRIPT);
    expect(readdirSync(path.join(scene.folder, "assets")).length).to.be.above(10);
    expect(complaints).to.deep.equal([]);
  });

  for (const colorScheme of ["light", "dark"] as const) {
    it(`is free of what axe finds, in ${colorScheme} colours, and fits a phone`, async () => {
      const { id } = await scene.deposit();
      const fits = async (what: string) => {
        await expectAccessible(page, what);
        await page.setViewportSize({ width: 360, height: 740 });
        const over = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        expect(over, `${what} at 360`).to.equal(0);
        await page.setViewportSize({ width: 1280, height: 900 });
      };
      await come(scene.buyer);
      await page.emulateMedia({ colorScheme });
      await page.goto(`${scene.url}#/escrow/${id}`);
      await page.getByText("Computed here").waitFor();
      await fits("an escrow");
      await connect();
      await page.locator(".acts button").first().waitFor();
      await fits("an escrow with a wallet");
      await begin("Split the money");
      await worked();
      await fits("an act");
      await page.keyboard.press("Escape");
      expect(await page.getByRole("dialog").count()).to.equal(0);
      await page.goto(`${scene.url}#/escrow/new?seller=${scene.seller.address}&amount=2`);
      await page.getByText("A link filled in this form").waitFor();
      await fits("a new escrow");
      await page.getByRole("button", { name: "Read the terms" }).press("Enter");
      await page.getByText("The wallet asks you twice").waitFor();
      await fits("a deposit");
      expect(complaints).to.deep.equal([]);
    });
  }

  it("offers each wallet by its name, as words", async () => {
    const { id } = await scene.deposit();
    await come(scene.buyer);
    await page.goto(`${scene.url}#/escrow/${id}`);
    await page.getByRole("button", { name: "Use your wallet" }).click();
    const names = page.locator(".wallets button");
    await names.nth(1).waitFor();
    expect(await names.allInnerTexts()).to.deep.equal([
      "Test Wallet\nexample.test.wallet",
      "<b>Other</b> wallet\nexample.other",
    ]);
  });

  it("releases: says where the money goes, tries it, sends it, and follows it to the last block asked for", async () => {
    const { hire, id } = await scene.deposit({ fee: 10_000n, feeRecipient: scene.stranger.address });
    const before = await scene.balance(hire.seller);
    await open(scene.buyer, id);
    await begin("Release the money");
    await worked();
    expect(await words())
      .to.contain("4.99 USDC go to")
      .and.contain("0.01 USDC as the fee to");
    await send("Release the money");
    await page.getByText(/1 of 2 blocks/).waitFor();
    await done();
    expect((await scene.state(id)).status).to.equal(2);
    expect((await scene.balance(hire.seller)) - before).to.equal(4_990_000n);
    await page.locator("h1 + .badge").getByText("Released").waitFor();
    expect(await page.locator(".acts").innerText()).to.contain("Not open: the money was released.");
    expect(complaints).to.deep.equal([]);
  });

  it("splits by the amount that the buyer writes", async () => {
    const { id } = await scene.deposit();
    await open(scene.buyer, id);
    await begin("Split the money");
    const field = page.getByLabel("To the seller, of 5.00 USDC");
    await field.fill("5.00");
    await page.getByText("An amount above 0 and below 5.00").waitFor();
    await field.fill("3.5");
    await worked();
    expect(await words())
      .to.contain("3.50 USDC go to")
      .and.contain("1.50 USDC come back to the buyer");
    await send("Split the money");
    await page.getByText(/1 of 2 blocks/).waitFor();
    await done();
    expect((await scene.state(id)).status).to.equal(3);
  });

  it("lets a seller give a hire up, and shows it what is not its to do", async () => {
    const { id } = await scene.deposit();
    await open(scene.seller, id);
    expect(await page.getByRole("button", { name: "Release the money" }).count()).to.equal(0);
    expect(await page.locator(".acts").innerText()).to.contain(
      "You are the seller: you can give the hire up",
    );
    await begin("Refund the money");
    await worked();
    await send("Refund the money");
    await page.getByText(/1 of 2 blocks/).waitFor();
    await done();
    expect((await scene.state(id)).status).to.equal(4);
  });

  it("opens the way back to anyone once the chain's clock has passed the deadline", async () => {
    const { hire, id } = await scene.deposit();
    await open(scene.stranger, id);
    expect(await page.locator(".acts").innerText()).to.contain(
      "Open to anyone once the deadline has passed.",
    );
    await scene.passTo(hire.deadline);
    await begin("Refund after the deadline");
    await worked();
    await send("Refund after the deadline");
    await page.getByText(/1 of 2 blocks/).waitFor();
    await done();
    expect((await scene.state(id)).status).to.equal(5);
  });

  it("says whom the token bars, and withdraws for it what stayed behind", async () => {
    const { hire, id } = await scene.deposit();
    await scene.write(scene.token, scene.tokenAbi, "blacklist", [hire.seller]);
    await open(scene.buyer, id);
    await begin("Release the money");
    await page.getByRole("dialog").getByText("The token bars").waitFor();
    await send("Release the money");
    await page.getByText(/1 of 2 blocks/).waitFor();
    await done();
    await page.getByRole("button", { name: "Withdraw what the token held back" }).waitFor();
    await begin("Withdraw what the token held back");
    await page.getByRole("dialog").getByText("it moves nothing from or to that account").waitFor();
    await scene.write(scene.token, scene.tokenAbi, "unBlacklist", [hire.seller]);
    const before = await scene.balance(hire.seller);
    await page.getByRole("button", { name: "Try again" }).click();
    await worked();
    await send("Withdraw what the token held back");
    await page.getByText(/1 of 2 blocks/).waitFor();
    await scene.client.mine({ blocks: 1 });
    await page
      .getByText(/^Done, in block/)
      .nth(1)
      .waitFor();
    expect((await scene.balance(hire.seller)) - before).to.equal(5_000_000n);
  });

  it("says so when the wallet's owner refuses, and sends nothing", async () => {
    const { id } = await scene.deposit();
    await open(scene.buyer, id);
    wallet.answers.set("eth_sendTransaction", () => {
      throw new ProviderError(4001, "User rejected the request.");
    });
    await begin("Release the money");
    await worked();
    await send("Release the money");
    await page.getByText("You refused it in the wallet.").waitFor();
    expect((await scene.state(id)).status).to.equal(1);
    await page.reload();
    await page.locator(".acts").waitFor();
    expect(await page.getByText("Look into the wallet").count()).to.equal(0);
  });
});
