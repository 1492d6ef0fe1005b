import type { Target } from "./compiler.ts";

/**
 * A source file to mutate, the contracts that are compiled from it, and the tests that must notice a mutant.
 * Quick tests that notice much come first, because a round ends at the first test that fails.
 */
export type Subject = { file: string; targets: Target[]; tests: string[] };

const escrow: Target = { source: "contracts/HireEscrow.sol", contract: "HireEscrow" };
const ledger: Target = { source: "contracts/AnchoredLedger.sol", contract: "AnchoredLedger" };
const harness: Target = { source: "contracts/test/LibrariesHarness.sol", contract: "LibrariesHarness" };

const escrowTests = [
  "test/contracts/hireEscrow/{edges,growingBalance,split,refund,deposit,timeoutRefund,markDelivered,construction}.test.ts",
  "test/contracts/hireEscrow/!(matrix).test.ts",
  "test/contracts/hireEscrow/matrix.test.ts",
];
const ledgerTests = ["test/contracts/anchoredLedger/{open,anchor,proveFork,succession}.test.ts"];

/** Every contract that is deployed, and the libraries in it. */
export const subjects: Subject[] = [
  { file: "EscrowBook.sol", targets: [escrow], tests: escrowTests },
  { file: "HireEscrow.sol", targets: [escrow], tests: escrowTests },
  { file: "LedgerBook.sol", targets: [ledger], tests: ledgerTests },
  { file: "AnchoredLedger.sol", targets: [ledger], tests: ledgerTests },
  {
    file: "libraries/Rfc9162.sol",
    targets: [ledger, harness],
    tests: ["test/contracts/anchoredLedger/*.test.ts"],
  },
  {
    file: "libraries/Signatures.sol",
    targets: [escrow, harness],
    tests: ["test/contracts/hireEscrow/{signers,depositWithAuthorization,depositWithPermit}.test.ts"],
  },
];
