// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LedgerBook} from "../../LedgerBook.sol";

// What `npm run prove` has solc's model checker prove of LedgerBook: see EscrowBookProofs.sol.

/// @notice All that AnchoredLedger does with its book, to be called in any order.
abstract contract LedgerCalls is LedgerBook {
    function callCreate(bytes32 id, address writer) external {
        _create(id, writer);
    }

    function callExtend(bytes32 id, uint64 newSize, bytes32 newRoot, bytes32[] calldata proof) external {
        _extend(id, newSize, newRoot, proof);
    }

    function callMark(bytes32 id) external {
        _mark(id);
    }
}

/// @notice An anchor never shrinks a ledger, changes its root only by growing it, and has the next number.
contract NeverShrinks is LedgerCalls {
    function extend(bytes32 id, uint64 newSize, bytes32 newRoot, bytes32[] calldata proof) external {
        (bytes32 oldRoot, uint64 oldSize,, uint64 oldSeq) = _head(id);
        _extend(id, newSize, newRoot, proof);
        (bytes32 root, uint64 size,, uint64 seq) = _head(id);
        assert(size == newSize && root == newRoot && seq == oldSeq + 1);
        assert(size > oldSize || (size == oldSize && root == oldRoot));
    }
}

/// @notice A marked ledger is never extended, and marking leaves its head as it was.
contract MarkedForGood is LedgerCalls {
    function extend(bytes32 id, uint64 newSize, bytes32 newRoot, bytes32[] calldata proof, bytes32 any) external {
        bool marked = _isMarked(id);
        bool anyMarked = _isMarked(any);
        _extend(id, newSize, newRoot, proof);
        assert(!marked && _isMarked(any) == anyMarked);
    }

    function mark(bytes32 id, bytes32 any) external {
        bool anyMarked = _isMarked(any);
        (bytes32 oldRoot, uint64 oldSize,, uint64 oldSeq) = _head(any);
        _mark(id);
        (bytes32 root, uint64 size,, uint64 seq) = _head(any);
        assert(_isMarked(id) && (any == id || _isMarked(any) == anyMarked));
        assert(root == oldRoot && size == oldSize && seq == oldSeq);
    }
}

/// @notice A ledger is opened once, by a writer it then keeps; opening changes no other ledger.
contract WriterStays is LedgerCalls {
    function create(bytes32 id, address writer, bytes32 other) external {
        address before = _writer(id);
        address writerOfOther = _writer(other);
        (bytes32 rootOfOther, uint64 sizeOfOther,,) = _head(other);
        _create(id, writer);
        (bytes32 root, uint64 size,,) = _head(other);
        assert(before == address(0) && _writer(id) == writer && writer != address(0));
        assert(other == id || (_writer(other) == writerOfOther && root == rootOfOther && size == sizeOfOther));
    }

    function extend(bytes32 id, uint64 newSize, bytes32 newRoot, bytes32[] calldata proof, bytes32 other) external {
        address writer = _writer(other);
        (bytes32 oldRoot, uint64 oldSize,,) = _head(other);
        _extend(id, newSize, newRoot, proof);
        (bytes32 root, uint64 size,,) = _head(other);
        assert(_writer(other) == writer);
        assert(other == id || (root == oldRoot && size == oldSize));
    }
}
