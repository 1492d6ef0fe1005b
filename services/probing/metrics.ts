import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { PartState } from "./reports/outbox.ts";

/**
 * The outcome of a look. `ours`: the prober's own connection failed. `dropped`: the request for payment terms was not
 * sent, or it was refused and the seller's schema could not be read. `private`: the host has a private address.
 */
export type LookResult = "up" | "down" | "ours" | "dropped" | "private";

/** The metrics of a prober, for Prometheus. */
export type Metrics = {
  countLook: (result: LookResult) => void;
  /** Counts a request of a visit that was sent: for payment terms, robots.txt or a schema. */
  countRequest: () => void;
  /** Notes how long an answer took, in seconds. */
  observeAnswer: (seconds: number) => void;
  countReport: (state: PartState) => void;
  countFailedWrite: () => void;
  text: () => Promise<string>;
  contentType: string;
};

/** Values that are read when Prometheus asks. */
export type MetricSources = {
  hosts: () => number;
  serving: () => number;
  optedOut: () => number;
  refusedEndpoints: () => number;
  hostsLeftOut: () => number;
  waitingRequests: () => number;
  waitingReports: () => number;
  isUplinkLost: () => boolean;
  /** When the listings were last read, in unix seconds; 0 before the first reading. */
  listingsRead: () => number;
  observationBytes: () => Promise<number>;
};

/** Makes the metrics of one prober. Nothing is global. */
export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  const gauge = (name: string, help: string, read: () => number | Promise<number>): void => {
    new Gauge({
      name: `tallystick_prober_${name}`,
      help,
      registers: [registry],
      async collect() {
        this.set(await read());
      },
    });
  };
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Counter({ name: `tallystick_prober_${name}`, help, labelNames, registers: [registry] });
  const looks = counter("looks_total", "The number of looks at hosts, by result.", ["result"]);
  const requests = counter(
    "requests_total",
    "Requests that visits sent to hosts: for payment terms, robots.txt and schemas.",
  );
  const reports = counter("reports_total", "Parts of hourly reports, by their state.", ["state"]);
  const failedWrites = counter(
    "failed_writes_total",
    "Observations that could not be written to the disk. Without its first observation a visit sends no request.",
  );
  const answers = new Histogram({
    name: "tallystick_prober_answer_seconds",
    help: "How long hosts took to answer.",
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  gauge("hosts", "Hosts of live listings.", sources.hosts);
  gauge(
    "hosts_serving",
    "Hosts that served somebody within seven days. The prober looks only at these hosts.",
    sources.serving,
  );
  gauge("hosts_opted_out", "Hosts whose robots.txt keeps this prober away.", sources.optedOut);
  gauge(
    "hosts_left_out",
    "Hosts that the last reading of the listings left out, because there are more than PROBER_MAX_HOSTS.",
    sources.hostsLeftOut,
  );
  gauge(
    "endpoints_refused",
    "Listings whose endpoint is not asked, such as plain http, a private address, or a port that is not allowed.",
    () => sources.refusedEndpoints(),
  );
  gauge("requests_waiting", "Requests that wait for their turn.", sources.waitingRequests);
  gauge("reports_waiting", "Parts of reports that are not settled yet.", sources.waitingReports);
  gauge("uplink_lost", "1 while the prober itself has no connection. Then it visits no host.", () =>
    Number(sources.isUplinkLost()),
  );
  gauge(
    "listings_read_seconds",
    "When the node's listings were read last, unix seconds.",
    sources.listingsRead,
  );
  gauge("observations_bytes", "What the observations take on the disk.", sources.observationBytes);
  gauge("resident_memory_bytes", "Memory of the process.", () => process.memoryUsage.rss());
  return {
    countLook: (result) => looks.inc({ result }),
    countRequest: () => requests.inc(),
    observeAnswer: (seconds) => answers.observe(seconds),
    countReport: (state) => reports.inc({ state }),
    countFailedWrite: () => failedWrites.inc(),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
