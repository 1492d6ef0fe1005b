import { linkTo } from "../router/route.ts";
import { AddressMark } from "./AddressMark.tsx";
import { CopyButton } from "./CopyButton.tsx";
import { shortHash } from "./format.ts";

/** An agent's address: short, with its stick, leading to its page; the whole of it on hover. */
export function Address({ address, isCopied = false }: { address: string; isCopied?: boolean }) {
  return (
    <span class="hash">
      <AddressMark address={address} />
      <a href={linkTo.agent(address)} title={address}>
        {shortHash(address)}
      </a>
      {isCopied && <CopyButton text={address} what="the address" />}
    </span>
  );
}

/** A hash, short, with the whole to copy. `href` where it leads somewhere. */
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
