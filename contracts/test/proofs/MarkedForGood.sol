// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LedgerBook} from "../../LedgerBook.sol";

/// @notice A marked ledger is never extended, and marking does not change its head.
contract MarkedForGood is LedgerBook {
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
