import type { BrowserContext } from "playwright-core";
import { createWalletClient, custom, type Hex } from "viem";
import { type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { hardhat } from "viem/chains";
import type { Chain } from "../../support/freshChain.ts";

/** Gives the answer to a method in place of the wallet's own, or throws the wallet's error. */
export type Answer = (params: readonly unknown[]) => unknown;

export type TestWallet = Awaited<ReturnType<typeof openTestWallet>>;

/** An error that a wallet gives (EIP-1193). */
export class ProviderError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/**
 * A wallet in every page of a context: it shows itself by EIP-6963 (as two, so that there is a choice), holds a key,
 * and sends to a real chain. A test can change its answer to each method.
 */
export async function openTestWallet(context: BrowserContext, chain: Chain, key: Hex) {
  const wallet = {
    account: privateKeyToAccount(key) as PrivateKeyAccount,
    chainId: hardhat.id as number,
    /** Every method that a page called, in order, with its parameters. */
    asked: [] as { method: string; params: readonly unknown[] }[],
    answers: new Map<string, Answer>(),
    send: (transaction: object): Promise<Hex> =>
      clientOf(wallet.account).sendTransaction({ ...transaction, chain: hardhat } as never),
    /** Sends an event of the wallet to its pages. */
    emit: async (event: string, value: unknown) => {
      for (const page of context.pages())
        await page.evaluate(([name, it]) => (globalThis as never as Emitter).emitWallet(name, it), [
          event,
          value,
        ] as const);
    },
  };
  const clientOf = (account: PrivateKeyAccount) =>
    createWalletClient({ account, chain: hardhat, transport: custom(chain.provider as never) });
  const own: { [method: string]: Answer } = {
    eth_accounts: () => [wallet.account.address],
    eth_requestAccounts: () => [wallet.account.address],
    eth_chainId: () => `0x${wallet.chainId.toString(16)}`,
    eth_signTypedData_v4: ([, text]) => wallet.account.signTypedData(JSON.parse(String(text))),
    eth_sendTransaction: ([transaction]) => {
      const { to, data, gas } = transaction as { to: Hex; data: Hex; gas: Hex };
      return wallet.send({ to, data, gas: BigInt(gas) });
    },
  };
  await context.exposeFunction("askTestWallet", async (method: string, params: readonly unknown[]) => {
    wallet.asked.push({ method, params });
    try {
      const answer = wallet.answers.get(method) ?? own[method];
      const request = { method, params: params as unknown[] };
      return { result: await (answer === undefined ? chain.provider.request(request) : answer(params)) };
    } catch (error) {
      const { code, message, data } = error as ProviderError;
      return { error: { code, message, data } };
    }
  });
  // Code that tsx has compiled calls this to name its functions.
  await context.addInitScript("globalThis.__name = (it) => it;");
  await context.addInitScript(announceWallets);
  return wallet;
}

type Emitter = { emitWallet: (event: string, value: unknown) => void };

/** Runs in the page, before the page's own code. */
function announceWallets(): void {
  const listeners = new Map<string, Set<(value: unknown) => void>>();
  const page = globalThis as never as Emitter & {
    askTestWallet: (
      method: string,
      params: unknown,
    ) => Promise<{ result?: unknown; error?: { code: number; message: string; data: unknown } }>;
  };
  page.emitWallet = (event, value) => {
    for (const listener of listeners.get(event) ?? []) listener(value);
  };
  const provider = {
    request: async ({ method, params = [] }: { method: string; params?: unknown }) => {
      const { result, error } = await page.askTestWallet(method, params);
      if (error !== undefined)
        throw Object.assign(new Error(error.message), { code: error.code, data: error.data });
      return result;
    },
    on: (event: string, listener: (value: unknown) => void) => {
      listeners.set(event, (listeners.get(event) ?? new Set()).add(listener));
    },
    removeListener: (event: string, listener: (value: unknown) => void) => {
      listeners.get(event)?.delete(listener);
    },
  };
  const names = [
    ["11111111-0000-4000-8000-000000000001", "Test Wallet", "example.test.wallet"],
    ["11111111-0000-4000-8000-000000000002", "<b>Other</b>\u202e wallet", "example.other"],
  ];
  const announce = () => {
    for (const [uuid, name, rdns] of names) {
      const detail = Object.freeze({ info: { uuid, name, rdns, icon: "data:," }, provider });
      dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
    }
  };
  addEventListener("eip6963:requestProvider", announce);
}
