// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LedgerBook} from "../../LedgerBook.sol";

/// @notice An anchor never shrinks a ledger. It changes the root only if the ledger grows. Its number is the next one.
contract NeverShrinks is LedgerBook {
    function extend(bytes32 id, uint64 newSize, bytes32 newRoot, bytes32[] calldata proof) external {
        (bytes32 oldRoot, uint64 oldSize,, uint64 oldSeq) = _head(id);
        _extend(id, newSize, newRoot, proof);
        (bytes32 root, uint64 size,, uint64 seq) = _head(id);
        assert(size == newSize && root == newRoot && seq == oldSeq + 1);
        assert(size > oldSize || (size == oldSize && root == oldRoot));
    }
}
