// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {IAnchoredLedger} from "./interfaces/IAnchoredLedger.sol";
import {Rfc9162} from "./libraries/Rfc9162.sol";
import {Signatures} from "./libraries/Signatures.sol";

/// @title AnchoredLedger
/// @notice See {IAnchoredLedger} for what it promises and what it cannot.
contract AnchoredLedger is IAnchoredLedger, EIP712 {
    /// @dev Writer and mark share a slot, so reading the mark costs an anchor nothing.
    struct Ledger {
        address writer;
        bool equivocated;
        Head head;
    }

    bytes32 private constant ANCHOR_TYPEHASH =
        keccak256("Anchor(bytes32 ledgerId,uint64 seq,uint64 newSize,bytes32 newRoot)");
    bytes32 private constant HEAD_TYPEHASH = keccak256("Head(bytes32 ledgerId,uint64 size,bytes32 root)");

    /// @dev A name, not a document: keeps the opening event small.
    uint256 private constant MAX_ORIGIN_LENGTH = 255;

    mapping(bytes32 ledgerId => Ledger) private _ledgers;

    constructor() EIP712("Tallystick AnchoredLedger", "1") {}

    /// @inheritdoc IAnchoredLedger
    function open(string calldata origin, address writer) external returns (bytes32 ledgerId) {
        uint256 length = bytes(origin).length;
        if (length == 0 || length > MAX_ORIGIN_LENGTH) revert OriginLength(length, MAX_ORIGIN_LENGTH);
        if (writer == address(0)) revert WriterIsZero();
        ledgerId = keccak256(abi.encode(block.chainid, address(this), writer, origin));
        Ledger storage ledger = _ledgers[ledgerId];
        if (ledger.writer != address(0)) revert AlreadyOpen(ledgerId);

        ledger.writer = writer;
        ledger.head = Head({root: Rfc9162.EMPTY_ROOT, size: 0, time: uint64(block.timestamp), seq: 0});
        emit Opened(ledgerId, writer, origin);
    }

    /// @inheritdoc IAnchoredLedger
    function anchor(
        bytes32 ledgerId,
        uint64 newSize,
        bytes32 newRoot,
        bytes32[] calldata consistencyProof,
        bytes calldata signature
    ) external {
        Ledger storage ledger = _ledgers[ledgerId];
        address writer = _usableWriter(ledger, ledgerId);
        Head memory old = ledger.head;
        uint64 seq = old.seq + 1;

        if (signature.length == 0) {
            if (msg.sender != writer) revert NotWriter(msg.sender, writer);
        } else {
            bytes32 terms = keccak256(abi.encode(ANCHOR_TYPEHASH, ledgerId, seq, newSize, newRoot));
            if (!Signatures.isSignedBy(writer, _hashTypedDataV4(terms), signature)) {
                revert InvalidSignature(writer);
            }
        }

        Rfc9162.Verdict verdict =
            Rfc9162.checkConsistency(old.size, old.root, newSize, newRoot, consistencyProof);
        if (verdict != Rfc9162.Verdict.Valid) revert Inconsistent(verdict, old.size, newSize);

        ledger.head = Head({root: newRoot, size: newSize, time: uint64(block.timestamp), seq: seq});
        emit Anchored(ledgerId, seq, old.size, newSize, newRoot);
    }

    /// @inheritdoc IAnchoredLedger
    function proveEquivocation(SignedHead calldata signedHead, bytes calldata signature) external {
        bytes32 ledgerId = signedHead.ledgerId;
        Ledger storage ledger = _ledgers[ledgerId];
        address writer = _usableWriter(ledger, ledgerId);
        _requireSignedHead(writer, signedHead, signature);
        _mark(ledger, signedHead, ledger.head.size, ledger.head.root);
    }

    /// @inheritdoc IAnchoredLedger
    function proveEquivocation(
        SignedHead calldata headA,
        bytes calldata signatureA,
        SignedHead calldata headB,
        bytes calldata signatureB
    ) external {
        bytes32 ledgerId = headA.ledgerId;
        if (ledgerId != headB.ledgerId) revert LedgersDiffer(ledgerId, headB.ledgerId);
        Ledger storage ledger = _ledgers[ledgerId];
        address writer = _usableWriter(ledger, ledgerId);
        _requireSignedHead(writer, headA, signatureA);
        _requireSignedHead(writer, headB, signatureB);
        _mark(ledger, headA, headB.size, headB.root);
    }

    /// @inheritdoc IAnchoredLedger
    function head(bytes32 ledgerId) external view returns (Head memory) {
        return _known(ledgerId).head;
    }

    /// @inheritdoc IAnchoredLedger
    function writerOf(bytes32 ledgerId) external view returns (address) {
        return _ledgers[ledgerId].writer;
    }

    /// @inheritdoc IAnchoredLedger
    function isEquivocated(bytes32 ledgerId) external view returns (bool) {
        return _ledgers[ledgerId].equivocated;
    }

    /// @inheritdoc IAnchoredLedger
    function verifyInclusion(bytes32 ledgerId, bytes32 leafHash, uint64 index, bytes32[] calldata proof)
        external
        view
        returns (bool)
    {
        Ledger storage ledger = _known(ledgerId);
        return Rfc9162.checkInclusion(leafHash, index, ledger.head.size, ledger.head.root, proof)
            == Rfc9162.Verdict.Valid;
    }

    /// @inheritdoc IAnchoredLedger
    function isStale(bytes32 ledgerId, uint256 maxAge) external view returns (bool) {
        return block.timestamp - _known(ledgerId).head.time > maxAge;
    }

    function _known(bytes32 ledgerId) private view returns (Ledger storage ledger) {
        ledger = _ledgers[ledgerId];
        if (ledger.writer == address(0)) revert UnknownLedger(ledgerId);
    }

    function _usableWriter(Ledger storage ledger, bytes32 ledgerId) private view returns (address writer) {
        writer = ledger.writer;
        if (writer == address(0)) revert UnknownLedger(ledgerId);
        if (ledger.equivocated) revert LedgerEquivocated(ledgerId);
    }

    /// @dev The mark is for good: nothing in this contract clears it.
    function _mark(Ledger storage ledger, SignedHead calldata signedHead, uint64 size, bytes32 root) private {
        if (signedHead.size != size) revert SizesDiffer(signedHead.size, size);
        if (signedHead.root == root) revert RootsAgree(root);
        ledger.equivocated = true;
        emit Equivocated(signedHead.ledgerId, size, signedHead.root, root);
    }

    function _requireSignedHead(address writer, SignedHead calldata signedHead, bytes calldata signature)
        private
        view
    {
        bytes32 digest = _hashTypedDataV4(keccak256(abi.encode(HEAD_TYPEHASH, signedHead)));
        if (!Signatures.isSignedBy(writer, digest, signature)) revert InvalidSignature(writer);
    }
}
