import type { Context, MiddlewareHandler } from "hono";
import { matchedRoutes } from "hono/route";
import { Histogram, type Metric, type Registry } from "prom-client";

/**
 * Called after an answer, with the route's template, `2xx` to `5xx`, and the seconds until the headers were
 * ready.
 */
export type ObserveRequest = (route: string, status: string, seconds: number) => void;

const NAME = "tallystick_http_request_seconds";

/** A name for unknown paths. Strangers can invent any number of paths, so a path itself is never a name. */
const OTHER = "other";

/** The histogram for {@link measureRoutes} in a registry. All apps of a process share it. */
export function requestHistogram(registry: Registry): ObserveRequest {
  const known = registry.getSingleMetric(NAME) as Metric | undefined;
  const histogram = (known ?? makeHistogram(registry)) as Histogram<"route" | "status">;
  return (route, status, seconds) => histogram.observe({ route, status }, seconds);
}

function makeHistogram(registry: Registry) {
  return new Histogram({
    name: NAME,
    help: "Time until the head of an answer, by the route's template and the class of its status.",
    labelNames: ["route", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
}

/** Measures every request. It must be the first middleware of an app. */
export function measureRoutes(observe: ObserveRequest): MiddlewareHandler {
  return async (c, next) => {
    const start = performance.now();
    await next();
    const status = `${Math.floor(c.res.status / 100)}xx`;
    observe(routeOf(c), status, (performance.now() - start) / 1_000);
  };
}

/**
 * The template of the route that the request matched. An unknown path matches no route. It gets the template of a
 * middleware that matches, such as `/v1/insights/*`, or {@link OTHER} if there is none.
 */
function routeOf(c: Context): string {
  const templates = matchedRoutes(c).map(({ path }) => path);
  return templates.findLast((path) => path !== "*" && path !== "/*") ?? OTHER;
}
