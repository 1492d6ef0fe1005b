import { type Market, openMarket, PURSE } from "./market.ts";
import { newWallet, type SdkChain, startSdkChain, type Wallet } from "./sdkChain.ts";

/**
 * Gives a suite one chain, and each of its tests its own market on it. The result always refers to the present market,
 * so use it only inside hooks and tests.
 */
export function useMarket(options: { chainId?: number } = {}): { chain: SdkChain; market: Market } {
  let chain: SdkChain | undefined;
  let market: Market | undefined;
  before(async function () {
    this.timeout(180_000);
    chain = await startSdkChain(options);
  });
  beforeEach(async () => {
    market = await openMarket(chain as SdkChain);
  });
  afterEach(async () => {
    await market?.close();
    market = undefined;
  });
  after(() => chain?.close());
  return { chain: current(() => chain), market: current(() => market) };
}

/** A new wallet with the money that every buyer has at the start. `paid` gives the amount that it has paid since. */
export async function newPurse(chain: SdkChain): Promise<Wallet & { paid: () => Promise<bigint> }> {
  const wallet = newWallet();
  await chain.mint(wallet, PURSE);
  return { ...wallet, paid: async () => PURSE - (await chain.balanceOf(wallet)) };
}

/** An object that forwards to the current result of `get`. */
function current<T extends object>(get: () => T | undefined): T {
  return new Proxy({} as T, {
    get: (_, name) => Reflect.get(get() as T, name),
    set: (_, name, value) => Reflect.set(get() as T, name, value),
  });
}
