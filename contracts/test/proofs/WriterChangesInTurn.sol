// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LedgerBook} from "../../LedgerBook.sol";

/// @notice Only the announced account can become the writer, and only after its delay. A former writer never returns. A
/// change of the writer changes no head, no guardian and no other ledger.
contract WriterChangesInTurn is LedgerBook {
    function accept(bytes32 id, address account, bytes32 other) external {
        address writer = _writer(id);
        address writerOfOther = _writer(other);
        address guardian = _guardian(other);
        (address next, uint64 readyAt,) = _announced(id);
        (bytes32 oldRoot, uint64 oldSize,, uint64 oldSeq) = _head(other);
        (address previous, uint64 size) = _accept(id, account);
        (bytes32 root, uint64 newSize,, uint64 seq) = _head(other);
        (uint64 lastSize, uint64 until) = _former(id, writer);
        assert(account == next && account != address(0) && uint64(block.timestamp) >= readyAt);
        assert(_writer(id) == account && previous == writer);
        assert(lastSize == size && until == uint64(block.timestamp) + FORMER_WRITER_PERIOD);
        assert(other == id || _writer(other) == writerOfOther);
        assert(_guardian(other) == guardian && root == oldRoot && newSize == oldSize && seq == oldSeq);
    }

    function announce(bytes32 id, address next, bool byGuardian, bytes32 other) external {
        address writer = _writer(other);
        address guardian = _guardian(other);
        (,, bool halted) = _announced(id);
        (, uint64 until) = _former(id, next);
        uint64 readyAt = _announce(id, next, byGuardian);
        (address announced, uint64 storedReadyAt, bool nowHalted) = _announced(id);
        assert(byGuardian || !halted);
        assert(until == 0 && next != _writer(id) && announced == next && nowHalted == byGuardian);
        assert(readyAt == storedReadyAt && readyAt == uint64(block.timestamp) + ANNOUNCEMENT_DELAY);
        assert(_writer(other) == writer && _guardian(other) == guardian);
    }

    function withdraw(bytes32 id, bool byGuardian, bytes32 other) external {
        address writer = _writer(other);
        (,, bool halted) = _announced(id);
        _withdraw(id, byGuardian);
        (address announced,, bool nowHalted) = _announced(id);
        assert((byGuardian || !halted) && announced == address(0) && !nowHalted);
        assert(_writer(other) == writer);
    }

    function extend(bytes32 id, uint64 newSize, bytes32 newRoot, bytes32[] calldata proof) external {
        (,, bool halted) = _announced(id);
        _extend(id, newSize, newRoot, proof);
        assert(!halted);
    }
}
