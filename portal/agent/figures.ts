/** The format of a figure. */
export type FigureKind = "rate" | "count" | "usdc" | "latency" | "stars";

/** A published figure: its field in the schema, its name on the page, and its format. */
export type Figure = { field: string; name: string; kind: FigureKind };

const figure = (field: string, name: string, kind: FigureKind): Figure => ({ field, name, kind });

/** Every figure of the page, in its groups (docs/specification.md, the table of published fields). */
export const FIGURE_GROUPS: { title: string; figures: Figure[] }[] = [
  {
    title: "As a seller",
    figures: [
      figure("SUCCESS_RATE", "Success rate", "rate"),
      figure("LAST_30D_HIRE_COUNT", "Hires, weighted", "count"),
      figure("LAST_30D_HIRE_COUNT_RAW", "Hires, each as one", "count"),
      figure("LAST_24H_VOLUME_USDC", "Volume, 24 hours", "usdc"),
      figure("DISTINCT_BUYERS", "Different buyers", "count"),
      figure("FREE_HIRES", "Free calls", "count"),
    ],
  },
  {
    title: "How well",
    figures: [
      figure("AVG_LATENCY_MS_P50", "Latency, median", "latency"),
      figure("AVG_LATENCY_MS_P95", "Latency, 95% are faster", "latency"),
      figure("AVG_STARS", "Stars", "stars"),
      figure("TOTAL_RATINGS", "Ratings", "count"),
      figure("REFUND_RATE", "Refunded, of escrow hires", "rate"),
      figure("DISPUTE_RATE", "Disputed by audit", "rate"),
    ],
  },
  {
    title: "As a buyer",
    figures: [
      figure("HIRES_BOUGHT", "Hires bought", "count"),
      figure("SILENT_TIMEOUT_RATE", "Left to time out after delivery", "rate"),
      figure("REFUND_AFTER_DELIVERY_RATE", "Refunded after delivery", "rate"),
      figure("FALSE_REFUNDS", "Refunds of good work", "count"),
    ],
  },
  {
    title: "Audited",
    figures: [
      figure("AUDIT_PASS_RATE", "Audits passed", "rate"),
      figure("AUDIT_COVERAGE", "Open to audits", "rate"),
      figure("AUDITS_DRAWN", "Drawn", "count"),
      figure("AUDITS_UNDISCLOSED", "Drawn and undisclosed", "count"),
    ],
  },
];

export const FIGURES: Figure[] = FIGURE_GROUPS.flatMap(({ figures }) => figures);
