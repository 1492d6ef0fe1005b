import type { ComponentChildren, ComponentType } from "preact";
import { useState } from "preact/hooks";
import { Icon } from "../design/Icon.tsx";
import { Later } from "../shell/Later.tsx";
import { rememberedWallet } from "./rememberedWallet.ts";

/**
 * The part of the page that needs the reader's wallet. Its code is loaded when the reader asks for it or used
 * a wallet here before. Until then the page shows `before`.
 */
export function WalletSection<Props extends object>(props: {
  title: string;
  load: () => Promise<ComponentType<Props>>;
  wallet: Props;
  before: ComponentChildren;
}) {
  const { title, load, wallet, before } = props;
  const [isUsed, setUsed] = useState(() => rememberedWallet() !== null);
  return (
    <section class="card" aria-labelledby="wallet">
      <h2 id="wallet">{title}</h2>
      {isUsed ? (
        <Later load={load} {...wallet} />
      ) : (
        <>
          <p>
            <button type="button" class="button main" onClick={() => setUsed(true)}>
              <Icon name="shield" /> Use your wallet
            </button>
          </p>
          {before}
        </>
      )}
    </section>
  );
}
