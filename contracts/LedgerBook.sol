// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAnchoredLedger} from "./interfaces/IAnchoredLedger.sol";
import {Rfc9162} from "./libraries/Rfc9162.sol";

/// @title LedgerBook
/// @notice Records the ledgers, their heads and their writers. Everything that {AnchoredLedger} stores is stored here.
/// Nothing here calls another contract or depends on the sender. So the rules about histories are properties of these
/// functions. A solver proves the rules for the functions as they are deployed (`npm run prove`;
/// contracts/test/proofs/):
///  - A head never shrinks. Its root changes only if it grows. Its anchors are counted one by one.
///  - A ledger that is marked as equivocated stays marked, and its head does not change.
///  - A ledger keeps its guardian. Its writer changes only to the announced account, and only after the delay.
///  - A former writer never becomes the writer again.
/// @dev The code is written in a form that the solver can follow: see {EscrowBook}.
abstract contract LedgerBook {
    /// @dev `writer`, `equivocated` and `halted` share a storage slot, so an anchor reads both flags at no extra cost.
    /// `size`, `time` and `seq` share a slot too.
    struct Ledger {
        address writer;
        bool equivocated;
        bool halted;
        bytes32 root;
        uint64 size;
        uint64 time;
        uint64 seq;
        address guardian;
        address next;
        uint64 readyAt;
    }

    /// @dev A former writer. Its words are evidence up to `size` entries, and until the time `until` (unix seconds).
    struct FormerWriter {
        uint64 size;
        uint64 until;
    }

    /// @notice Seconds between an announcement and the earliest change of the writer.
    uint64 internal constant ANNOUNCEMENT_DELAY = 7 days;

    /// @notice Seconds for which a former writer's words are evidence.
    uint64 internal constant FORMER_WRITER_PERIOD = 30 days;

    mapping(bytes32 ledgerId => Ledger) private _ledgers;
    mapping(bytes32 ledgerId => mapping(address account => FormerWriter)) private _formerWriters;

    /// @dev The zero address if there is no such ledger.
    function _writer(bytes32 id) internal view returns (address) {
        return _ledgers[id].writer;
    }

    /// @dev The zero address if the ledger has no guardian, or if there is no such ledger.
    function _guardian(bytes32 id) internal view returns (address) {
        return _ledgers[id].guardian;
    }

    function _isMarked(bytes32 id) internal view returns (bool) {
        return _ledgers[id].equivocated;
    }

    /// @dev All values are zero if there is no such ledger.
    function _head(bytes32 id) internal view returns (bytes32 root, uint64 size, uint64 time, uint64 seq) {
        (root, size, time, seq) =
            (_ledgers[id].root, _ledgers[id].size, _ledgers[id].time, _ledgers[id].seq);
    }

    /// @dev All values are zero if nobody is announced. `halted` is true if the guardian made the announcement: then
    /// nothing can be anchored.
    function _announced(bytes32 id) internal view returns (address next, uint64 readyAt, bool halted) {
        (next, readyAt, halted) = (_ledgers[id].next, _ledgers[id].readyAt, _ledgers[id].halted);
    }

    /// @dev Both values are zero for an account that is not a former writer.
    function _former(bytes32 id, address account) internal view returns (uint64 size, uint64 until) {
        (size, until) = (_formerWriters[id][account].size, _formerWriters[id][account].until);
    }

    /// @dev Opens a ledger without entries.
    function _create(bytes32 id, address writer, address guardian) internal {
        require(writer != address(0), IAnchoredLedger.WriterIsZero());
        require(_ledgers[id].writer == address(0), IAnchoredLedger.AlreadyOpen(id));
        _ledgers[id].writer = writer;
        _ledgers[id].guardian = guardian;
        _ledgers[id].root = Rfc9162.EMPTY_ROOT;
        _ledgers[id].time = uint64(block.timestamp);
    }

    /// @dev Extends the ledger to `newSize` entries with the root `newRoot`, if the proof is valid.
    function _extend(bytes32 id, uint64 newSize, bytes32 newRoot, bytes32[] calldata consistencyProof)
        internal
        returns (uint64 oldSize)
    {
        _requireUsable(id);
        require(!_ledgers[id].halted, IAnchoredLedger.GuardianAnnounced(id));
        oldSize = _ledgers[id].size;
        Rfc9162.Verdict verdict =
            Rfc9162.checkConsistency(oldSize, _ledgers[id].root, newSize, newRoot, consistencyProof);
        require(
            verdict == Rfc9162.Verdict.Valid, IAnchoredLedger.Inconsistent(verdict, oldSize, newSize)
        );
        _ledgers[id].root = newRoot;
        _ledgers[id].size = newSize;
        _ledgers[id].time = uint64(block.timestamp);
        _ledgers[id].seq += 1;
    }

    /// @dev Marks the ledger permanently: nothing removes the mark.
    function _mark(bytes32 id) internal {
        _requireUsable(id);
        _ledgers[id].equivocated = true;
    }

    /// @dev `next` can become the writer when the delay is over. If the guardian makes the announcement, nothing can be
    /// anchored until the change, and only the guardian can replace or withdraw the announcement.
    function _announce(bytes32 id, address next, bool byGuardian) internal returns (uint64 readyAt) {
        _requireUsable(id);
        _requireReplaceable(id, byGuardian);
        require(next != address(0), IAnchoredLedger.WriterIsZero());
        require(next != _ledgers[id].writer, IAnchoredLedger.AlreadyWriter(next));
        require(_formerWriters[id][next].until == 0, IAnchoredLedger.WasWriter(next));
        readyAt = uint64(block.timestamp) + ANNOUNCEMENT_DELAY;
        _ledgers[id].next = next;
        _ledgers[id].readyAt = readyAt;
        _ledgers[id].halted = byGuardian;
    }

    /// @dev Removes the announcement.
    function _withdraw(bytes32 id, bool byGuardian) internal {
        _requireUsable(id);
        _requireReplaceable(id, byGuardian);
        require(_ledgers[id].next != address(0), IAnchoredLedger.NothingAnnounced(id));
        _clearAnnouncement(id);
    }

    /// @dev Makes the announced account the writer. For a limited time, the former writer's words remain evidence, up
    /// to the present size.
    function _accept(bytes32 id, address account) internal returns (address previous, uint64 size) {
        _requireUsable(id);
        require(_ledgers[id].next != address(0), IAnchoredLedger.NothingAnnounced(id));
        require(
            account == _ledgers[id].next, IAnchoredLedger.NotAnnounced(account, _ledgers[id].next)
        );
        require(
            uint64(block.timestamp) >= _ledgers[id].readyAt,
            IAnchoredLedger.TooEarly(uint64(block.timestamp), _ledgers[id].readyAt)
        );
        previous = _ledgers[id].writer;
        size = _ledgers[id].size;
        _formerWriters[id][previous].size = size;
        _formerWriters[id][previous].until = uint64(block.timestamp) + FORMER_WRITER_PERIOD;
        _ledgers[id].writer = account;
        _clearAnnouncement(id);
    }

    function _requireKnown(bytes32 id) internal view {
        require(_ledgers[id].writer != address(0), IAnchoredLedger.UnknownLedger(id));
    }

    function _requireUsable(bytes32 id) internal view {
        _requireKnown(id);
        require(!_ledgers[id].equivocated, IAnchoredLedger.LedgerEquivocated(id));
    }

    /// @dev A thief with the writer's key must not be able to veto the guardian.
    function _requireReplaceable(bytes32 id, bool byGuardian) private view {
        require(byGuardian || !_ledgers[id].halted, IAnchoredLedger.GuardianAnnounced(id));
    }

    function _clearAnnouncement(bytes32 id) private {
        _ledgers[id].next = address(0);
        _ledgers[id].readyAt = 0;
        _ledgers[id].halted = false;
    }
}
