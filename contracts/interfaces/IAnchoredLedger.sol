// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Rfc9162} from "../libraries/Rfc9162.sol";

/// @title AnchoredLedger
/// @notice Keeps the head (size and root) of any number of append-only ledgers, and accepts a new head only with an
/// RFC 9162 consistency proof from the one it holds, checked on chain. So nobody, a ledger's own writer included, can
/// rewrite or fork what has been anchored; a log that anybody serves either leads to these roots or is not the ledger.
///
/// Trees are SHA-256 Merkle trees as in RFC 6962 §2.1 (leaf prefix 0x00, node prefix 0x01), sizes up to 2^63.
/// Nobody owns the contract, and it holds no money.
///
/// A *word* is a size and a root that a writer signed: a `Head`, as it stands under published checkpoints, or an
/// `Anchor`. Two words that no single history can contain mark the ledger for good ({proveFork}). Words of one history
/// never do, whatever their number, order, sizes or seqs.
///
/// A ledger may have a guardian, named once at its opening. Writer and guardian can announce a new writer, which takes
/// over 7 days later ({announceWriter}). Whoever has the writer's key can end the ledger with one false word; whoever
/// has the guardian's key can become the writer after 7 days. Neither can rewrite what is anchored.
///
/// What it cannot do: it cannot make a writer anchor (see {isStale}), publish the entries behind a root, or write
/// sensible entries. A writer can also show different logs to different readers beyond the last anchored size; two such
/// logs come together at the next anchor, and signed words of both are evidence.
interface IAnchoredLedger {
    /// @notice The last anchored state of a ledger.
    /// @param root Root of the Merkle tree over the first `size` entries (SHA-256 of no bytes when there are none).
    /// @param size Number of entries.
    /// @param time Block time of the last anchor, or of the opening before the first; unix seconds.
    /// @param seq Number of anchors so far. The next one has seq + 1.
    struct Head {
        bytes32 root;
        uint64 size;
        uint64 time;
        uint64 seq;
    }

    /// @notice Where a word comes from.
    enum WordKind {
        /// @notice The head stored here. Only `kind` counts; the other fields are not read.
        Stored,
        /// @notice Signed as EIP-712 `Head(bytes32 ledgerId,uint64 size,bytes32 root)`; `seq` is not read.
        Head,
        /// @notice Signed as EIP-712 `Anchor(bytes32 ledgerId,uint64 seq,uint64 newSize,bytes32 newRoot)`.
        Anchor
    }

    /// @notice What somebody said of a ledger.
    /// @param kind Where it comes from.
    /// @param signer The writer, or a former writer.
    /// @param seq Of an `Anchor`, the number that was signed. It decides nothing: an honest writer may sign two anchors
    /// of one number, when the ledger grew or a reorganisation undid one.
    /// @param size Number of entries.
    /// @param root Root over them.
    /// @param signature The signer's (65 bytes, ERC-1271, or ERC-6492 of a deployed wallet).
    struct Word {
        WordKind kind;
        address signer;
        uint64 seq;
        uint64 size;
        bytes32 root;
        bytes signature;
    }

    /// @notice A ledger exists from here on.
    /// @param ledgerId keccak256(abi.encode(chainid, this contract, writer, guardian, origin)).
    /// @param writer The first account whose word extends it.
    /// @param guardian Who may announce another writer besides the writer itself; the zero address for nobody.
    /// @param origin Name of the log, as its checkpoints spell it (C2SP tlog-checkpoint).
    event Opened(bytes32 indexed ledgerId, address indexed writer, address guardian, string origin);

    /// @notice The ledger now begins with `newSize` entries under `root`. A heartbeat has oldSize == newSize.
    /// @param ledgerId The ledger.
    /// @param seq Number of this anchor, from 1, without gaps.
    /// @param oldSize Entries before.
    /// @param newSize Entries now.
    /// @param root Root over the first newSize entries.
    event Anchored(
        bytes32 indexed ledgerId, uint64 indexed seq, uint64 oldSize, uint64 newSize, bytes32 root
    );

    /// @notice A writer signed two histories. Nothing can be anchored any more; readers load nothing more of it.
    /// @param ledgerId The ledger.
    /// @param size Entries of the shorter word.
    /// @param root Root of the shorter word.
    /// @param ownRoot Root that the longer word has at this size.
    event Equivocated(bytes32 indexed ledgerId, uint64 size, bytes32 root, bytes32 ownRoot);

    /// @notice `next` can become the writer from `readyAt` on. If the guardian announced it, nothing can be anchored
    /// until the change, or until the guardian withdraws.
    /// @param ledgerId The ledger.
    /// @param next The account that may accept.
    /// @param by The writer or the guardian.
    /// @param readyAt Unix seconds.
    event WriterAnnounced(bytes32 indexed ledgerId, address indexed next, address indexed by, uint64 readyAt);

    /// @notice Nobody is announced any more.
    /// @param ledgerId The ledger.
    /// @param by The writer or the guardian.
    event AnnouncementWithdrawn(bytes32 indexed ledgerId, address indexed by);

    /// @notice From the entry at position `size` on, `next` writes the ledger.
    /// @param ledgerId The ledger.
    /// @param previous The writer before. Its words are evidence up to `size`, for 30 days.
    /// @param next The writer now.
    /// @param size Entries anchored at the change.
    event WriterChanged(
        bytes32 indexed ledgerId, address indexed previous, address indexed next, uint64 size
    );

    /// @notice No ledger has this id.
    error UnknownLedger(bytes32 ledgerId);
    /// @notice This writer, guardian and origin have a ledger already.
    error AlreadyOpen(bytes32 ledgerId);
    /// @notice The origin must have 1 to `limit` bytes.
    error OriginLength(uint256 actual, uint256 limit);
    /// @notice A ledger without a writer could never be written.
    error WriterIsZero();
    /// @notice An anchor without a signature must be sent by the writer.
    error NotWriter(address actual, address writer);
    /// @notice The signature over these terms is not the writer's.
    error InvalidSignature(address writer);
    /// @notice The proof does not show that the new tree begins with the anchored one.
    error Inconsistent(Rfc9162.Verdict reason, uint64 oldSize, uint64 newSize);
    /// @notice The ledger's writer has been shown to have signed two histories.
    error LedgerEquivocated(bytes32 ledgerId);
    /// @notice The first word must not be longer than the second.
    error SizesDiffer(uint64 a, uint64 b);
    /// @notice The longer word contains the shorter one: that is one history.
    error RootsAgree(bytes32 root);
    /// @notice A former writer's word counts up to `lastSize` entries and until the time `until`.
    error NoEvidence(address signer, uint64 size, uint64 lastSize, uint64 until);
    /// @notice Only the writer or the guardian announces a writer.
    error NotWriterOrGuardian(address actual, address writer, address guardian);
    /// @notice This account writes the ledger already.
    error AlreadyWriter(address account);
    /// @notice This account was the writer before. It cannot return: words of its first time, about entries that were
    /// never anchored, would count as words of today.
    error WasWriter(address account);
    /// @notice The guardian has announced a writer: nothing can be anchored, and only the guardian replaces it.
    error GuardianAnnounced(bytes32 ledgerId);
    /// @notice Nobody is announced as the next writer.
    error NothingAnnounced(bytes32 ledgerId);
    /// @notice Another account is announced.
    error NotAnnounced(address actual, address next);
    /// @notice The announced account can accept from `readyAt` on.
    error TooEarly(uint64 time, uint64 readyAt);

    /// @notice Opens a ledger. Anyone may, for any writer: the id is fixed by the arguments and only the writer can use it.
    /// @param origin Name of the log, 1 to 255 bytes.
    /// @param writer The account that will sign or send its anchors: a key or an ERC-1271 contract.
    /// @param guardian The account that may announce another writer if the writer's key is lost or stolen; zero for
    /// nobody. It is fixed for good. A guardian that is the writer itself guards nothing.
    /// @return ledgerId keccak256(abi.encode(block.chainid, address(this), writer, guardian, origin)).
    function open(string calldata origin, address writer, address guardian) external returns (bytes32 ledgerId);

    /// @notice Extends a ledger to `newSize` entries under `newRoot`; the same size again is a heartbeat.
    /// @dev Reverts with {Inconsistent} unless the proof leads from the stored head to the new one.
    /// @param ledgerId The ledger.
    /// @param newSize Entries now; not fewer than before, at most 2^63.
    /// @param newRoot Root over them.
    /// @param consistencyProof RFC 9162 §2.1.4 path from the stored size to newSize; empty from size 0 and for a heartbeat.
    /// @param signature Empty when the writer sends; else the writer's over EIP-712
    /// `Anchor(bytes32 ledgerId,uint64 seq,uint64 newSize,bytes32 newRoot)` with seq = head.seq + 1, so that it is good
    /// once and only in its turn (65 bytes, ERC-1271, or ERC-6492 of a deployed wallet).
    function anchor(
        bytes32 ledgerId,
        uint64 newSize,
        bytes32 newRoot,
        bytes32[] calldata consistencyProof,
        bytes calldata signature
    ) external;

    /// @notice Marks a ledger for good: two words of its writers, of which at most one is the head stored here, do not
    /// belong to one history. Anyone may bring the evidence.
    /// @dev The proof shows that the longer word's tree has `ownRoot` over its first `a.size` entries, and `a` says
    /// another root. Words of one size: an empty proof, and `ownRoot` is the root of `b`.
    /// Reverts with {UnknownLedger}, {LedgerEquivocated}, {NotWriter} or {NoEvidence} (whose word counts),
    /// {InvalidSignature}, {SizesDiffer}, {Inconsistent}, {RootsAgree}.
    /// @param ledgerId The ledger.
    /// @param a The word with fewer (or as many) entries.
    /// @param b The other word.
    /// @param ownRoot What the tree of `b` has as its root over the first `a.size` entries.
    /// @param consistencyProof RFC 9162 §2.1.4 path from `a.size` to `b.size` in the tree of `b`.
    function proveFork(
        bytes32 ledgerId,
        Word calldata a,
        Word calldata b,
        bytes32 ownRoot,
        bytes32[] calldata consistencyProof
    ) external;

    /// @notice Announces the next writer; it may call {acceptWriter} 7 days later. By the writer or by the guardian.
    /// Another announcement replaces this one and starts the 7 days again; announcing the present writer withdraws it.
    /// @dev The writer can neither replace nor withdraw what the guardian announced, and while that stands nothing can
    /// be anchored: the guardian acts when the writer's key is in wrong hands.
    /// @param ledgerId The ledger.
    /// @param next The next writer: never a writer of this ledger before; or the present writer, to withdraw.
    function announceWriter(bytes32 ledgerId, address next) external;

    /// @notice The announced account becomes the writer, once its time has come.
    /// @param ledgerId The ledger.
    function acceptWriter(bytes32 ledgerId) external;

    /// @notice The last anchored state.
    /// @param ledgerId The ledger; reverts when unknown.
    function head(bytes32 ledgerId) external view returns (Head memory);

    /// @notice The account that writes a ledger; the zero address when there is no such ledger.
    function writerOf(bytes32 ledgerId) external view returns (address);

    /// @notice The account that may announce another writer; the zero address when there is none, or no such ledger.
    function guardianOf(bytes32 ledgerId) external view returns (address);

    /// @notice Who is announced as the next writer; all zero when nobody is.
    /// @param ledgerId The ledger.
    /// @return next The account that may accept.
    /// @return readyAt From when on it may; unix seconds.
    /// @return halted Whether the guardian announced it, so that nothing can be anchored.
    function announcedWriter(bytes32 ledgerId)
        external
        view
        returns (address next, uint64 readyAt, bool halted);

    /// @notice Up to which size and until when a former writer's words are evidence; both zero for any other account.
    /// @param ledgerId The ledger.
    /// @param account The account.
    function formerWriter(bytes32 ledgerId, address account) external view returns (uint64 size, uint64 until);

    /// @notice Whether a writer has been shown to have signed two histories.
    function isEquivocated(bytes32 ledgerId) external view returns (bool);

    /// @notice Whether a leaf is in the ledger as last anchored.
    /// @param ledgerId The ledger; reverts when unknown.
    /// @param leafHash SHA-256(0x00 ‖ the entry's canonical bytes).
    /// @param index Position of the entry, from 0.
    /// @param proof RFC 9162 §2.1.3 path for the anchored size.
    function verifyInclusion(bytes32 ledgerId, bytes32 leafHash, uint64 index, bytes32[] calldata proof)
        external
        view
        returns (bool);

    /// @notice Whether a leaf is in the ledger as it was at an earlier size: a proof made before the ledger grew goes on
    /// working with a fresh consistency proof.
    /// @param ledgerId The ledger; reverts when unknown.
    /// @param leafHash SHA-256(0x00 ‖ the entry's canonical bytes).
    /// @param index Position of the entry, from 0.
    /// @param inclusionProof RFC 9162 §2.1.3 path for `size`.
    /// @param size Entries of the earlier tree, at most the anchored size.
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

    /// @notice Whether more than `maxAge` seconds have passed since the last anchor (or the opening).
    /// @param ledgerId The ledger; reverts when unknown.
    /// @param maxAge Seconds.
    function isStale(bytes32 ledgerId, uint256 maxAge) external view returns (bool);
}
