import { useState } from "preact/hooks";
import type { Hex } from "tallystick-protocol/hex";
import { AsQuery } from "../design/AsQuery.tsx";
import { plainText, shortHash } from "../design/format.ts";
import { Notice } from "../design/Notice.tsx";
import { Answered, Empty } from "../design/States.tsx";
import { askGraphql } from "../node/askGraphql.ts";
import { useAnswer } from "../node/useAnswer.ts";
import { useTitle } from "../shell/useTitle.ts";
import { CONTRACTS, type ContractsAnswer } from "./escrowQuery.ts";
import { LatestEscrows } from "./LatestEscrows.tsx";
import { WalletSection } from "./WalletSection.tsx";

const loadWallet = () => import("./wallet/DepositWallet.tsx").then((it) => it.DepositWallet);

/** The page for a new escrow: the terms, and the deposit by the reader's own wallet. */
export function NewEscrowPage({ search }: { search: URLSearchParams }) {
  useTitle("New escrow");
  const question = { query: CONTRACTS, variables: {} };
  const asked = useAnswer<ContractsAnswer>("contracts", (signal) =>
    askGraphql<ContractsAnswer>(question, signal),
  );
  return (
    <>
      <div class="lead">
        <h1>Pay by escrow</h1>
        <p>
          The contract holds your money until you release it. If you do nothing, anyone can send it back to
          you once the deadline has passed. No operator can take it.
        </p>
      </div>
      <Answered asked={asked} what="the contracts">
        {({ meta, escrows }) => (
          <>
            <Deposit meta={meta} search={search} />
            <LatestEscrows escrows={escrows} />
          </>
        )}
      </Answered>
      <AsQuery question={question} />
    </>
  );
}

function Deposit({ meta, search }: { meta: ContractsAnswer["meta"]; search: URLSearchParams }) {
  const { escrows } = meta.contracts;
  const [at, setAt] = useState(() =>
    Math.max(
      escrows.findIndex(({ provider }) => provider === search.get("provider")),
      0,
    ),
  );
  const escrow = escrows[at];
  if (escrow === undefined) return <Empty>This node follows no escrow contract.</Empty>;
  const ground = {
    chainId: meta.chainId,
    contract: escrow.address.toLowerCase() as Hex,
    token: meta.token.address.toLowerCase() as Hex,
  };
  const told = { name: meta.token.domainName, version: meta.token.domainVersion };
  return (
    <>
      {escrows.length > 1 && (
        <label class="field narrow">
          Escrow of
          <select value={at} onChange={(event) => setAt(Number(event.currentTarget.value))}>
            {escrows.map(({ provider, address }, n) => (
              <option key={address} value={n}>
                {plainText(provider, 40)} ({shortHash(address)})
              </option>
            ))}
          </select>
        </label>
      )}
      <WalletSection
        title="The terms"
        load={loadWallet}
        // Another link makes another form. Otherwise the terms of the first link would stay, without the warning about
        // links.
        wallet={{ key: `${ground.contract} ${search}`, ground, told, search }}
        before={
          <Notice kind="info" title="You need a wallet in this browser">
            The wallet holds your key. It reads the chain for this page, so you need not trust the node. It
            asks you before it signs anything.
          </Notice>
        }
      />
    </>
  );
}
