import { askGraphql } from "tallystick-sdk/query/askGraphql";
import type { GuaranteeFigure } from "./compareMonitoring.ts";

/** An agent whose SLA names a monitoring endpoint, with the measured figures of its guarantees. */
export type Monitored = { agent: string; endpoint: string; measured: GuaranteeFigure[] };

/** Agents per page, and the most pages. */
const PAGE = 100;
const MAX_PAGES = 1_000;

const QUERY = `query ProberSlas($first: Int!, $after: String) { page: agents(first: $first, after: $after) {
  nodes { address sla { body guarantees { metric measurementWindow current status } } }
  pageInfo { hasNextPage endCursor } } }`;

type Page = {
  page: {
    nodes: {
      address: string;
      sla: {
        body: { monitoring_endpoint?: unknown };
        guarantees: { metric: string; measurementWindow: string; current: number | null; status: string }[];
      } | null;
    }[];
    pageInfo: { hasNextPage: boolean; endCursor: string | null };
  };
};

/**
 * Reads the agents of a node that declare a monitoring endpoint, with the measured figures of their
 * guarantees.
 *
 * @throws ServiceError
 */
export async function* readMonitored(baseUrl: string, signal: AbortSignal): AsyncGenerator<Monitored> {
  let after: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    signal.throwIfAborted();
    const answer: Page = await askGraphql<Page>({ baseUrl, query: QUERY, variables: { first: PAGE, after } });
    for (const { address, sla } of answer.page.nodes) {
      const endpoint = sla?.body.monitoring_endpoint;
      if (sla === null || typeof endpoint !== "string") continue;
      const measured = sla.guarantees.map(({ measurementWindow: window, ...rest }) => ({ ...rest, window }));
      yield { agent: address, endpoint, measured };
    }
    after = answer.page.pageInfo.endCursor;
    if (!answer.page.pageInfo.hasNextPage || after === null) return;
  }
}
