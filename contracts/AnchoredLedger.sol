// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {IAnchoredLedger} from "./interfaces/IAnchoredLedger.sol";
import {LedgerBook} from "./LedgerBook.sol";
import {Rfc9162} from "./libraries/Rfc9162.sol";
import {Signatures} from "./libraries/Signatures.sol";

/// @title AnchoredLedger
/// @notice See {IAnchoredLedger} for what it promises and what it cannot, {LedgerBook} for how heads move.
contract AnchoredLedger is IAnchoredLedger, LedgerBook, EIP712 {
    bytes32 private constant ANCHOR_TYPEHASH =
        keccak256("Anchor(bytes32 ledgerId,uint64 seq,uint64 newSize,bytes32 newRoot)");
    bytes32 private constant HEAD_TYPEHASH = keccak256("Head(bytes32 ledgerId,uint64 size,bytes32 root)");

    /// @dev A name, not a document: keeps the opening event small.
    uint256 private constant MAX_ORIGIN_LENGTH = 255;

    constructor() EIP712("Tallystick AnchoredLedger", "1") {}

    /// @inheritdoc IAnchoredLedger
    function open(string calldata origin, address writer) external returns (bytes32 ledgerId) {
        uint256 length = bytes(origin).length;
        if (length == 0 || length > MAX_ORIGIN_LENGTH) revert OriginLength(length, MAX_ORIGIN_LENGTH);
        ledgerId = keccak256(abi.encode(block.chainid, address(this), writer, origin));
        _create(ledgerId, writer);
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
        _requireUsable(ledgerId);
        address writer = _writer(ledgerId);
        (,,, uint64 lastSeq) = _head(ledgerId);
        uint64 seq = lastSeq + 1;

        if (signature.length == 0) {
            if (msg.sender != writer) revert NotWriter(msg.sender, writer);
        } else {
            bytes32 terms = keccak256(abi.encode(ANCHOR_TYPEHASH, ledgerId, seq, newSize, newRoot));
            if (!Signatures.isSignedBy(writer, _hashTypedDataV4(terms), signature)) {
                revert InvalidSignature(writer);
            }
        }

        uint64 oldSize = _extend(ledgerId, newSize, newRoot, consistencyProof);
        emit Anchored(ledgerId, seq, oldSize, newSize, newRoot);
    }

    /// @inheritdoc IAnchoredLedger
    function proveEquivocation(SignedHead calldata signedHead, bytes calldata signature) external {
        bytes32 ledgerId = signedHead.ledgerId;
        _requireUsable(ledgerId);
        _requireSignedHead(_writer(ledgerId), signedHead, signature);
        (bytes32 root, uint64 size,,) = _head(ledgerId);
        _markBetween(signedHead, size, root);
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
        _requireUsable(ledgerId);
        address writer = _writer(ledgerId);
        _requireSignedHead(writer, headA, signatureA);
        _requireSignedHead(writer, headB, signatureB);
        _markBetween(headA, headB.size, headB.root);
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

    /// @dev Two heads of one ledger, both its writer's, contradict each other when they have one size and two roots.
    function _markBetween(SignedHead calldata signedHead, uint64 size, bytes32 root) private {
        if (signedHead.size != size) revert SizesDiffer(signedHead.size, size);
        if (signedHead.root == root) revert RootsAgree(root);
        _mark(signedHead.ledgerId);
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
