// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IHireEscrow} from "./interfaces/IHireEscrow.sol";

/// @title EscrowBook
/// @notice Who is owed what. Everything {HireEscrow} stores about money is stored here and nowhere else, and nothing here
/// calls out. So what must hold of the money is a property of these functions, and a solver proves it of them as they are
/// (`npm run prove`; contracts/test/proofs/):
///  - a hire is opened once, and closed once, for exactly what it was opened with;
///  - the parts of a split add up to the amount;
///  - what a payment did not move is credited, and a credit is taken once, for exactly what was put there.
/// @dev Written so that the solver can follow: it loses track behind storage pointers, packed words and `if … revert`,
/// and keeps it through `_slots[id].field` and `require`. Packing by hand would save a hire 0.2 % of its gas.
abstract contract EscrowBook {
    /// @dev {IHireEscrow-State}, with the status as a plain number: checking an enum's range with every use costs gas.
    struct Slot {
        uint8 status;
        bool delivered;
        uint128 amount;
    }

    mapping(bytes32 escrowId => Slot) private _slots;
    mapping(address account => uint256) private _credits;

    function _state(bytes32 id) internal view returns (uint8 status, bool delivered, uint128 amount) {
        (status, delivered, amount) = (_slots[id].status, _slots[id].delivered, _slots[id].amount);
    }

    function _creditOf(address account) internal view returns (uint256) {
        return _credits[account];
    }

    /// @dev None → Held.
    function _open(bytes32 id, uint128 amount) internal {
        _requireStatus(id, _slots[id].status, IHireEscrow.Status.None);
        require(amount != 0, IHireEscrow.AmountIsZero());
        _slots[id].status = uint8(IHireEscrow.Status.Held);
        _slots[id].amount = amount;
        _onOpened(id, amount);
    }

    /// @dev Held, once: notes delivery.
    function _setDelivered(bytes32 id) internal {
        _requireStatus(id, _slots[id].status, IHireEscrow.Status.Held);
        require(!_slots[id].delivered, IHireEscrow.AlreadyDelivered(id));
        _slots[id].delivered = true;
    }

    /// @dev Held → a final status. What was held is now the caller's to pay out, all of it.
    function _close(bytes32 id, IHireEscrow.Status outcome)
        internal
        returns (uint128 amount, bool delivered)
    {
        _requireStatus(id, _slots[id].status, IHireEscrow.Status.Held);
        (amount, delivered) = (_slots[id].amount, _slots[id].delivered);
        _slots[id].status = uint8(outcome);
        _slots[id].amount = 0;
        _onClosed(id, amount);
    }

    /// @dev The three parts of `amount` when `toSeller` of it goes to the seller's side, with its share of the fee
    /// rounded down, so never more than the buyer signed for. They add up to `amount`.
    function _parts(uint128 amount, uint128 fee, uint128 toSeller)
        internal
        pure
        returns (uint128 toPayee, uint128 feeShare, uint128 toBuyer)
    {
        // fee ≤ amount, so the share is at most toSeller and fits.
        feeShare = uint128(uint256(fee) * toSeller / amount);
        toPayee = toSeller - feeShare;
        toBuyer = amount - toSeller;
    }

    /// @dev A payment of `amount` to `to` took the balance from `before` to `current`. What it did not move is owed on.
    /// Reverts when it took more than it was to pay: others' money would be missing.
    function _creditRest(address to, uint256 amount, uint256 before, uint256 current)
        internal
        returns (uint256 missing)
    {
        uint256 taken = current < before ? before - current : 0;
        require(taken <= amount, IHireEscrow.AmountMoved(taken, amount));
        missing = amount - taken;
        _credits[to] += missing;
        _onCredited(to, missing);
    }

    /// @dev All of it, so that it is the caller's to pay.
    function _takeCredit(address account) internal returns (uint256 amount) {
        amount = _credits[account];
        require(amount != 0, IHireEscrow.NothingToWithdraw(account));
        _credits[account] = 0;
        _onWithdrawn(account, amount);
    }

    function _requireStatus(bytes32 id, uint8 actual, IHireEscrow.Status expected) private pure {
        require(
            actual == uint8(expected), IHireEscrow.WrongStatus(id, IHireEscrow.Status(actual), expected)
        );
    }

    // Seams for the proofs: a harness that inherits this contract counts in them. Empty, they cost nothing.

    function _onOpened(bytes32 id, uint128 amount) internal virtual {}

    function _onClosed(bytes32 id, uint128 amount) internal virtual {}

    function _onCredited(address account, uint256 amount) internal virtual {}

    function _onWithdrawn(address account, uint256 amount) internal virtual {}
}
