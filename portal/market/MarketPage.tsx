import { isCapability } from "tallystick-protocol/capability";
import { linkTo } from "../router/route.ts";
import { useTitle } from "../shell/useTitle.ts";
import { OffersFound } from "./OffersFound.tsx";
import { Overview } from "./Overview.tsx";

/** The market's page: an overview of everything that can be hired, or the offers of one capability. */
export function MarketPage({ search }: { search: URLSearchParams }) {
  const capability = (search.get("capability") ?? "").trim();
  if (capability === "") return <Overview />;
  return isCapability(capability.toLowerCase()) ? <OffersFound search={search} /> : <NoCapability />;
}

/**
 * For a link with other text in place of a capability. A stranger may have written this text, so the page does not show
 * it as its own heading.
 */
function NoCapability() {
  useTitle("No such capability");
  return (
    <div class="stack">
      <h1>That is no capability</h1>
      <p>
        A capability is words with points between them, such as <code>code.review</code>.{" "}
        <a href={linkTo.market()}>Go to the market</a>.
      </p>
    </div>
  );
}
