import { Address, Hash } from "../design/Address.tsx";
import { AsQuery } from "../design/AsQuery.tsx";
import { Outcome } from "../design/Badges.tsx";
import { formatLatency, formatMode, formatNumber, plainText, shortHash } from "../design/format.ts";
import { Notice } from "../design/Notice.tsx";
import { Answered, Empty } from "../design/States.tsx";
import { Time } from "../design/Time.tsx";
import { Usdc } from "../design/Usdc.tsx";
import { askGraphql } from "../node/askGraphql.ts";
import { useAnswer } from "../node/useAnswer.ts";
import { linkTo } from "../router/route.ts";
import { useTitle } from "../shell/useTitle.ts";
import { HIRE, type Hire, type HireAnswer } from "./hireQuery.ts";
import { momentsOf } from "./momentsOf.ts";
import { ReceiptCard } from "./ReceiptCard.tsx";

const EVIDENCE: { [evidence: string]: string } = {
  ESCROW: "the escrow on the chain",
  BUYER: "the buyer's signed word",
  SELLER: "the seller's word alone",
  AUDIT: "an audit",
};

/**
 * The page of one hire: what happened, whose evidence decides its outcome, and its receipt, which the reader
 * can verify.
 */
export function HirePage({ id }: { id: string }) {
  useTitle(`Hire ${shortHash(id)}`);
  const question = { query: HIRE, variables: { id } };
  const asked = useAnswer<HireAnswer>(`hire ${id}`, (signal) => askGraphql<HireAnswer>(question, signal));
  return (
    <>
      <Answered asked={asked} what="the hire" heading={`Hire ${shortHash(id)}`}>
        {({ hire }) => (hire === null ? <Unknown id={id} /> : <Known id={id} hire={hire} />)}
      </Answered>
      <AsQuery question={question} />
    </>
  );
}

function Unknown({ id }: { id: string }) {
  return (
    <div class="stack">
      <h1>No such hire</h1>
      <Notice kind="info" title={plainText(id, 200)}>
        A hire shows once its payment is on the chain, and its receipt is anchored or its escrow settled.
      </Notice>
    </div>
  );
}

function Known({ id, hire }: { id: string; hire: Hire }) {
  const moments = momentsOf(hire);
  return (
    <>
      <div class="stack">
        <div class="row">
          <h1>{plainText(hire.capability ?? "A hire", 100)}</h1>
          <Outcome outcome={hire.outcome} />
          {hire.dispute && (
            <span class="badge bad">disputed by {plainText(hire.disputeSource ?? "", 20)}</span>
          )}
        </div>
        <p class="sum">
          Its outcome rests on {EVIDENCE[hire.evidence] ?? plainText(hire.evidence, 40)}.
          {hire.clusterSize > 1 &&
            ` Buyer and seller shared a cluster of ${hire.clusterSize}, so it counts ${formatNumber(hire.weight)}.`}
        </p>
      </div>
      <div class="two level">
        <section class="card" aria-labelledby="life">
          <h2 id="life">What happened</h2>
          {moments.length === 0 ? (
            <Empty>The node tells no step of this hire.</Empty>
          ) : (
            <ol class="feed life">
              {moments.map(({ time, what, detail }) => (
                <li key={`${time} ${what}`}>
                  <span class="head">
                    <strong>{what}</strong>
                    <span class="soft">
                      <Time at={time} isDate />
                    </span>
                  </span>
                  {detail !== "" && <span class="soft small">{detail}</span>}
                </li>
              ))}
            </ol>
          )}
        </section>
        <section class="card" aria-labelledby="facts">
          <h2 id="facts">The terms</h2>
          <dl class="facts">
            <dt>Seller</dt>
            <dd>
              <Address address={hire.sellerAddress} />
            </dd>
            <dt>Buyer</dt>
            <dd>
              <Address address={hire.buyerAddress} />
            </dd>
            <dt>Amount</dt>
            <dd>
              <Usdc amount={hire.amountUsdc} />
            </dd>
            {hire.priceUsdc !== hire.amountUsdc && (
              <>
                <dt>Earned</dt>
                <dd>
                  <Usdc amount={hire.priceUsdc} />
                </dd>
              </>
            )}
            <dt>Paid</dt>
            <dd>
              {hire.escrow === null ? (
                formatMode(hire.paymentMode)
              ) : (
                <a href={linkTo.escrow(hire.escrow.id)}>{formatMode(hire.paymentMode)}</a>
              )}
            </dd>
            <dt>Took</dt>
            <dd>{formatLatency(hire.latencyMs)}</dd>
            <dt>Transaction</dt>
            <dd>
              <Hash hash={hire.tx} what="the transaction" />
            </dd>
            {hire.capability !== null && (
              <>
                <dt>Others</dt>
                <dd>
                  <a href={linkTo.market({ capability: hire.capability })}>who offers the same</a>
                </dd>
              </>
            )}
          </dl>
        </section>
      </div>
      {hire.receipt !== null && (
        <ReceiptCard
          receipt={hire.receipt}
          of={{
            id,
            seller: hire.sellerAddress,
            buyer: hire.buyerAddress,
            allPassed: hire.receipt.allPassed,
          }}
        />
      )}
    </>
  );
}
