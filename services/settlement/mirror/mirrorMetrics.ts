import { Gauge, Registry } from "prom-client";
import type { Mirror } from "./mirror.ts";

/** The metrics of a mirror. */
export function mirrorRegistry(mirror: Pick<Mirror, "state">): Registry {
  const registry = new Registry();
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: `tallystick_mirror_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  gauge("entries", "Verified entries of the copy.", () => mirror.state.size);
  gauge(
    "source_entries",
    "Number of entries that the source last reported.",
    () => mirror.state.sourceSize ?? 0,
  );
  gauge(
    "anchored_entries",
    "Number of entries that the contract last reported.",
    () => mirror.state.anchoredSize ?? 0,
  );
  gauge("refuses", "1 while the mirror refuses what the source serves.", () =>
    mirror.state.refusal ? 1 : 0,
  );
  gauge(
    "agreed_time_seconds",
    "When the source last agreed with the copy.",
    () => mirror.state.agreedAt ?? 0,
  );
  return registry;
}
