import { Gauge, Registry } from "prom-client";
import type { NotifierState } from "./notifier.ts";

/** Makes the metrics of a notifier. Nothing is global, so two notifiers in one process share no metrics. */
export function notifierRegistry(state: () => NotifierState): Registry {
  const registry = new Registry();
  const gauge = (name: string, help: string, read: (it: NotifierState) => number): void => {
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
    "notices_round_time_seconds",
    "The end of the last complete round; 0 before the first.",
    (it) => it.roundAt / 1_000,
  );
  gauge("notices_round_failures", "Rounds that failed, since the start.", (it) => it.failures);
  gauge("notices_subscriptions", "Subscriptions of buyers.", (it) => it.subscriptions);
  gauge("notices_confirmed", "Subscriptions with a confirmed address.", (it) => it.confirmed);
  gauge("notices_waiting", "Notices that wait for delivery.", (it) => it.waiting);
  gauge("notices_delivered", "Delivered notices since the start.", (it) => it.delivered);
  gauge("notices_failed", "Attempts that failed, since the start.", (it) => it.failed);
  gauge("notices_given_up", "Notices that were not delivered in time, since the start.", (it) => it.givenUp);
  gauge("resident_memory_bytes", "Memory of the process.", () => process.memoryUsage.rss());
  return registry;
}
