// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LedgerBook} from "../../LedgerBook.sol";

/// @notice A ledger is opened once, and keeps its guardian. Opening and anchoring do not change the writer of any
/// ledger.
contract WriterStays is LedgerBook {
    function create(bytes32 id, address writer, address guardian, bytes32 other) external {
        address before = _writer(id);
        address writerOfOther = _writer(other);
        address guardianOfOther = _guardian(other);
        (bytes32 rootOfOther, uint64 sizeOfOther,,) = _head(other);
        _create(id, writer, guardian);
        (bytes32 root, uint64 size,,) = _head(other);
        assert(before == address(0) && _writer(id) == writer && writer != address(0) && _guardian(id) == guardian);
        assert(other == id || (_writer(other) == writerOfOther && root == rootOfOther && size == sizeOfOther));
        assert(other == id || _guardian(other) == guardianOfOther);
    }

    function extend(bytes32 id, uint64 newSize, bytes32 newRoot, bytes32[] calldata proof, bytes32 other) external {
        address writer = _writer(other);
        address guardian = _guardian(other);
        (bytes32 oldRoot, uint64 oldSize,,) = _head(other);
        _extend(id, newSize, newRoot, proof);
        (bytes32 root, uint64 size,,) = _head(other);
        assert(_writer(other) == writer && _guardian(other) == guardian);
        assert(other == id || (root == oldRoot && size == oldSize));
    }
}
