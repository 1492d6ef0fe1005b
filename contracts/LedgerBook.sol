// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAnchoredLedger} from "./interfaces/IAnchoredLedger.sol";
import {Rfc9162} from "./libraries/Rfc9162.sol";

/// @title LedgerBook
/// @notice Which ledgers there are, and how far they have come. Everything {AnchoredLedger} stores is stored here and
/// nowhere else, and nothing here calls out or asks who is calling. So what must hold of a history is a property of
/// these functions, and a solver proves it of them as they are (`npm run prove`; contracts/test/proofs/):
///  - a head never shrinks, changes its root only by growing, and counts its anchors one by one;
///  - a ledger marked as equivocated stays marked, and its head stays as it is;
///  - a ledger keeps its writer.
/// @dev Written so that the solver can follow: see {EscrowBook}.
abstract contract LedgerBook {
    /// @dev Writer and mark share a slot, so reading the mark costs an anchor nothing; so do the three numbers.
    struct Ledger {
        address writer;
        bool equivocated;
        bytes32 root;
        uint64 size;
        uint64 time;
        uint64 seq;
    }

    mapping(bytes32 ledgerId => Ledger) private _ledgers;

    /// @dev The zero address when there is no such ledger.
    function _writer(bytes32 id) internal view returns (address) {
        return _ledgers[id].writer;
    }

    function _isMarked(bytes32 id) internal view returns (bool) {
        return _ledgers[id].equivocated;
    }

    /// @dev All zero when there is no such ledger.
    function _head(bytes32 id) internal view returns (bytes32 root, uint64 size, uint64 time, uint64 seq) {
        (root, size, time, seq) =
            (_ledgers[id].root, _ledgers[id].size, _ledgers[id].time, _ledgers[id].seq);
    }

    /// @dev The ledger exists from here on, without entries.
    function _create(bytes32 id, address writer) internal {
        require(writer != address(0), IAnchoredLedger.WriterIsZero());
        require(_ledgers[id].writer == address(0), IAnchoredLedger.AlreadyOpen(id));
        _ledgers[id].writer = writer;
        _ledgers[id].root = Rfc9162.EMPTY_ROOT;
        _ledgers[id].time = uint64(block.timestamp);
    }

    /// @dev The ledger now begins with `newSize` entries under `newRoot`, if the proof says so.
    function _extend(bytes32 id, uint64 newSize, bytes32 newRoot, bytes32[] calldata consistencyProof)
        internal
        returns (uint64 oldSize)
    {
        _requireUsable(id);
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

    function _requireKnown(bytes32 id) internal view {
        require(_ledgers[id].writer != address(0), IAnchoredLedger.UnknownLedger(id));
    }

    function _requireUsable(bytes32 id) internal view {
        _requireKnown(id);
        require(!_ledgers[id].equivocated, IAnchoredLedger.LedgerEquivocated(id));
    }
}
