import { useEffect, useRef } from "preact/hooks";
import { AgentPage } from "../agent/AgentPage.tsx";
import { MarketPage } from "../market/MarketPage.tsx";
import { linkTo, type Route } from "../router/route.ts";
import { useRoute } from "../router/useRoute.ts";
import { Announcer } from "./Announcer.tsx";
import { Bottom } from "./Bottom.tsx";
import { Later } from "./Later.tsx";
import { NodeFault } from "./NodeFault.tsx";
import { PageBoundary } from "./PageBoundary.tsx";
import { Top } from "./Top.tsx";
import { useFocusKeeper } from "./useFocusKeeper.ts";
import { useTitle } from "./useTitle.ts";

/** The whole portal: the bar at the top, the page, the bar at the bottom. */
export function Portal() {
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const toHeading = useFocusKeeper(main);
  const isFirst = useRef(true);
  const name = nameOf(route);
  // A new page begins at its top, with its heading. The first page keeps its position.
  useEffect(() => {
    if (!isFirst.current) {
      scrollTo(0, 0);
      toHeading();
    }
    isFirst.current = false;
  }, [name, toHeading]);
  const skip = () => {
    main.current?.scrollIntoView();
    toHeading();
  };
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={skip}>
        Skip to the page
      </button>
      <Top route={route} />
      <main id="main" class="wide" ref={main} tabIndex={-1}>
        <NodeFault />
        <PageBoundary key={name}>
          <Page route={route} />
        </PageBoundary>
      </main>
      <Bottom />
      <Announcer />
    </div>
  );
}

/** These pages are loaded only when the reader opens them. */
const loadHire = () => import("../hire/HirePage.tsx").then((it) => it.HirePage);
const loadCluster = () => import("../cluster/ClusterPage.tsx").then((it) => it.ClusterPage);
const loadLedger = () => import("../ledger/LedgerPage.tsx").then((it) => it.LedgerPage);
const loadNetwork = () => import("../network/NetworkPage.tsx").then((it) => it.NetworkPage);
const loadAudits = () => import("../audits/AuditsPage.tsx").then((it) => it.AuditsPage);
const loadEscrow = () => import("../escrow/EscrowPage.tsx").then((it) => it.EscrowPage);
const loadNewEscrow = () => import("../escrow/NewEscrowPage.tsx").then((it) => it.NewEscrowPage);
const loadVerify = () => import("../verify/VerifyPage.tsx").then((it) => it.VerifyPage);

/** The name of a page. Other filters of a search do not change it, so the page keeps its state. */
function nameOf(route: Route): string {
  if (route.page === "market") return `market/${route.search.get("capability") ?? ""}`;
  if (route.page === "agent") return `agent/${route.address}`;
  if (route.page === "cluster") return `cluster/${route.id}`;
  if (route.page === "escrow") return `escrow/${route.id}`;
  if (route.page === "hire") return `hire/${route.id}`;
  if (route.page === "ledger") return `ledger/${route.id}`;
  return route.page === "verify" ? `verify/${route.agent}` : route.page;
}

function Page({ route }: { route: Route }) {
  switch (route.page) {
    case "market":
      return <MarketPage search={route.search} />;
    case "agent":
      return <AgentPage address={route.address} />;
    case "hire":
      return <Later load={loadHire} id={route.id} />;
    case "cluster":
      return <Later load={loadCluster} id={route.id} />;
    case "ledger":
      return <Later load={loadLedger} id={route.id} search={route.search} />;
    case "audits":
      return <Later load={loadAudits} />;
    case "network":
      return <Later load={loadNetwork} />;
    case "escrow":
      return <Later load={loadEscrow} id={route.id} />;
    case "newEscrow":
      return <Later load={loadNewEscrow} search={route.search} />;
    case "verify":
      return <Later load={loadVerify} agent={route.agent} />;
    default:
      return <MissingPage />;
  }
}

function MissingPage() {
  useTitle("No such page");
  return (
    <div class="stack">
      <h1>There is no such page</h1>
      <p>
        The link may have lost a part on its way. An agent's page is <code>#/agent/</code> and its whole
        address. <a href={linkTo.market()}>Go to the market</a>.
      </p>
    </div>
  );
}
