// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {IAnchoredLedger} from "./interfaces/IAnchoredLedger.sol";
import {LedgerBook} from "./LedgerBook.sol";
import {Rfc9162} from "./libraries/Rfc9162.sol";
import {Signatures} from "./libraries/Signatures.sol";

/// @title AnchoredLedger
/// @notice {IAnchoredLedger} says what this contract does and what it cannot do. {LedgerBook} does the bookkeeping.
contract AnchoredLedger is IAnchoredLedger, LedgerBook, EIP712 {
    bytes32 private constant ANCHOR_TYPEHASH =
        keccak256("Anchor(bytes32 ledgerId,uint64 seq,uint64 newSize,bytes32 newRoot)");
    bytes32 private constant HEAD_TYPEHASH = keccak256("Head(bytes32 ledgerId,uint64 size,bytes32 root)");

    /// @dev An origin is a name. The limit keeps the event {Opened} small.
    uint256 private constant MAX_ORIGIN_LENGTH = 255;

    constructor() EIP712("Tallystick AnchoredLedger", "1") {}

    /// @inheritdoc IAnchoredLedger
    function open(string calldata origin, address writer, address guardian)
        external
        returns (bytes32 ledgerId)
    {
        uint256 length = bytes(origin).length;
        if (length == 0 || length > MAX_ORIGIN_LENGTH) revert OriginLength(length, MAX_ORIGIN_LENGTH);
        ledgerId = keccak256(abi.encode(block.chainid, address(this), writer, guardian, origin));
        _create(ledgerId, writer, guardian);
        emit Opened(ledgerId, writer, guardian, origin);
    }

    /// @inheritdoc IAnchoredLedger
    function anchor(
        bytes32 ledgerId,
        uint64 newSize,
        bytes32 newRoot,
        bytes32[] calldata consistencyProof,
        bytes calldata signature
    ) external {
        _requireUsable(ledgerId);
        address writer = _writer(ledgerId);
        (,,, uint64 lastSeq) = _head(ledgerId);
        uint64 seq = lastSeq + 1;

        if (signature.length == 0) {
            if (msg.sender != writer) revert NotWriter(msg.sender, writer);
        } else {
            _requireSigned(writer, _anchorTerms(ledgerId, seq, newSize, newRoot), signature);
        }

        uint64 oldSize = _extend(ledgerId, newSize, newRoot, consistencyProof);
        emit Anchored(ledgerId, seq, oldSize, newSize, newRoot);
    }

    /// @inheritdoc IAnchoredLedger
    function proveFork(
        bytes32 ledgerId,
        Word calldata a,
        Word calldata b,
        bytes32 ownRoot,
        bytes32[] calldata consistencyProof
    ) external {
        _requireUsable(ledgerId);
        (uint64 sizeA, bytes32 rootA) = _requireWord(ledgerId, a);
        (uint64 sizeB, bytes32 rootB) = _requireWord(ledgerId, b);
        if (sizeA > sizeB) revert SizesDiffer(sizeA, sizeB);
        Rfc9162.Verdict verdict = Rfc9162.checkConsistency(sizeA, ownRoot, sizeB, rootB, consistencyProof);
        if (verdict != Rfc9162.Verdict.Valid) revert Inconsistent(verdict, sizeA, sizeB);
        if (ownRoot == rootA) revert RootsAgree(rootA);
        _mark(ledgerId);
        emit Equivocated(ledgerId, sizeA, rootA, ownRoot);
    }

    /// @inheritdoc IAnchoredLedger
    function announceWriter(bytes32 ledgerId, address next) external {
        _requireKnown(ledgerId);
        address writer = _writer(ledgerId);
        address guardian = _guardian(ledgerId);
        // If one account is both, it counts as the writer: then nobody else guards the ledger.
        bool byGuardian = msg.sender == guardian && guardian != writer;
        if (!byGuardian && msg.sender != writer) revert NotWriterOrGuardian(msg.sender, writer, guardian);
        if (next == writer) {
            _withdraw(ledgerId, byGuardian);
            emit AnnouncementWithdrawn(ledgerId, msg.sender);
        } else {
            uint64 readyAt = _announce(ledgerId, next, byGuardian);
            emit WriterAnnounced(ledgerId, next, msg.sender, readyAt);
        }
    }

    /// @inheritdoc IAnchoredLedger
    function acceptWriter(bytes32 ledgerId) external {
        (address previous, uint64 size) = _accept(ledgerId, msg.sender);
        emit WriterChanged(ledgerId, previous, msg.sender, size);
    }

    /// @inheritdoc IAnchoredLedger
    function head(bytes32 ledgerId) external view returns (Head memory) {
        (bytes32 root, uint64 size, uint64 time, uint64 seq) = _knownHead(ledgerId);
        return Head({root: root, size: size, time: time, seq: seq});
    }

    /// @inheritdoc IAnchoredLedger
    function writerOf(bytes32 ledgerId) external view returns (address) {
        return _writer(ledgerId);
    }

    /// @inheritdoc IAnchoredLedger
    function guardianOf(bytes32 ledgerId) external view returns (address) {
        return _guardian(ledgerId);
    }

    /// @inheritdoc IAnchoredLedger
    function announcedWriter(bytes32 ledgerId)
        external
        view
        returns (address next, uint64 readyAt, bool halted)
    {
        return _announced(ledgerId);
    }

    /// @inheritdoc IAnchoredLedger
    function formerWriter(bytes32 ledgerId, address account) external view returns (uint64 size, uint64 until) {
        return _former(ledgerId, account);
    }

    /// @inheritdoc IAnchoredLedger
    function isEquivocated(bytes32 ledgerId) external view returns (bool) {
        return _isMarked(ledgerId);
    }

    /// @inheritdoc IAnchoredLedger
    function verifyInclusion(bytes32 ledgerId, bytes32 leafHash, uint64 index, bytes32[] calldata proof)
        external
        view
        returns (bool)
    {
        (bytes32 root, uint64 size,,) = _knownHead(ledgerId);
        return Rfc9162.checkInclusion(leafHash, index, size, root, proof) == Rfc9162.Verdict.Valid;
    }

    /// @inheritdoc IAnchoredLedger
    function verifyInclusionAt(
        bytes32 ledgerId,
        bytes32 leafHash,
        uint64 index,
        bytes32[] calldata inclusionProof,
        uint64 size,
        bytes32 root,
        bytes32[] calldata consistencyProof
    ) external view returns (bool) {
        (bytes32 storedRoot, uint64 storedSize,,) = _knownHead(ledgerId);
        return Rfc9162.checkConsistency(size, root, storedSize, storedRoot, consistencyProof)
                == Rfc9162.Verdict.Valid
            && Rfc9162.checkInclusion(leafHash, index, size, root, inclusionProof) == Rfc9162.Verdict.Valid;
    }

    /// @inheritdoc IAnchoredLedger
    function isStale(bytes32 ledgerId, uint256 maxAge) external view returns (bool) {
        (,, uint64 time,) = _knownHead(ledgerId);
        return block.timestamp - time > maxAge;
    }

    function _knownHead(bytes32 id)
        private
        view
        returns (bytes32 root, uint64 size, uint64 time, uint64 seq)
    {
        _requireKnown(id);
        return _head(id);
    }

    /// @dev The size and the root of a word. Reverts if the word is neither the stored head nor signed by a writer.
    function _requireWord(bytes32 ledgerId, Word calldata word) private view returns (uint64 size, bytes32 root) {
        if (word.kind == WordKind.Stored) {
            (root, size,,) = _head(ledgerId);
            return (size, root);
        }
        (size, root) = (word.size, word.root);
        _requireEvidence(ledgerId, word.signer, size);
        bytes32 terms = word.kind == WordKind.Anchor
            ? _anchorTerms(ledgerId, word.seq, size, root)
            : keccak256(abi.encode(HEAD_TYPEHASH, ledgerId, size, root));
        _requireSigned(word.signer, terms, word.signature);
    }

    /// @dev The words of the writer are evidence at every size. The words of a former writer are evidence up to the
    /// size at the change, and only for a limited time.
    function _requireEvidence(bytes32 ledgerId, address signer, uint64 size) private view {
        address writer = _writer(ledgerId);
        if (signer == writer) return;
        (uint64 lastSize, uint64 until) = _former(ledgerId, signer);
        if (until == 0) revert NotWriter(signer, writer);
        if (size > lastSize || block.timestamp > until) revert NoEvidence(signer, size, lastSize, until);
    }

    function _anchorTerms(bytes32 ledgerId, uint64 seq, uint64 newSize, bytes32 newRoot)
        private
        pure
        returns (bytes32)
    {
        return keccak256(abi.encode(ANCHOR_TYPEHASH, ledgerId, seq, newSize, newRoot));
    }

    function _requireSigned(address signer, bytes32 terms, bytes calldata signature) private view {
        if (!Signatures.isSignedBy(signer, _hashTypedDataV4(terms), signature)) revert InvalidSignature(signer);
    }
}
