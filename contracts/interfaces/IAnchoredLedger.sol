// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Rfc9162} from "../libraries/Rfc9162.sol";

/// @title AnchoredLedger
/// @notice Keeps the head (size and root) of any number of append-only ledgers. It accepts a new head only with an RFC
/// 9162 consistency proof that starts from the stored head, and checks the proof on chain. So nobody can rewrite or
/// fork what is anchored, not even the ledger's own writer. A log that somebody serves is the ledger only if it leads
/// to these roots.
///
/// Trees are SHA-256 Merkle trees as in RFC 6962 §2.1 (leaf prefix 0x00, node prefix 0x01), with at most 2^63 leaves.
/// Nobody owns the contract, and it holds no money.
///
/// A *word* is a size and a root that a writer signed. It is signed as a `Head`, like every published checkpoint, or as
/// an `Anchor`. Two words that cannot belong to one history mark the ledger permanently ({proveFork}). Words of one
/// history never mark it, in any number and order, with any sizes and sequence numbers (`seq`).
///
/// A ledger may have a guardian. It is named when the ledger is opened, and never changes. The writer and the guardian
/// can announce a new writer, which can take over 7 days later ({announceWriter}). Whoever has the writer's key can end
/// the ledger by signing one false word. Whoever has the guardian's key can become the writer after 7 days. Neither can
/// rewrite what is anchored.
///
/// The contract cannot force a writer to anchor (see {isStale}), to publish the entries behind a root, or to write
/// sensible entries. Beyond the last anchored size, a writer can show different logs to different readers. The next
/// anchor can extend only one of these logs. The words that the writer signed for two such logs are evidence of a fork.
interface IAnchoredLedger {
    /// @notice The last anchored state of a ledger.
    /// @param root Root of the Merkle tree over the first `size` entries. Without entries: SHA-256 of no bytes.
    /// @param size Number of entries.
    /// @param time Block time of the last anchor, in unix seconds. Before the first anchor: block time of the opening.
    /// @param seq Number of anchors so far. The next anchor has seq + 1.
    struct Head {
        bytes32 root;
        uint64 size;
        uint64 time;
        uint64 seq;
    }

    /// @notice Where a word comes from.
    enum WordKind {
        /// @notice The stored head. The other fields of the word are not read.
        Stored,
        /// @notice Signed as EIP-712 `Head(bytes32 ledgerId,uint64 size,bytes32 root)`; `seq` is not read.
        Head,
        /// @notice Signed as EIP-712 `Anchor(bytes32 ledgerId,uint64 seq,uint64 newSize,bytes32 newRoot)`.
        Anchor
    }

    /// @notice A size and a root that a writer signed, or the stored head.
    /// @param kind Where the word comes from.
    /// @param signer The writer, or a former writer.
    /// @param seq For an `Anchor`: the number that was signed. It is never compared: an honest writer may sign two
    /// anchors with the same number. This happens when the ledger grew in between, or when a reorganization removed an
    /// anchor.
    /// @param size Number of entries.
    /// @param root Root of the tree over these entries.
    /// @param signature The signer's signature: 65 bytes, ERC-1271, or ERC-6492 of a deployed wallet.
    struct Word {
        WordKind kind;
        address signer;
        uint64 seq;
        uint64 size;
        bytes32 root;
        bytes signature;
    }

    /// @notice The ledger exists from this event on.
    /// @param ledgerId keccak256(abi.encode(chainid, this contract, writer, guardian, origin)).
    /// @param writer The first writer: the account that extends the ledger.
    /// @param guardian The account that can also announce a new writer; the zero address means nobody.
    /// @param origin Name of the log, as its checkpoints spell it (C2SP tlog-checkpoint).
    event Opened(bytes32 indexed ledgerId, address indexed writer, address guardian, string origin);

    /// @notice The ledger now has `newSize` anchored entries, whose tree has the root `root`. An anchor with oldSize ==
    /// newSize is a heartbeat: it only shows that the writer is active.
    /// @param ledgerId The ledger.
    /// @param seq Number of this anchor. Anchors are numbered from 1, without gaps.
    /// @param oldSize Number of entries before.
    /// @param newSize Number of entries now.
    /// @param root Root of the tree over the first newSize entries.
    event Anchored(
        bytes32 indexed ledgerId, uint64 indexed seq, uint64 oldSize, uint64 newSize, bytes32 root
    );

    /// @notice A writer signed two histories. From now on nothing can be anchored in this ledger, and readers load no
    /// further entries.
    /// @param ledgerId The ledger.
    /// @param size Number of entries of the shorter word.
    /// @param root Root of the shorter word.
    /// @param ownRoot Root of the longer word's tree over its first `size` entries.
    event Equivocated(bytes32 indexed ledgerId, uint64 size, bytes32 root, bytes32 ownRoot);

    /// @notice `next` can become the writer from `readyAt` on. If the guardian made the announcement, nothing can be
    /// anchored until `next` accepts or the guardian withdraws.
    /// @param ledgerId The ledger.
    /// @param next The account that can accept.
    /// @param by The writer or the guardian: who sent the transaction.
    /// @param readyAt Unix seconds from which `next` can accept.
    event WriterAnnounced(bytes32 indexed ledgerId, address indexed next, address indexed by, uint64 readyAt);

    /// @notice The announcement was withdrawn: nobody is announced as the next writer.
    /// @param ledgerId The ledger.
    /// @param by The writer or the guardian: who sent the transaction.
    event AnnouncementWithdrawn(bytes32 indexed ledgerId, address indexed by);

    /// @notice From the entry at position `size` on, `next` is the writer of the ledger.
    /// @param ledgerId The ledger.
    /// @param previous The previous writer. For 30 days its words remain evidence, up to `size` entries.
    /// @param next The new writer.
    /// @param size Number of entries that were anchored at the change.
    event WriterChanged(
        bytes32 indexed ledgerId, address indexed previous, address indexed next, uint64 size
    );

    /// @notice No ledger has this id.
    error UnknownLedger(bytes32 ledgerId);
    /// @notice This writer, guardian and origin have a ledger already.
    error AlreadyOpen(bytes32 ledgerId);
    /// @notice The origin must have 1 to `limit` bytes.
    error OriginLength(uint256 actual, uint256 limit);
    /// @notice The writer must not be the zero address.
    error WriterIsZero();
    /// @notice Only the writer can send an anchor without a signature. In proveFork: the signer was never a writer.
    error NotWriter(address actual, address writer);
    /// @notice The signature over these terms is not the writer's.
    error InvalidSignature(address writer);
    /// @notice The proof does not show that the larger tree begins with the smaller tree.
    error Inconsistent(Rfc9162.Verdict reason, uint64 oldSize, uint64 newSize);
    /// @notice It is proven that a writer of this ledger signed two histories.
    error LedgerEquivocated(bytes32 ledgerId);
    /// @notice The first word must not be longer than the second.
    error SizesDiffer(uint64 a, uint64 b);
    /// @notice The tree of the longer word contains the shorter word, so both belong to one history.
    error RootsAgree(bytes32 root);
    /// @notice A former writer's word is evidence only up to `lastSize` entries, and until the time `until`.
    error NoEvidence(address signer, uint64 size, uint64 lastSize, uint64 until);
    /// @notice Only the writer or the guardian can announce a writer.
    error NotWriterOrGuardian(address actual, address writer, address guardian);
    /// @notice This account is already the ledger's writer.
    error AlreadyWriter(address account);
    /// @notice This account was a writer of this ledger before, and cannot become the writer again. Otherwise words
    /// that it signed back then, about entries that were never anchored, would be evidence again.
    error WasWriter(address account);
    /// @notice The guardian has announced a writer. Nothing can be anchored now, and only the guardian can replace or
    /// withdraw the announcement.
    error GuardianAnnounced(bytes32 ledgerId);
    /// @notice Nobody is announced as the next writer.
    error NothingAnnounced(bytes32 ledgerId);
    /// @notice Another account is announced as the next writer.
    error NotAnnounced(address actual, address next);
    /// @notice Too early: the announced account can accept from `readyAt` on.
    error TooEarly(uint64 time, uint64 readyAt);

    /// @notice Opens a ledger. Anyone can open one for any writer, because the arguments decide its id and only the
    /// writer can extend it.
    /// @param origin Name of the log, 1 to 255 bytes.
    /// @param writer The account that will sign or send its anchors: a key or an ERC-1271 contract.
    /// @param guardian The account that can announce another writer if the writer's key is lost or stolen; the zero
    /// address means nobody. The guardian never changes. A guardian that is also the writer gives no protection.
    /// @return ledgerId keccak256(abi.encode(block.chainid, address(this), writer, guardian, origin)).
    function open(string calldata origin, address writer, address guardian) external returns (bytes32 ledgerId);

    /// @notice Extends a ledger to `newSize` entries, whose tree has the root `newRoot`. An anchor of the same size is
    /// a heartbeat: it must have the same root.
    /// @dev Reverts with {Inconsistent} unless the proof leads from the stored head to the new one.
    /// @param ledgerId The ledger.
    /// @param newSize Number of entries now: at least the stored size, at most 2^63.
    /// @param newRoot Root of the tree over these entries.
    /// @param consistencyProof RFC 9162 §2.1.4 path from the stored size to newSize. It is empty if the stored size is
    /// 0, and for a heartbeat.
    /// @param signature Empty if the writer sends the transaction. Otherwise the writer's signature over EIP-712
    /// `Anchor(bytes32 ledgerId,uint64 seq,uint64 newSize,bytes32 newRoot)`: 65 bytes, ERC-1271, or ERC-6492 of a
    /// deployed wallet. In it, seq is head.seq + 1. So the signature works only for the next anchor, and only once.
    function anchor(
        bytes32 ledgerId,
        uint64 newSize,
        bytes32 newRoot,
        bytes32[] calldata consistencyProof,
        bytes calldata signature
    ) external;

    /// @notice Marks a ledger permanently, because two words of its writers do not belong to one history. One of the
    /// two may be the stored head. Anyone can bring the evidence.
    /// @dev The proof shows that the tree of `b` has the root `ownRoot` over its first `a.size` entries. The root of
    /// `a` must differ from it. If both words have the same size, the proof is empty and `ownRoot` is the root of `b`.
    /// Reverts with {NotWriter} or {NoEvidence} if a word is not evidence. Also reverts with {UnknownLedger},
    /// {LedgerEquivocated}, {InvalidSignature}, {SizesDiffer}, {Inconsistent} or {RootsAgree}.
    /// @param ledgerId The ledger.
    /// @param a The word with fewer entries. If both have the same number, either word.
    /// @param b The other word.
    /// @param ownRoot Root of the tree of `b` over its first `a.size` entries.
    /// @param consistencyProof RFC 9162 §2.1.4 path from `a.size` to `b.size` in the tree of `b`.
    function proveFork(
        bytes32 ledgerId,
        Word calldata a,
        Word calldata b,
        bytes32 ownRoot,
        bytes32[] calldata consistencyProof
    ) external;

    /// @notice Announces the next writer, which can call {acceptWriter} 7 days later. Only the writer and the guardian
    /// can call this. A new announcement replaces the old one, and the 7 days start again. Naming the present writer as
    /// `next` withdraws the announcement.
    /// @dev The writer can neither replace nor withdraw an announcement of the guardian. Until such an announcement is
    /// accepted or withdrawn, nothing can be anchored. The guardian announces when somebody else has the writer's key,
    /// or when the key is lost.
    /// @param ledgerId The ledger.
    /// @param next An account that was never a writer of this ledger. Or the present writer, to withdraw.
    function announceWriter(bytes32 ledgerId, address next) external;

    /// @notice Makes the announced account the writer. Only this account can call this, from `readyAt` on.
    /// @param ledgerId The ledger.
    function acceptWriter(bytes32 ledgerId) external;

    /// @notice The last anchored state.
    /// @param ledgerId The ledger. Reverts if there is no such ledger.
    function head(bytes32 ledgerId) external view returns (Head memory);

    /// @notice The writer of a ledger; the zero address if there is no such ledger.
    function writerOf(bytes32 ledgerId) external view returns (address);

    /// @notice The guardian of a ledger; the zero address if the ledger has none, or if there is no such ledger.
    function guardianOf(bytes32 ledgerId) external view returns (address);

    /// @notice Who is announced as the next writer. All values are zero if nobody is announced.
    /// @param ledgerId The ledger.
    /// @return next The account that can accept.
    /// @return readyAt Unix seconds from which it can accept.
    /// @return halted Whether the guardian made the announcement. If so, nothing can be anchored.
    function announcedWriter(bytes32 ledgerId)
        external
        view
        returns (address next, uint64 readyAt, bool halted);

    /// @notice The limits within which a former writer's words are evidence: the largest size, and the last time in
    /// unix seconds. Both are zero for any other account.
    /// @param ledgerId The ledger.
    /// @param account The account.
    function formerWriter(bytes32 ledgerId, address account) external view returns (uint64 size, uint64 until);

    /// @notice Whether it is proven that a writer signed two histories.
    function isEquivocated(bytes32 ledgerId) external view returns (bool);

    /// @notice Whether a leaf is in the ledger, at the last anchored size.
    /// @param ledgerId The ledger. Reverts if there is no such ledger.
    /// @param leafHash SHA-256(0x00 ‖ the entry's canonical bytes).
    /// @param index Position of the entry, from 0.
    /// @param proof RFC 9162 §2.1.3 path for the anchored size.
    function verifyInclusion(bytes32 ledgerId, bytes32 leafHash, uint64 index, bytes32[] calldata proof)
        external
        view
        returns (bool);

    /// @notice Whether a leaf is in the ledger, as it was at an earlier size. So an old inclusion proof stays useful
    /// after the ledger grew: only the consistency proof must be new.
    /// @param ledgerId The ledger. Reverts if there is no such ledger.
    /// @param leafHash SHA-256(0x00 ‖ the entry's canonical bytes).
    /// @param index Position of the entry, from 0.
    /// @param inclusionProof RFC 9162 §2.1.3 path for `size`.
    /// @param size Number of entries of the earlier tree, at most the anchored size.
    /// @param root Root of the earlier tree.
    /// @param consistencyProof RFC 9162 §2.1.4 path from `size` to the anchored size.
    function verifyInclusionAt(
        bytes32 ledgerId,
        bytes32 leafHash,
        uint64 index,
        bytes32[] calldata inclusionProof,
        uint64 size,
        bytes32 root,
        bytes32[] calldata consistencyProof
    ) external view returns (bool);

    /// @notice Whether more than `maxAge` seconds have passed since the last anchor. Before the first anchor: since the
    /// opening.
    /// @param ledgerId The ledger. Reverts if there is no such ledger.
    /// @param maxAge Seconds.
    function isStale(bytes32 ledgerId, uint256 maxAge) external view returns (bool);
}
