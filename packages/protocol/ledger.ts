/** The ledger: its entries and hash chain, its Merkle tree (RFC 6962), signed heads, and proofs of all of them. */
export {
  type AnchorDeployment,
  anchorDomain,
  anchorTypedData,
  anchorTypes,
  ledgerId,
} from "./ledger/anchor.ts";
export {
  entryHash,
  entryLine,
  GENESIS_HASH,
  LedgerCorruptError,
  type LedgerEntry,
  parseEntryLine,
  sealEntry,
} from "./ledger/entry.ts";
export {
  LedgerChain,
  type LedgerChainOptions,
  LedgerLineError,
  type VerifiedLedger,
  verifyLedgerLines,
} from "./ledger/verifyLedger.ts";
export { entryLeafHash, lineLeafHash } from "./merkle/entryLeafHash.ts";
export { leafHash, nodeHash } from "./merkle/hash.ts";
export { MerkleTree } from "./merkle/merkleTree.ts";
export { type VerifyConsistencyParameters, verifyConsistency } from "./merkle/verifyConsistency.ts";
export { type VerifyInclusionParameters, verifyInclusion } from "./merkle/verifyInclusion.ts";
export { type Checkpoint, formatCheckpoint, parseCheckpoint } from "./note/checkpoint.ts";
export { cosignedAt, parseCosignerKey } from "./note/cosignature.ts";
export { formatSignedNote, isNoteSignedBy, parseSignedNote, type SignedNote } from "./note/signedNote.ts";
export {
  isQuorum,
  type PolicyWitness,
  parseTrustPolicy,
  policyObjection,
  type TrustPolicy,
  witnessesOf,
} from "./note/trustPolicy.ts";
export { type DatedVerifierKey, parseVerifierKeys } from "./note/verifierKeys.ts";
export {
  type ProofBundle,
  parseProofBundle,
  UnconfirmedWriterError,
  type VerifiedProof,
  type VerifyProofParameters,
  verifyProofBundle,
} from "./proof/proofBundle.ts";
export { ProofError } from "./proof/provenEntry.ts";
export {
  formatTlogProof,
  parseTlogProof,
  type TlogProof,
  type VerifiedTlogProof,
  verifyTlogProof,
} from "./proof/tlogProof.ts";
