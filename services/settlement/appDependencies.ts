import type { Hex } from "tallystick-protocol/hex";
import type { ProofBundle } from "tallystick-protocol/proof/proofBundle";
import type { RecoverPublicKey } from "tallystick-protocol/signatures/recoverPublicKey";
import type { Log } from "tallystick-runtime/stderrLog";
import type { AnchoringState } from "./anchoring/anchorer.ts";
import type { ClaimDesk } from "./claims/claimDesk.ts";
import type { HeldProposals } from "./engine/heldProposals.ts";
import type { LedgerIndex } from "./engine/ledgerIndex.ts";
import type { RuleBook } from "./engine/ruleBook.ts";
import type { SettlementEngine } from "./engine/settlementEngine.ts";
import type { RateLimitConfig } from "./http/rateLimits.ts";
import type { ApiKeys } from "./keys/apiKeys.ts";
import type { DiskLedger } from "./ledger/diskLedger.ts";
import type { LedgerGate } from "./ledger/ledgerGate.ts";
import type { Metrics } from "./metrics.ts";
import type { Notices } from "./notices/notices.ts";
import type { Checkpoints } from "./proofs/checkpoints.ts";
import type { WitnessState } from "./witnessing/witnesses.ts";

/** What the routes are given: the parts of the service, put together in `service.ts`. */
export type AppDependencies = {
  engine: SettlementEngine;
  ledger: DiskLedger;
  index: LedgerIndex;
  held: HeldProposals;
  ruleBook: RuleBook;
  /** What the ledger is called: its id on chain (`local` when it is not anchored) and its origin. */
  ledgerName: { ledger: Hex | "local"; origin: string };
  /** How signers that a record does not name are recovered. */
  recover: RecoverPublicKey;
  /** Keys that may settle generic proposals. */
  apiKeys: ApiKeys;
  rateLimits: RateLimitConfig;
  checkpoints: Checkpoints;
  /** The ledger on chain; null when it is not anchored. */
  identity: ProofBundle["ledger"];
  /** By which transaction the contract came to hold a size and root, if it is known and stands. */
  transactionOf: (anchor: { size: number; root: Hex }) => Hex | undefined;
  /** Whether the ledger may be written and signed over. */
  gate: LedgerGate;
  /** Absent when this service attests no claims. */
  claimDesk?: ClaimDesk;
  /** Absent when no notices are sent. */
  notices?: Notices;
  /** How anchoring goes; absent when the ledger is not anchored. */
  anchoring?: () => AnchoringState;
  /** How each witness does; absent when the ledger has none. */
  witnesses?: () => WitnessState[];
  metrics: Metrics;
  /** The time, in seconds since 1970. */
  now: () => number;
  log: Log;
};
