// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAnchoredLedger} from "./interfaces/IAnchoredLedger.sol";
import {Rfc9162} from "./libraries/Rfc9162.sol";

/// @title LedgerBook
/// @notice Which ledgers there are, how far they have come, and who writes them. Everything {AnchoredLedger} stores is
/// stored here and nowhere else, and nothing here calls out or asks who is calling. So what must hold of a history is a
/// property of these functions, and a solver proves it of them as they are (`npm run prove`; contracts/test/proofs/):
///  - a head never shrinks, changes its root only by growing, and counts its anchors one by one;
///  - a ledger marked as equivocated stays marked, and its head stays as it is;
///  - a ledger keeps its guardian, and its writer changes only to the account announced, when its time has come;
///  - who was a writer once never becomes one again.
/// @dev Written so that the solver can follow: see {EscrowBook}.
abstract contract LedgerBook {
    /// @dev Writer, mark and halt share a slot, so reading both flags costs an anchor nothing; so do the three numbers.
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

    /// @dev A writer that was followed by another: up to where and until when its words are evidence.
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

    /// @dev The zero address when there is no such ledger.
    function _writer(bytes32 id) internal view returns (address) {
        return _ledgers[id].writer;
    }

    /// @dev The zero address when the ledger has none, or there is no such ledger.
    function _guardian(bytes32 id) internal view returns (address) {
        return _ledgers[id].guardian;
    }

    function _isMarked(bytes32 id) internal view returns (bool) {
        return _ledgers[id].equivocated;
    }

    /// @dev All zero when there is no such ledger.
    function _head(bytes32 id) internal view returns (bytes32 root, uint64 size, uint64 time, uint64 seq) {
        (root, size, time, seq) =
            (_ledgers[id].root, _ledgers[id].size, _ledgers[id].time, _ledgers[id].seq);
    }

    /// @dev All zero when nobody is announced. `halted`: the guardian announced, so nothing can be anchored.
    function _announced(bytes32 id) internal view returns (address next, uint64 readyAt, bool halted) {
        (next, readyAt, halted) = (_ledgers[id].next, _ledgers[id].readyAt, _ledgers[id].halted);
    }

    /// @dev Both zero for an account that was never followed as the writer.
    function _former(bytes32 id, address account) internal view returns (uint64 size, uint64 until) {
        (size, until) = (_formerWriters[id][account].size, _formerWriters[id][account].until);
    }

    /// @dev The ledger exists from here on, without entries.
    function _create(bytes32 id, address writer, address guardian) internal {
        require(writer != address(0), IAnchoredLedger.WriterIsZero());
        require(_ledgers[id].writer == address(0), IAnchoredLedger.AlreadyOpen(id));
        _ledgers[id].writer = writer;
        _ledgers[id].guardian = guardian;
        _ledgers[id].root = Rfc9162.EMPTY_ROOT;
        _ledgers[id].time = uint64(block.timestamp);
    }

    /// @dev The ledger now begins with `newSize` entries under `newRoot`, if the proof says so.
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

    /// @dev For good: nothing clears the mark.
    function _mark(bytes32 id) internal {
        _requireUsable(id);
        _ledgers[id].equivocated = true;
    }

    /// @dev `next` may become the writer when the delay is over. What the guardian announced halts the anchoring, and
    /// only the guardian replaces it.
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

    /// @dev Nobody is announced any more.
    function _withdraw(bytes32 id, bool byGuardian) internal {
        _requireUsable(id);
        _requireReplaceable(id, byGuardian);
        require(_ledgers[id].next != address(0), IAnchoredLedger.NothingAnnounced(id));
        _clearAnnouncement(id);
    }

    /// @dev The announced account becomes the writer. Its predecessor's words stay evidence for a time, up to here.
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
