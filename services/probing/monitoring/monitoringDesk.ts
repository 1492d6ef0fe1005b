import type { RecordBody } from "tallystick-protocol/json/recordBody";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import { isRefusal } from "../reports/outbox.ts";
import { differencesToTell, type ReportedDifferences } from "./differencesToTell.ts";
import { type MonitoringParameters, type MonitoringReport, monitoringRound } from "./monitoringRound.ts";
import { noteAnswered } from "./noteAnswered.ts";

/** Seconds between two rounds. */
const DAY = 86_400;

/** The longest time of a round, in seconds. The next round begins a day after this one. */
const ROUND_SECONDS = 20 * 3_600;

/** The most records that wait for settlement. The oldest are dropped first. */
const MAX_WAITING = 256;

/** How long an agent keeps its report, in seconds, while all rounds are cut short before they come to it. */
const KEEP_SECONDS = 7 * DAY;

const KEPT = "monitoring/reports";

type Kept = {
  /** When the last round began, also if its process ended before it noted a report. */
  startedAt: number;
  /** When the round began to which the reports belong. */
  reportsOf: number;
  reports: MonitoringReport[];
  told: ReportedDifferences;
  waiting: RecordBody[];
  /** Both as in {@link MonitoringParameters}. */
  optedOut: string[];
  answered: string[];
};

export type MonitoringDesk = {
  /**
   * Asks all agents if the last round began at least a day ago, and reports the differences. A round that the node or the
   * end of the process cuts short counts as far as it came, and is not repeated on that day. If it asked nobody, the next
   * call begins it again.
   *
   * @throws the error of the node
   */
  round: () => Promise<void>;
  /** The report of each agent. Agents with differences come first. */
  reports: () => MonitoringReport[];
};

/**
 * Reads once a day the figures that agents give about themselves, stores them, and settles the differences
 * from the measured figures.
 *
 * @param parameters.send signs a body as a `monitoring` record and sends it; the same body gives the same
 * record, so settlement stores it once
 */
export async function openMonitoringDesk(
  store: KeyValueStore,
  parameters: Omit<
    MonitoringParameters,
    "monitored" | "before" | "lastBegan" | "optedOut" | "answered" | "until"
  > & {
    monitored: () => MonitoringParameters["monitored"];
    send: (body: RecordBody) => Promise<unknown>;
  },
): Promise<MonitoringDesk> {
  const { now, signal, log, send } = parameters;
  const stored = await store.get<Partial<Kept>>(KEPT);
  let kept: Kept = {
    // An earlier version stored only one of the two times.
    ...{ startedAt: 0, reportsOf: stored?.startedAt ?? 0, reports: [], told: {}, waiting: [], optedOut: [] },
    ...{ answered: answeredIn(stored?.reports ?? []), ...stored },
  };

  async function look(): Promise<void> {
    const startedAt = Math.floor(now());
    // A round in the future was begun by a wrong clock. The desk does not wait for that time.
    if (startedAt >= kept.startedAt && startedAt < kept.startedAt + DAY) return;
    // This is stored first. So if the process ends in the middle of a round, the next process does not ask everybody
    // again.
    await store.put(KEPT, { ...kept, startedAt });
    const reports: MonitoringReport[] = [];
    const optedOut = new Set(kept.optedOut);
    const answered = new Set(kept.answered);
    const until = startedAt + ROUND_SECONDS;
    let hasAsked = false;
    const ask: MonitoringParameters["ask"] = (question) => {
      hasAsked = true;
      return parameters.ask(question);
    };
    const given = { ...parameters, ask, monitored: parameters.monitored(), lastBegan: kept.reportsOf };
    const round = monitoringRound({ ...given, before: kept.reports, optedOut, answered, until }, (report) => {
      reports.push(report);
    });
    const failure = await round.then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    const isCut = failure !== undefined || signal.aborted;
    if (isCut && !hasAsked) {
      await store.put(KEPT, kept);
      if (failure !== undefined) throw failure.error;
      return;
    }
    const { bodies, told } = differencesToTell(reports, kept.told, Math.floor(startedAt / DAY));
    const seen = new Set(reports.map(({ agent }) => agent));
    // The agents that came no more keep their reports for a while. A wrong clock may have made one in the future.
    const isNew = ({ askedAt }: MonitoringReport) => Math.abs(startedAt - askedAt) <= KEEP_SECONDS;
    if (isCut) reports.push(...kept.reports.filter((it) => !seen.has(it.agent) && isNew(it)));
    // This is stored before anything is sent. After a crash the next process sends the same records.
    const waiting = [...kept.waiting, ...bodies].slice(-MAX_WAITING);
    kept = {
      startedAt,
      reportsOf: startedAt,
      reports,
      told,
      waiting,
      optedOut: [...optedOut],
      answered: [...answered],
    };
    await store.put(KEPT, kept);
    if (failure !== undefined) throw failure.error;
  }

  /** Sends the waiting records in order. A record is dropped if settlement says that it will never accept it. */
  async function tell(): Promise<void> {
    for (const body of kept.waiting) {
      try {
        await send(body);
      } catch (error) {
        const isRefused = isRefusal(error);
        log("The differences in agents' own monitoring could not be reported.", { error, isRefused });
        if (!isRefused) return;
      }
      kept = { ...kept, waiting: kept.waiting.filter((it) => it !== body) };
      await store.put(KEPT, kept);
    }
  }

  return {
    round: async () => {
      await look();
      if (!signal.aborted) await tell();
    },
    reports: () =>
      kept.reports.toSorted((a, b) => Number(isOff(b)) - Number(isOff(a)) || (a.agent < b.agent ? -1 : 1)),
  };
}

/** The names that an earlier version has not stored. */
function answeredIn(reports: readonly MonitoringReport[]): string[] {
  const answered = new Set<string>();
  for (const { endpoint, problem } of reports) if (problem === null) noteAnswered(answered, endpoint);
  return [...answered];
}

function isOff({ guarantees }: MonitoringReport): boolean {
  return guarantees.some(({ differs }) => differs);
}
