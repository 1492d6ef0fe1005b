import type { Log } from "tallystick-runtime/stderrLog";
import type { CallBudget } from "../budget/callBudget.ts";
import type { Model, ModelTable } from "../models/modelTable.ts";
import type { OpenedModel } from "../models/openModel.ts";
import type { SettlementKey } from "../settlementKey.ts";
import type { Spans } from "../telemetry.ts";
import type { KindRecord } from "../triage/kindRecords.ts";
import type { Settlement } from "../triage/settlementRules.ts";
import type { TwoClocks } from "../twoClocks.ts";
import type { TaskFiles } from "./taskFile.ts";

/** The things that all tasks of a dispatcher share. */
export type World = {
  table: ModelTable;
  /** The dispatcher's name in the ledger. */
  dispatcher: string;
  /** The service that settles the answers, and the key for it. */
  settlement: Settlement;
  settlementKey: SettlementKey;
  files: TaskFiles;
  budget: CallBudget;
  openModel: (model: Model) => OpenedModel;
  /** The ledger's figures for earlier tasks of a kind. They show how hard such tasks are. */
  recordOf: (kind: string, signal: AbortSignal) => Promise<KindRecord>;
  spans: Spans;
  /** Milliseconds since 1970. */
  now: () => number;
  clocks: TwoClocks;
  /** From 0 to below 1. */
  random: () => number;
  log: Log;
};
