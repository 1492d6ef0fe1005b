import { OffersFound } from "./OffersFound.tsx";
import { Overview } from "./Overview.tsx";

/** The market's page: an overview of everything that can be hired, or the offers of one capability. */
export function MarketPage({ search }: { search: URLSearchParams }) {
  const capability = search.get("capability") ?? "";
  return capability === "" ? <Overview /> : <OffersFound search={search} />;
}
