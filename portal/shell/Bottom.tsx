import { Hash } from "../design/Address.tsx";
import { shortHash } from "../design/format.ts";
import { Time } from "../design/Time.tsx";
import { useNodeState } from "../node/nodeStateStore.ts";
import { isOtherNode, nodeUrl } from "../node/nodeUrl.ts";

const LINKS = [
  ["/graphql", "GraphQL"],
  ["/openapi.json", "OpenAPI"],
  ["/docs/", "Documentation"],
  ["/v1/params", "Parameters"],
  ["/status", "Status"],
] as const;

/**
 * The bar at the bottom: the tick of the figures, the version of this page, and links to the node's other
 * interfaces.
 */
export function Bottom() {
  const { asOf } = useNodeState();
  const build = document.querySelector<HTMLMetaElement>('meta[name="portal-build"]')?.content ?? "";
  return (
    <footer class="bottom">
      <div class="wide">
        <span class="row">
          {asOf !== null && (
            <>
              <span>
                As of block {asOf.block.toLocaleString("en")}, <Time at={asOf.time} />
              </span>
              <span class="row">
                digest <Hash hash={asOf.digest} what="the digest" />
              </span>
            </>
          )}
          {isOtherNode && <span>node {new URL(nodeUrl).host}</span>}
        </span>
        <nav aria-label="The node">
          {LINKS.map(([path, name]) => (
            <a key={path} href={`${nodeUrl}${path}`}>
              {name}
            </a>
          ))}
          <span title={build}>build {shortHash(build.replace("sha256:", ""))}</span>
        </nav>
      </div>
    </footer>
  );
}
