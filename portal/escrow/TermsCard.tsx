import { Address, Hash } from "../design/Address.tsx";
import { Icon } from "../design/Icon.tsx";
import { Time } from "../design/Time.tsx";
import { Usdc } from "../design/Usdc.tsx";
import { type EscrowTerms, isNamed, payeeOf } from "./termsOf.ts";
import { decimalOf } from "./usdc.ts";

/** Shows the terms of an escrow. The page computed the id from them, so they are the right terms. */
export function TermsCard({ terms, provider }: { terms: EscrowTerms; provider: string | null }) {
  const { hire, deployment, id } = terms;
  return (
    <section class="card" aria-labelledby="terms">
      <h2 id="terms">The terms</h2>
      <TermsList terms={terms} />
      <dl class="facts">
        <dt>Contract</dt>
        <dd>
          <Hash hash={deployment.escrow} what="the contract's address" />
          {provider !== null && <span class="soft"> of {provider}</span>}
        </dd>
        <dt>Escrow</dt>
        <dd>
          <Hash hash={id} what="the escrow's id" />
        </dd>
        <dt>Hire id</dt>
        <dd>
          <Hash hash={hire.hireId} what="the hire's id" />
        </dd>
      </dl>
      <p class="soft small said">
        <Icon name="shield" size={14} /> Computed here: the id is the hash of exactly these terms, on this
        chain, in this contract. Nobody can change one of them.
      </p>
    </section>
  );
}

/**
 * The terms that people agree on.
 *
 * @param props.isWhole shows whole addresses, also of the contract
 */
export function TermsList(props: { terms: Pick<EscrowTerms, "hire" | "deployment">; isWhole?: boolean }) {
  const { terms, isWhole = false } = props;
  const { hire, deployment } = terms;
  const payee = payeeOf(hire);
  return (
    <dl class="facts">
      <dt>Amount</dt>
      <dd>
        <Usdc amount={decimalOf(hire.amount)} />
      </dd>
      {hire.fee > 0n && (
        <>
          <dt>Fee, part of it</dt>
          <dd>
            <Usdc amount={decimalOf(hire.fee)} /> to <Address address={hire.feeRecipient} isWhole={isWhole} />
          </dd>
        </>
      )}
      <dt>Buyer</dt>
      <dd>
        <Address address={hire.buyer} isWhole={isWhole} />
      </dd>
      <dt>Seller</dt>
      <dd>
        <Address address={hire.seller} isWhole={isWhole} />
      </dd>
      {payee !== hire.seller && (
        <>
          <dt>Paid to</dt>
          <dd>
            <Address address={payee} isWhole={isWhole} />
          </dd>
        </>
      )}
      <dt>Deadline</dt>
      <dd>
        <Time at={Number(hire.deadline)} isDate />
      </dd>
      <dt>Arbiter</dt>
      <dd>
        {isNamed(hire.arbiter) ? (
          <Address address={hire.arbiter} isWhole={isWhole} />
        ) : (
          <span class="soft">nobody</span>
        )}
      </dd>
      {isWhole && (
        <>
          <dt>Contract</dt>
          <dd>
            <code>{deployment.escrow}</code>
          </dd>
        </>
      )}
    </dl>
  );
}
