import { linkTo } from "../router/route.ts";
import { AddressMark } from "./AddressMark.tsx";
import { CopyButton } from "./CopyButton.tsx";
import { plainText, shortHash } from "./format.ts";

/**
 * Shows an agent's address in short form, with its notched stick and a link to its page. Hovering shows the
 * whole address.
 *
 * @param props.isWhole shows the whole address, for a reader who is about to pay
 */
export function Address(props: { address: string; isCopied?: boolean; isWhole?: boolean }) {
  const { address, isCopied = false, isWhole = false } = props;
  return (
    <span class="hash">
      <AddressMark address={address} />
      <a href={linkTo.agent(address)} title={address}>
        {isWhole ? plainText(address, 80) : shortHash(address)}
      </a>
      {isCopied && <CopyButton text={address} what="the address" />}
    </span>
  );
}

/** Shows a hash in short form. The button copies the whole hash. With `href` it is a link. */
export function Hash({ hash, what, href }: { hash: string; what: string; href?: string }) {
  return (
    <span class="hash">
      {href === undefined ? (
        <span title={hash}>{shortHash(hash)}</span>
      ) : (
        <a href={href} title={hash}>
          {shortHash(hash)}
        </a>
      )}
      <CopyButton text={hash} what={what} />
    </span>
  );
}
