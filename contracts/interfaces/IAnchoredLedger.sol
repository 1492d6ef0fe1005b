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
/// What it cannot do: it cannot make a writer anchor (see {isStale}), publish the entries behind a root, or write
/// sensible entries. A writer can also show different logs to different readers beyond the last anchored size; two such
/// logs come together at the next anchor, and two signed heads of them are evidence ({proveEquivocation}).
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

    /// @notice What a writer signs under every checkpoint it publishes (EIP-712 type `Head`).
    /// @param ledgerId The ledger.
    /// @param size Number of entries.
    /// @param root Root over them.
    struct SignedHead {
        bytes32 ledgerId;
        uint64 size;
        bytes32 root;
    }

    /// @notice A ledger exists from here on.
    /// @param ledgerId keccak256(abi.encode(chainid, this contract, writer, origin)).
    /// @param writer The only account whose word extends it.
    /// @param origin Name of the log, as its checkpoints spell it (C2SP tlog-checkpoint).
    event Opened(bytes32 indexed ledgerId, address indexed writer, string origin);

    /// @notice The ledger now begins with `newSize` entries under `root`. A heartbeat has oldSize == newSize.
    /// @param ledgerId The ledger.
    /// @param seq Number of this anchor, from 1, without gaps.
    /// @param oldSize Entries before.
    /// @param newSize Entries now.
    /// @param root Root over the first newSize entries.
    event Anchored(
        bytes32 indexed ledgerId, uint64 indexed seq, uint64 oldSize, uint64 newSize, bytes32 root
    );

    /// @notice The writer signed two histories. Nothing can be anchored any more; readers load nothing more of it.
    /// @param ledgerId The ledger.
    /// @param size The size for which two roots were signed or anchored.
    /// @param rootA One root.
    /// @param rootB The other root.
    event Equivocated(bytes32 indexed ledgerId, uint64 size, bytes32 rootA, bytes32 rootB);

    /// @notice No ledger has this id.
    error UnknownLedger(bytes32 ledgerId);
    /// @notice This writer and origin have a ledger already.
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
    /// @notice Two heads contradict each other only if they are of one ledger.
    error LedgersDiffer(bytes32 a, bytes32 b);
    /// @notice Two heads contradict each other only if they are of one size.
    error SizesDiffer(uint64 a, uint64 b);
    /// @notice Two heads with one root do not contradict each other.
    error RootsAgree(bytes32 root);

    /// @notice Opens a ledger. Anyone may, for any writer: the id is fixed by the arguments and only the writer can use it.
    /// @param origin Name of the log, 1 to 255 bytes.
    /// @param writer The account that will sign or send its anchors: a key or an ERC-1271 contract.
    /// @return ledgerId keccak256(abi.encode(block.chainid, address(this), writer, origin)).
    function open(string calldata origin, address writer) external returns (bytes32 ledgerId);

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

    /// @notice Marks a ledger for good: its writer signed `signedHead`, and the head stored here has the same size and
    /// another root. Anyone may bring the evidence.
    /// @param signedHead What the writer signed.
    /// @param signature The writer's, over EIP-712 `Head(bytes32 ledgerId,uint64 size,bytes32 root)`.
    function proveEquivocation(SignedHead calldata signedHead, bytes calldata signature) external;

    /// @notice Marks a ledger for good: its writer signed two heads of one size with different roots.
    /// @param headA One signed head.
    /// @param signatureA The writer's signature of it.
    /// @param headB The other, of the same ledger and size.
    /// @param signatureB The writer's signature of it.
    function proveEquivocation(
        SignedHead calldata headA,
        bytes calldata signatureA,
        SignedHead calldata headB,
        bytes calldata signatureB
    ) external;

    /// @notice The last anchored state.
    /// @param ledgerId The ledger; reverts when unknown.
    function head(bytes32 ledgerId) external view returns (Head memory);

    /// @notice The account that writes a ledger; the zero address when there is no such ledger.
    function writerOf(bytes32 ledgerId) external view returns (address);

    /// @notice Whether the writer has been shown to have signed two histories.
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

    /// @notice Whether more than `maxAge` seconds have passed since the last anchor (or the opening).
    /// @param ledgerId The ledger; reverts when unknown.
    /// @param maxAge Seconds.
    function isStale(bytes32 ledgerId, uint256 maxAge) external view returns (bool);
}
