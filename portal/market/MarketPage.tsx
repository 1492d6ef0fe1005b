import { OffersFound } from "./OffersFound.tsx";
import { Overview } from "./Overview.tsx";

/** What can be hired: all of it at a glance, or the offers of one capability. */
export function MarketPage({ search }: { search: URLSearchParams }) {
  const capability = search.get("capability") ?? "";
  return capability === "" ? <Overview /> : <OffersFound search={search} />;
}
