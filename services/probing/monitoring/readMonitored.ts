import { addressSchema } from "tallystick-protocol/address";
import { listForm } from "tallystick-sdk/listForm";
import { askGraphql } from "tallystick-sdk/query/askGraphql";
import { readServiceAnswer } from "tallystick-sdk/readServiceAnswer";
import { z } from "zod";
import { nodeHint } from "../nodeHint.ts";
import type { GuaranteeFigure } from "./compareMonitoring.ts";

/** An agent whose SLA names a monitoring endpoint, with the measured figures of its guarantees. */
export type Monitored = { agent: string; endpoint: string; measured: GuaranteeFigure[] };

/** Agents per page, and the most pages. */
const PAGE = 100;
const MAX_PAGES = 1_000;

const QUERY = `query ProberSlas($first: Int!, $after: String) { page: agents(first: $first, after: $after) {
  nodes { address sla { body guarantees { metric measurementWindow current status } } }
  pageInfo { hasNextPage endCursor } } }`;

/** The most guarantees of an agent. */
const MAX_GUARANTEES = 64;

const guaranteeForm = z.object({
  metric: z.string(),
  measurementWindow: z.string(),
  current: z.number().nullable(),
  status: z.string(),
});

const pageForm = z.object({
  page: z.object({
    nodes: listForm(
      z.object({
        address: addressSchema,
        sla: z
          .object({
            body: z.looseObject({ monitoring_endpoint: z.unknown().optional() }),
            guarantees: listForm(guaranteeForm, MAX_GUARANTEES),
          })
          .nullable(),
      }),
      PAGE,
    ),
    pageInfo: z.object({ hasNextPage: z.boolean(), endCursor: z.string().nullable() }),
  }),
});

/**
 * Reads the agents of a node that declare a monitoring endpoint, with the measured figures of their
 * guarantees.
 *
 * @throws ServiceError; the signal's reason
 */
export async function* readMonitored(baseUrl: string, signal: AbortSignal): AsyncGenerator<Monitored> {
  let after: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const variables = { first: PAGE, after };
    const answer: z.output<typeof pageForm> = readServiceAnswer(
      pageForm,
      await askGraphql({ baseUrl, query: QUERY, variables, signal }),
      { what: "The node's list of SLAs", hint: nodeHint },
    );
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
