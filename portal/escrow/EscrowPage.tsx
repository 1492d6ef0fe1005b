import { useCallback, useState } from "preact/hooks";
import type { Hex } from "tallystick-protocol/hex";
import { AsQuery } from "../design/AsQuery.tsx";
import { plainText, shortHash } from "../design/format.ts";
import { Notice } from "../design/Notice.tsx";
import { Answered } from "../design/States.tsx";
import { Usdc } from "../design/Usdc.tsx";
import { askGraphql } from "../node/askGraphql.ts";
import { useAnswer } from "../node/useAnswer.ts";
import { linkTo } from "../router/route.ts";
import { useTitle } from "../shell/useTitle.ts";
import { ActRows } from "./ActRows.tsx";
import { actsOf, ENDS, type EscrowState } from "./acts.ts";
import { DeadlineClock } from "./DeadlineClock.tsx";
import { EscrowBadge } from "./EscrowBadge.tsx";
import { ESCROW, type EscrowAnswer, type NodeEscrow } from "./escrowQuery.ts";
import { escrowStateOf } from "./escrowStateOf.ts";
import { keptTerms } from "./keptTerms.ts";
import { StepList } from "./StepList.tsx";
import { TermsCard } from "./TermsCard.tsx";
import { type EscrowTerms, termsOf } from "./termsOf.ts";
import { decimalOf } from "./usdc.ts";
import { WalletSection } from "./WalletSection.tsx";

const loadWallet = () => import("./wallet/EscrowWallet.tsx").then((it) => it.EscrowWallet);

/**
 * The page of one escrow: its terms, its deadline, and what the reader's own wallet can do with the money.
 */
export function EscrowPage({ id }: { id: Hex }) {
  useTitle(`Escrow ${shortHash(id)}`);
  const question = { query: ESCROW, variables: { id } };
  const asked = useAnswer<EscrowAnswer>(`escrow ${id}`, (signal) =>
    askGraphql<EscrowAnswer>(question, signal),
  );
  return (
    <>
      <Answered asked={asked} what="the escrow" heading={`Escrow ${shortHash(id)}`}>
        {(answer) => <Told id={id} answer={answer} />}
      </Answered>
      <AsQuery question={question} />
    </>
  );
}

function Told({ id, answer: { meta, escrow } }: { id: Hex; answer: EscrowAnswer }) {
  const terms = escrow === null ? keptTerms(id) : termsOf(escrow, meta.chainId, id);
  if (terms !== null) return <Known terms={terms} told={escrow} token={meta.token.address as Hex} />;
  if (escrow !== null) return <OtherTerms id={id} />;
  return (
    <div class="stack">
      <h1>No such escrow</h1>
      <Notice kind="info" title={plainText(id, 200)}>
        An escrow shows once its deposit is on the chain and the node has read it. The node follows the
        contracts that its operator chose. <a href={linkTo.newEscrow()}>Begin a new one</a>.
      </Notice>
    </div>
  );
}

function OtherTerms({ id }: { id: Hex }) {
  return (
    <div class="stack">
      <h1>Escrow {shortHash(id)}</h1>
      <Notice kind="bad" title="The node's terms are not those of this escrow" isLive>
        An escrow's id is the hash of all its terms, of its chain and of its contract. The node's terms give
        another id: an amount, an account, the deadline or the contract is not the one that was agreed on. So
        this page shows no terms, and you can sign nothing here. Ask another node.
      </Notice>
    </div>
  );
}

function Known({ terms, told, token }: { terms: EscrowTerms; told: NodeEscrow | null; token: Hex }) {
  const { hire, deployment } = terms;
  const [seen, setSeen] = useState<EscrowState | null>(null);
  const onStanding = useCallback((standing: EscrowState) => setSeen(standing), []);
  const byNode = escrowStateOf(told);
  const standing = seen ?? byNode;
  const isHeld = standing.status === "held";
  const ahead = seen === null ? 0 : seen.time - Math.floor(Date.now() / 1_000);
  const ground = { chainId: deployment.chainId, contract: deployment.escrow, token };
  return (
    <>
      <div class="stack">
        <div class="row">
          <h1>
            <Usdc amount={decimalOf(hire.amount)} /> in escrow
          </h1>
          <EscrowBadge status={standing.status} />
          {standing.delivered && <span class="badge">delivery marked</span>}
        </div>
        <p class="soft">
          {seen === null
            ? "As the node tells it. Your wallet reads it from the chain."
            : "As the chain has it, read by your wallet."}
          {told?.hire && (
            <>
              {" "}
              <a href={linkTo.hire(told.hire.id)}>The hire of this escrow</a>.
            </>
          )}
        </p>
        {seen !== null && told !== null && seen.status !== byNode.status && (
          <Notice
            kind="warn"
            title={`On the chain, ${ENDS[seen.status]}. The node says that ${ENDS[byNode.status]}.`}
          >
            The node may be a few blocks behind. What you can do here depends on the chain.
          </Notice>
        )}
        {told === null && (
          <Notice kind="info" title="The node has not read of this deposit yet">
            The terms are those that you signed in this browser.
          </Notice>
        )}
      </div>
      <div class="two">
        <div class="stack gap">
          <section class="card" aria-labelledby="clock">
            <h2 id="clock">{isHeld ? "The deadline" : "What happened to the money"}</h2>
            {isHeld ? (
              <DeadlineClock
                deadline={Number(hire.deadline)}
                from={told?.depositedTime ?? null}
                ahead={ahead}
                isHeld
              />
            ) : (
              <p>{sentence(ENDS[standing.status])}</p>
            )}
            {told !== null && <StepList told={told} />}
          </section>
          <WalletSection
            title="What you can do"
            load={loadWallet}
            wallet={{ ground, terms, onStanding }}
            before={<ActRows acts={actsOf(hire, { ...byNode, time: Date.now() / 1_000 }, null)} />}
          />
        </div>
        <TermsCard terms={terms} provider={told === null ? null : plainText(told.provider, 40)} />
      </div>
    </>
  );
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
