import type { Browser, BrowserContext, Page } from "playwright-core";
import type { Hex } from "viem";
import { BROWSER_MS, sharedBrowser } from "../../support/browser.ts";
import { BUILD_TIMEOUT } from "../../support/freshChain.ts";
import { type EscrowScene, openEscrowScene, type Person } from "./escrowScene.ts";
import { openTestWallet, type TestWallet } from "./testWallet.ts";

type Stage = { scene: EscrowScene; browser: Browser };

let running: Promise<Stage> | undefined;

/** One chain, one node and one browser, which all test files share. */
function stage(): Promise<Stage> {
  running ??= Promise.all([openEscrowScene(), sharedBrowser()]).then(([scene, browser]) => ({
    scene,
    browser,
  }));
  return running;
}

after(async () => {
  const opened = await running?.catch(() => undefined);
  await opened?.scene.close();
});

export type Reader = ReturnType<typeof useReader>;

/**
 * A person who reads an escrow's page in a browser with a wallet. Every test of the suite gets a fresh browser context.
 */
export function useReader() {
  const at = {
    scene: undefined as unknown as EscrowScene,
    context: undefined as unknown as BrowserContext,
    page: undefined as unknown as Page,
    wallet: undefined as unknown as TestWallet,
    /** The errors of the pages. */
    complaints: [] as string[],
  };
  /** Opens an empty page in the browser of a person with a wallet. */
  const come = async (person: Person) => {
    const { browser, scene } = await stage();
    at.context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    at.wallet = await openTestWallet(at.context, scene.connection, person.key);
    at.page = await at.context.newPage();
    at.page.setDefaultTimeout(120_000);
    at.page.on("pageerror", (it) => at.complaints.push(it.message));
    at.page.on("console", (it) => {
      if (it.type() === "error" && !it.text().includes("/v1/stream")) at.complaints.push(it.text());
    });
  };
  const connect = async () => {
    await at.page.getByRole("button", { name: "Use your wallet" }).click();
    await at.page.getByRole("button", { name: "Test Wallet example.test.wallet" }).click();
  };
  const reader = Object.assign(at, {
    come,
    connect,

    /** Opens an escrow's page as a person with a connected wallet. */
    open: async (person: Person, id: Hex) => {
      await come(person);
      await at.page.goto(`${at.scene.url}#/escrow/${id}`);
      await connect();
      await at.page.locator(".acts").waitFor();
    },
    begin: (act: string) => at.page.getByRole("button", { name: act, exact: true }).first().click(),
    send: (act: string) =>
      at.page.getByRole("dialog").getByRole("button", { name: act, exact: true }).click(),
    worked: () =>
      at.page
        .getByRole("dialog")
        .getByText(
          /^Tried on the chain just now: it works\. Gas costs about [\d.]+ ETH\. The wallet shows the most\.$/,
        )
        .waitFor(),
    /** Mines the block with which the page counts the transaction as done. */
    done: async () => {
      await at.page.getByText(/1 of 2 blocks/).waitFor();
      await at.scene.client.mine({ blocks: 1 });
      await at.page
        .getByText(/^Done, in block/)
        .last()
        .waitFor();
    },
    words: () => at.page.getByRole("dialog").innerText(),
    /** How many transactions the page asked the wallet to send. */
    sent: () => at.wallet.asked.filter(({ method }) => method === "eth_sendTransaction").length,
  });
  before(async function () {
    this.timeout(BROWSER_MS + BUILD_TIMEOUT);
    ({ scene: at.scene } = await stage());
  });
  beforeEach(() => {
    at.complaints = [];
  });
  afterEach(async () => {
    at.scene.node.change = (json) => json;
    await at.scene.client.setAutomine(true);
    await at.context?.close();
  });
  return reader;
}
