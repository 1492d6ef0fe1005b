import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import { type MonitoringParameters, type MonitoringReport, monitoringRound } from "./monitoringRound.ts";

/** Seconds between two rounds. */
const DAY = 86_400;

const KEPT = "monitoring/reports";

type Kept = { startedAt: number; reports: MonitoringReport[] };

export type MonitoringDesk = {
  /** Asks all agents, if a day is over since it did. A process that starts again does not begin anew. */
  round: () => Promise<void>;
  /** What became of each, and whose own word differs from what was measured first. */
  reports: () => MonitoringReport[];
};

/** Looks once a day at what agents say of themselves, and remembers it. */
export async function openMonitoringDesk(
  store: KeyValueStore,
  parameters: Omit<MonitoringParameters, "monitored"> & {
    monitored: () => MonitoringParameters["monitored"];
  },
): Promise<MonitoringDesk> {
  let kept = (await store.get<Kept>(KEPT)) ?? { startedAt: 0, reports: [] };
  return {
    round: async () => {
      const startedAt = Math.floor(parameters.now());
      if (startedAt < kept.startedAt + DAY) return;
      // Written first: a process that ends in the middle of it does not ask everybody again.
      await store.put(KEPT, { ...kept, startedAt });
      const reports: MonitoringReport[] = [];
      await monitoringRound({ ...parameters, monitored: parameters.monitored() }, (report) => {
        reports.push(report);
      });
      if (parameters.signal.aborted) return;
      kept = { startedAt, reports };
      await store.put(KEPT, kept);
    },
    reports: () =>
      kept.reports.toSorted((a, b) => Number(isOff(b)) - Number(isOff(a)) || (a.agent < b.agent ? -1 : 1)),
  };
}

function isOff({ guarantees }: MonitoringReport): boolean {
  return guarantees.some(({ differs }) => differs);
}
