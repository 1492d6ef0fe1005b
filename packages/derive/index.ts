/** The derivation reads an event log, and gives rows and their digest. */
export { apply } from "./apply.ts";
export type { ApplyOptions } from "./applyContext.ts";
export type { ColumnKind } from "./columnKind.ts";
export type {
  CountEvent,
  DeriveEvent,
  EscrowDelivered,
  EscrowDeposited,
  EscrowRefunded,
  EscrowReleased,
  EscrowTimedOut,
  FeedbackGiven,
  FeedbackResponded,
  FeedbackRevoked,
  HistoryEvent,
  IdentityEvent,
  IdentityMetadataSet,
  IdentityRegistered,
  IdentityTransferred,
  IdentityUriUpdated,
  LogForm,
  LogRegistries,
  LogToken,
  ParamsEvent,
  Position,
  RecordEvent,
  RegistryUpgraded,
  TickEvent,
  TransferEvent,
} from "./events.ts";
export { MemoryStore } from "./memoryStore.ts";
export { parseEvent } from "./parseEvent.ts";
export { applyRelevant, type ReadPast } from "./relevant/applyRelevant.ts";
export type { Read } from "./relevant/reads.ts";
export { relevantLog } from "./relevant/relevantLog.ts";
export type { Reputation } from "./reputation.ts";
export { type OwnField, publishedField, reputationOf } from "./reputationOf.ts";
export { type Snapshot, snapshotOf } from "./snapshot.ts";
export { STATE_ID } from "./stateId.ts";
export type { Store } from "./store.ts";
export { type Row, type TableName, tables } from "./tables.ts";
