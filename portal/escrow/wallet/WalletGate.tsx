import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ActionButton } from "../../design/ActionButton.tsx";
import { Address } from "../../design/Address.tsx";
import { Icon } from "../../design/Icon.tsx";
import { Notice } from "../../design/Notice.tsx";
import { askWallet, DECIDING_MS } from "./askWallet.ts";
import { toQuantity } from "./createChain.ts";
import type { EscrowCode } from "./escrowCode.ts";
import { pretenders } from "./followWallets.ts";
import { chainName, isCirclesUsdc, knownChain } from "./knownChains.ts";
import type { Provider } from "./provider.ts";
import { type Ground, readGround } from "./readGround.ts";
import type { Connected, WalletState } from "./useWallet.ts";
import { WalletFault } from "./WalletFault.tsx";
import { asWalletError, WalletError } from "./walletError.ts";

/**
 * Shows `children` only if a wallet is connected to the right chain, and the contract there is a released one
 * with the node's token.
 */
export function WalletGate(props: {
  wallet: WalletState;
  ground: Ground;
  children: (connected: Connected, code: EscrowCode) => ComponentChildren;
}) {
  const { wallet, ground, children } = props;
  const { connected } = wallet;
  if (connected === null) return <WalletChoice wallet={wallet} />;
  return (
    <div class="stack gap">
      <div class="row between">
        <span class="row">
          <span class="soft">{connected.wallet.name}</span> <Address address={connected.account} />
        </span>
        <button type="button" class="button plain small" onClick={wallet.leave}>
          Use another
        </button>
      </div>
      <GroundGate key={connected.account} connected={connected} ground={ground} changes={wallet.changes}>
        {(code) => children(connected, code)}
      </GroundGate>
    </div>
  );
}

function WalletChoice({ wallet: { wallets, asking, error, connect } }: { wallet: WalletState }) {
  return (
    <div class="stack gap">
      {error !== null && <WalletFault error={error} />}
      {wallets.length === 0 ? (
        <Notice kind="info" title="This browser has no wallet that shows itself">
          Install one as an extension, or open this page in a wallet's own browser. Programs use the{" "}
          <a href="./docs/sdk">SDK</a>.
        </Notice>
      ) : (
        <>
          <p class="soft">
            The wallet tells this page your address, and asks its own node about the chain. This page cannot
            send anything before the wallet has asked you.
          </p>
          <ul class="plain wallets">
            {wallets.map((wallet) => (
              <li key={wallet.id}>
                <ActionButton isOff={asking !== null} onPress={() => connect(wallet)}>
                  <span>{wallet.name}</span>
                  {wallet.rdns !== "" && <small class="soft">{wallet.rdns}</small>}
                </ActionButton>
              </li>
            ))}
          </ul>
          {pretenders(wallets).length > 0 && (
            <Notice kind="warn" title="Two wallets say that they are of the same maker">
              One of them may pretend to be the other. Look at which extensions your browser has, and turn off
              the one that you do not know.
            </Notice>
          )}
          {asking !== null && (
            <p role="status" class="soft">
              Waiting for {asking.name}. Look for its window.
            </p>
          )}
        </>
      )}
    </div>
  );
}

type GroundState =
  | { state: "reading" }
  | { state: "bad"; error: WalletError }
  | { state: "good"; code: EscrowCode };

function GroundGate(props: {
  connected: Connected;
  ground: Ground;
  changes: number;
  children: (code: EscrowCode) => ComponentChildren;
}) {
  const { connected, ground, changes, children } = props;
  const { chainId, contract, token } = ground;
  const [now, set] = useState<GroundState>({ state: "reading" });
  const [round, setRound] = useState(0);
  // The contract is read again after each change in the wallet and each press of the button.
  useEffect(() => {
    let isOver = false;
    set({ state: "reading" });
    readGround(connected.chain, { chainId, contract, token }).then(
      (code) => !isOver && set({ state: "good", code }),
      (cause: unknown) => !isOver && set({ state: "bad", error: asWalletError(cause) }),
    );
    return () => {
      isOver = true;
    };
  }, [connected.chain, chainId, contract, token, changes, round]);

  if (now.state === "reading")
    return (
      <p role="status" class="soft">
        Reading the contract through your wallet…
      </p>
    );
  if (now.state === "good")
    return (
      <>
        <GroundWords code={now.code} ground={ground} />
        {children(now.code)}
      </>
    );
  return (
    <WalletFault error={now.error}>
      <div class="row">
        {now.error.code === "wrong_chain" && (
          <SwitchButton
            provider={connected.wallet.provider}
            chainId={chainId}
            onDone={() => setRound((it) => it + 1)}
          />
        )}
        <button type="button" class="button" onClick={() => setRound((it) => it + 1)}>
          <Icon name="again" /> Look again
        </button>
      </div>
    </WalletFault>
  );
}

/** Tells which checks of the contract and the token were made before anything is signed. */
function GroundWords({ code, ground }: { code: EscrowCode; ground: Ground }) {
  const { chainId, token } = ground;
  const known = isCirclesUsdc(chainId, token);
  return (
    <ul class="checks">
      <li class="yes">
        <Icon name="done" />
        <span>
          The contract is {code.release}, byte for byte, on {chainName(chainId)}
          {code.isAtItsAddress ? ", and only its own constructor made it" : ""}.
        </span>
      </li>
      {!code.isAtItsAddress && (
        <li class="open">
          <Icon name="info" />
          <span>
            It is not at the address of a release. So this page cannot see whether somebody wrote credits of
            their own into the contract before. Put money in only if you trust whoever deployed it.
          </span>
        </li>
      )}
      <li class={known ? "yes" : "open"}>
        <Icon name={known ? "done" : "info"} />
        <span>
          {known
            ? "Its token is Circle's USDC."
            : "Its token is the one that the node names. This page does not know it as USDC, and it may be worth nothing."}
        </span>
      </li>
    </ul>
  );
}

function SwitchButton(props: { provider: Provider; chainId: number; onDone: () => void }) {
  const { provider, chainId, onDone } = props;
  const [error, setError] = useState<WalletError | null>(null);
  const [isAsking, setAsking] = useState(false);
  const switchChain = async () => {
    setAsking(true);
    setError(null);
    try {
      await askForChain(provider, chainId);
      onDone();
    } catch (cause) {
      setError(asWalletError(cause));
    } finally {
      setAsking(false);
    }
  };
  return (
    <>
      <ActionButton kind="main" onPress={switchChain} isOff={isAsking}>
        Switch to {chainName(chainId)}
      </ActionButton>
      {error !== null && <WalletFault error={error} />}
    </>
  );
}

/**
 * Asks the wallet to change to a chain (EIP-3326). A wallet that does not know the chain is asked to add it
 * (EIP-3085).
 */
async function askForChain(provider: Provider, chainId: number): Promise<void> {
  const chain = { chainId: toQuantity(BigInt(chainId)) };
  const ask = (method: string, value: object) =>
    askWallet(provider, { method, params: [value], withinMs: DECIDING_MS });
  try {
    await ask("wallet_switchEthereumChain", chain);
  } catch (error) {
    const known = knownChain(chainId);
    if (!isUnknownChain(error) || known === undefined) throw error;
    await ask("wallet_addEthereumChain", {
      ...chain,
      chainName: known.name,
      rpcUrls: [known.rpcUrl],
      nativeCurrency: { name: known.coin, symbol: known.coin, decimals: 18 },
    });
    await ask("wallet_switchEthereumChain", chain);
  }
}

/** Some wallets put this code inside another error. */
function isUnknownChain(error: unknown): boolean {
  if (!(error instanceof WalletError)) return false;
  const { data } = Object(error.cause) as { data?: { originalError?: { code?: unknown } } };
  return error.code === "unknown_chain" || data?.originalError?.code === 4902;
}
