import type { Hex } from "tallystick-protocol/hex";
import type { ProofBundle } from "tallystick-protocol/proof/proofBundle";
import type { SignedRecord } from "tallystick-protocol/records/record";
import type { RecoverPublicKey } from "tallystick-protocol/signatures/recoverPublicKey";
import type { Log } from "tallystick-runtime/stderrLog";
import type { AnchoringState } from "./anchoring/anchorer.ts";
import type { ClaimDesk } from "./claims/claimDesk.ts";
import type { HeldProposals } from "./engine/heldProposals.ts";
import type { LedgerIndex } from "./engine/ledgerIndex.ts";
import type { RuleBook } from "./engine/ruleBook.ts";
import type { SettlementEngine } from "./engine/settlementEngine.ts";
import type { FileStore } from "./erc8004/fileStore.ts";
import type { RateLimitConfig } from "./http/rateLimits.ts";
import type { ApiKeys } from "./keys/apiKeys.ts";
import type { DiskLedger } from "./ledger/diskLedger.ts";
import type { LedgerGate } from "./ledger/ledgerGate.ts";
import type { Metrics } from "./metrics.ts";
import type { Notices } from "./notices/notices.ts";
import type { Checkpoints } from "./proofs/checkpoints.ts";
import type { VerificationState } from "./verifying/ledgerVerifier.ts";
import type { WitnessState } from "./witnessing/witnesses.ts";

/** The parts of the service that the routes use. `service.ts` puts them together. */
export type AppDependencies = {
  engine: SettlementEngine;
  ledger: DiskLedger;
  index: LedgerIndex;
  held: HeldProposals;
  ruleBook: RuleBook;
  /** The ledger's name: its id on chain (`local` when it is not anchored) and its origin. */
  ledgerName: { ledger: Hex | "local"; origin: string };
  /** How signers are recovered when a record does not name them. */
  recover: RecoverPublicKey;
  /**
   * Checks that a record's signer, a key or a contract, has signed it.
   * @throws InvalidInputError `invalid_signature`
   */
  checkSignature: (record: SignedRecord) => Promise<unknown>;
  /** Keys that may settle generic proposals. */
  apiKeys: ApiKeys;
  rateLimits: RateLimitConfig;
  checkpoints: Checkpoints;
  /** The ledger on chain; null when it is not anchored. */
  identity: ProofBundle["ledger"];
  /** The transaction that anchored a size and root, if it is known and still valid. */
  transactionOf: (anchor: { size: number; root: Hex }) => Hex | undefined;
  /** Whether the ledger may be written and signed. */
  gate: LedgerGate;
  /** The progress of the verification of lines and index. */
  verification: () => VerificationState;
  /** Absent when this service attests no claims. */
  claimDesk?: ClaimDesk;
  /** Files of ERC-8004. */
  files: FileStore;
  /** Absent when no notices are sent. */
  notices?: Notices;
  /** The state of anchoring; absent when the ledger is not anchored. */
  anchoring?: () => AnchoringState;
  /** The state of each witness; absent when the ledger has none. */
  witnesses?: () => WitnessState[];
  metrics: Metrics;
  /** The time, in seconds since 1970. */
  now: () => number;
  log: Log;
};
