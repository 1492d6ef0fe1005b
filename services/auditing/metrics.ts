import { Gauge, Registry } from "prom-client";
import type { OperatorState } from "./operatorRound.ts";

/** The metrics of one process, for Prometheus. */
export type Metrics = { text: () => Promise<string>; contentType: string };

/** USDC as a float for people. No decision uses these values. */
const usdc = (atomic: bigint): number => Number(atomic) / 1_000_000;

/** Makes the metrics of an operator's process. Nothing is global, so two calls in one process share no metrics. */
export function createMetrics(state: () => OperatorState): Metrics {
  const registry = new Registry();
  const gauge = (name: string, help: string, read: (it: OperatorState) => number): void => {
    new Gauge({
      name: `tallystick_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read(state()));
      },
    });
  };
  gauge(
    "audit_round_time_seconds",
    "When the last round without a failure ended; 0 before.",
    (it) => it.roundAt,
  );
  gauge("audit_node_time_seconds", "Time of the node's last tick.", (it) => it.nodeTime);
  gauge("audit_round_failures", "Parts of rounds that failed, since the start.", (it) => it.failures);
  gauge("audit_assignments_open", "Assignments that wait for a verdict.", (it) => it.openAssignments);
  gauge(
    "audit_assignments_taken",
    "Requests to auditors that succeeded, reminders included, since the start.",
    (it) => it.taken,
  );
  gauge("audit_assignments_reminded", "Repeated requests to auditors, since the start.", (it) => it.reminded);
  gauge(
    "audit_assignments_not_taken",
    "Requests to auditors that failed, since the start.",
    (it) => it.notTaken,
  );
  gauge("audit_challenged", "Hires that wait for a decision.", (it) => it.challenged.length);
  gauge("audit_refunds", "Held escrows that were refunded, since the start.", (it) => it.refunded);
  gauge("audit_payments_waiting", "Payments that are decided on and not final.", (it) => it.paymentsWaiting);
  gauge(
    "audit_payments_refused",
    "Auditors that were not paid in the last round, because the budget was spent.",
    (it) => it.paymentsRefused,
  );
  gauge("audit_paid_usdc", "USDC whose payment is final, since the start.", (it) => usdc(it.paidAtomic));
  gauge("audit_owed_usdc", "What the pool owes its auditors.", (it) => usdc(it.owedAtomic));
  gauge("audit_budget_left_usdc", "What may still be spent in this period of 30 days.", (it) =>
    usdc(it.budgetAtomic),
  );
  gauge("audit_canary_plans_open", "Plans of canaries that are not revealed.", (it) => it.canariesOpen);
  gauge("resident_memory_bytes", "Memory of the process.", () => process.memoryUsage.rss());
  return { text: () => registry.metrics(), contentType: registry.contentType };
}
