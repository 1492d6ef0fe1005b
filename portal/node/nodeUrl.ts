/** The longest address of a node. It may come from a stranger's link. */
const MAX_LENGTH = 2_000;

/**
 * The URL of the node that the page asks, without a slash at the end. It is the node that served the page, or
 * the node that `?node=` names by HTTPS or on this machine. A page that is served below a path asks below the same path.
 *
 * @param address the address of the page itself
 */
export function nodeUrlOf(address: string): { url: string; isOther: boolean } {
  const page = new URL(address);
  const own = new URL(".", `${page.origin}${page.pathname}`).href.replace(/\/+$/, "");
  const named = page.searchParams.get("node");
  if (named === null) return { url: own, isOther: false };
  const node = named.length > MAX_LENGTH ? null : URL.parse(named);
  const isSafe = node !== null && (node.protocol === "https:" || isOnThisMachine(node));
  if (!isSafe) return { url: own, isOther: false };
  const url = `${node.origin}${node.pathname}`.replace(/\/+$/, "");
  // One host may have many nodes, each under a path of its own.
  return { url, isOther: url !== own };
}

function isOnThisMachine({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && (hostname === "localhost" || hostname === "127.0.0.1");
}

/** The node of this page. */
export const { url: nodeUrl, isOther: isOtherNode } = nodeUrlOf(
  typeof location === "undefined" ? "http://localhost/" : location.href,
);
