/** A change of text in one file; the text occurs there once. */
export type TextChange = { what: string; file: string; find: string; replace: string };

/** A fault that a programmer could make. */
export type InsertedFault = TextChange;

/** A property that is proved for a contract as it is deployed. */
export type Property = {
  /** The harness contract that asserts it. Its file in contracts/test/proofs/ has the same name. */
  contract: string;
  /** The property, in one sentence. */
  claim: string;
  /**
   * A part of the code that is replaced by one with any behaviour. The proof then holds for every behaviour
   * of that part.
   */
  abstraction?: TextChange;
  /** The proof must fail with each of these faults. Otherwise it would prove nothing. */
  faults: InsertedFault[];
};

const escrowBook = "contracts/EscrowBook.sol";
const ledgerBook = "contracts/LedgerBook.sol";

/**
 * The solver cannot follow the hashes and loops of consistency proofs, and tests cover them exhaustively. So here the
 * walk along the nodes of a proof may have any result.
 */
const anyWalk: TextChange = {
  what: "the check of a consistency proof may give any result",
  file: "contracts/libraries/Rfc9162.sol",
  find: "return _walkConsistency(oldSize - 1, oldRoot, newSize - 1, newRoot, proof);",
  replace: "return Verdict(gasleft() % 8);",
};

/** All proved properties, in the order of docs/SECURITY.md. */
export const properties: Property[] = [
  {
    contract: "OpenedOnce",
    claim:
      "A hire is opened only if it was never opened before. Then it holds exactly its amount, which is not zero.",
    faults: [
      {
        what: "a settled hire can be opened again",
        file: escrowBook,
        find: "_requireStatus(id, _slots[id].status, IHireEscrow.Status.None);",
        replace: "",
      },
    ],
  },
  {
    contract: "ClosedOnce",
    claim: "A hire is closed only while it is held, for exactly what it holds, and holds nothing afterwards.",
    faults: [
      {
        what: "what was paid out stays in the book",
        file: escrowBook,
        find: "_slots[id].amount = 0;",
        replace: "",
      },
    ],
  },
  {
    contract: "NeverTwice",
    claim: "Through any sequence of calls, a hire is opened at most once and closed at most once.",
    faults: [
      {
        what: "a closed hire has the status of a new one",
        file: escrowBook,
        find: "_slots[id].status = uint8(outcome);",
        replace: "_slots[id].status = uint8(IHireEscrow.Status.None);",
      },
    ],
  },
  {
    contract: "DeliveryMovesNothing",
    claim: "Marking delivery works once, on a held hire, and changes neither its status nor its amount.",
    faults: [
      {
        what: "a mark settles the hire",
        file: escrowBook,
        find: "_slots[id].delivered = true;",
        replace: "_slots[id].delivered = true;\n_slots[id].status = uint8(IHireEscrow.Status.Released);",
      },
    ],
  },
  {
    contract: "OthersUntouched",
    claim: "What is done for one hire changes no other hire and no credit.",
    faults: [
      {
        what: "closing a hire clears another",
        file: escrowBook,
        find: "_slots[id].amount = 0;",
        replace: "_slots[id].amount = 0;\n_slots[bytes32(0)].amount = 0;",
      },
    ],
  },
  {
    contract: "PartsAddUp",
    claim:
      "The parts of a split add up to the amount, and the payee's part is at most what the buyer allowed.",
    faults: [
      {
        what: "the buyer gets back what the seller is paid",
        file: escrowBook,
        find: "toBuyer = amount - toSeller;",
        replace: "toBuyer = amount;",
      },
    ],
  },
  {
    contract: "RestIsCredited",
    claim:
      "The part of a payment that the token did not move is credited to its recipient. Nobody gets another credit.",
    faults: [
      {
        what: "a payment made in part is credited in full",
        file: escrowBook,
        find: "missing = amount - taken;",
        replace: "missing = amount;",
      },
    ],
  },
  {
    contract: "CreditTakenOnce",
    claim: "A credit is taken once, for all that was put there, and no other credit changes.",
    faults: [
      {
        what: "a credit can be withdrawn again",
        file: escrowBook,
        find: "_credits[account] = 0;",
        replace: "",
      },
    ],
  },
  {
    contract: "OwesWhatItHas",
    claim:
      "Through any sequence of calls, the tokens that came in minus those that went out are Σ held + Σ credits.",
    faults: [
      {
        what: "a payment made in part is credited in full",
        file: escrowBook,
        find: "missing = amount - taken;",
        replace: "missing = amount;",
      },
    ],
  },
  {
    contract: "NeverShrinks",
    abstraction: anyWalk,
    claim: "An anchor never shrinks a ledger, changes its root only by growing it, and has the next number.",
    faults: [
      {
        what: "a proof may lead to a smaller tree",
        file: "contracts/libraries/Rfc9162.sol",
        find: "if (oldSize > newSize) return Verdict.SizeShrinks;",
        replace: "",
      },
    ],
  },
  {
    contract: "MarkedForGood",
    abstraction: anyWalk,
    claim: "A marked ledger is never extended, no mark is ever cleared, and marking changes no head.",
    faults: [
      {
        what: "a marked ledger accepts anchors",
        file: ledgerBook,
        find: "require(!_ledgers[id].equivocated, IAnchoredLedger.LedgerEquivocated(id));",
        replace: "",
      },
    ],
  },
  {
    contract: "WriterStays",
    abstraction: anyWalk,
    claim: "A ledger is opened once, keeps its guardian, and no opening or anchoring changes a writer.",
    faults: [
      {
        what: "opening again replaces the writer",
        file: ledgerBook,
        find: "require(_ledgers[id].writer == address(0), IAnchoredLedger.AlreadyOpen(id));",
        replace: "",
      },
    ],
  },
  {
    contract: "WriterChangesInTurn",
    abstraction: anyWalk,
    claim:
      "Only the announced account can follow a writer, and only in its time. A former writer never returns. The writer cannot change what its guardian announced.",
    faults: [
      {
        what: "the writer replaces what the guardian announced",
        file: ledgerBook,
        find: "require(byGuardian || !_ledgers[id].halted, IAnchoredLedger.GuardianAnnounced(id));",
        replace: "",
      },
      {
        what: "a former writer is announced again",
        file: ledgerBook,
        find: "require(_formerWriters[id][next].until == 0, IAnchoredLedger.WasWriter(next));",
        replace: "",
      },
      {
        what: "what the guardian announced does not stop the anchoring",
        file: ledgerBook,
        find: "require(!_ledgers[id].halted, IAnchoredLedger.GuardianAnnounced(id));",
        replace: "",
      },
    ],
  },
];
