import { Hono } from "hono";
import { cors } from "hono/cors";
import { getPath } from "hono/utils/url";
import type { capabilityRules } from "./capabilityRules.ts";
import { answerHire, type HireRouteParameters } from "./hireRoute.ts";
import { type JobRoutesParameters, jobRoutes } from "./jobRoutes.ts";
import { limitBody } from "./limitBody.ts";
import { problemResponse } from "./problem.ts";
import { HireRefusedError } from "./sellerErrors.ts";

export type SellerAppParameters = Omit<HireRouteParameters, "checkParams"> &
  JobRoutesParameters & {
    rules: ReturnType<typeof capabilityRules>;
    /** The route at which auditors ask for the work. */
    disclosures: Hono;
    /** The largest request, in bytes. */
    maxBodyBytes: number;
    log: (sentence: string, details?: { [key: string]: unknown }) => void;
  };

/**
 * What a seller answers: hires and their jobs, its listings, and the schemas of what it does (SHP §7). A request may have
 * the path of the endpoint before that of the route, or a proxy may have removed it.
 */
export function sellerApp(parameters: SellerAppParameters): Hono {
  const { offers, rules, log } = parameters;
  const endpoint = URL.parse(offers.all[0]?.offer.listing.endpoint ?? "");
  const own = endpoint?.pathname.replace(/\/$/, "") ?? "";
  const app = new Hono({
    getPath: (request) => {
      const path = getPath(request);
      return path.startsWith(`${own}/`) ? path.slice(own.length) : path;
    },
  });
  app.use(
    cors({
      origin: "*",
      exposeHeaders: ["PAYMENT-REQUIRED", "PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE", "Retry-After"],
    }),
  );
  app.onError((error) => problemResponse(error, log));
  app.notFound(() => problemResponse(notFound("There is no such route."), log));
  const limit = limitBody(parameters.maxBodyBytes);
  app.post("/hire", limit, (c) => answerHire(c, { ...parameters, checkParams: rules.checkParams }));
  app.route("/", jobRoutes(parameters));
  app.route("/", parameters.disclosures);
  app.get("/listings", (c) => c.json({ listings: offers.all.map(({ record }) => record) }));
  app.get("/capabilities", (c) =>
    c.json({ capabilities: rules.list(offers.live.map(({ listing }) => listing)) }),
  );
  app.get("/capabilities/:id/schema", async (c) => {
    const schema = await rules.schemaOf(c.req.param("id"));
    if (!schema) throw notFound(`${c.req.param("id")} has no schema here.`);
    return c.json(schema);
  });
  return app;
}

function notFound(message: string): HireRefusedError {
  return new HireRefusedError({ status: 404, code: "not_found", message });
}
