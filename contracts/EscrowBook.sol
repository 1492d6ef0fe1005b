// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IHireEscrow} from "./interfaces/IHireEscrow.sol";

/// @title EscrowBook
/// @notice Records what the escrow owes to whom. Everything that {HireEscrow} stores about money is stored here, and
/// nothing here calls another contract. So the rules about money are properties of these functions. A solver proves the
/// rules for the functions as they are deployed (`npm run prove`; contracts/test/proofs/):
///  - A hire is opened once, and closed once, for exactly the amount that it was opened with.
///  - The parts of a split add up to the amount.
///  - What a payment did not move is credited. A credit is taken once, and completely.
/// @dev The code is written in a form that the solver can follow. The solver cannot follow storage pointers, packed
/// words and `if … revert`. It can follow `_slots[id].field` and `require`. Packing the slot by hand would save only
/// 0.2 % of a hire's gas.
abstract contract EscrowBook {
    /// @dev The same as {IHireEscrow-State}, but the status is a plain number. The compiler checks the range of an enum
    /// at every use, which costs gas.
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

    /// @dev Changes the status from None to Held.
    function _open(bytes32 id, uint128 amount) internal {
        _requireStatus(id, _slots[id].status, IHireEscrow.Status.None);
        require(amount != 0, IHireEscrow.AmountIsZero());
        _slots[id].status = uint8(IHireEscrow.Status.Held);
        _slots[id].amount = amount;
        _onOpened(id, amount);
    }

    /// @dev Marks delivery. It works once, and only while the status is Held.
    function _setDelivered(bytes32 id) internal {
        _requireStatus(id, _slots[id].status, IHireEscrow.Status.Held);
        require(!_slots[id].delivered, IHireEscrow.AlreadyDelivered(id));
        _slots[id].delivered = true;
    }

    /// @dev Changes the status from Held to a final status. The caller must pay out all of `amount`.
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

    /// @dev Divides `amount` into three parts, which add up to it. `toSeller` of it is for the payee and the fee's
    /// recipient. The fee's share is rounded down, so it is never more than the buyer signed for.
    function _parts(uint128 amount, uint128 fee, uint128 toSeller)
        internal
        pure
        returns (uint128 toPayee, uint128 feeShare, uint128 toBuyer)
    {
        // The fee is at most `amount`. So the share is at most `toSeller`, and fits into uint128.
        feeShare = uint128(uint256(fee) * toSeller / amount);
        toPayee = toSeller - feeShare;
        toBuyer = amount - toSeller;
    }

    /// @dev Credits `to` with the part of a payment that did not move. The payment was of `amount`, and changed the
    /// balance from `before` to `current`. Reverts if the balance fell by more than `amount`: that would be other
    /// people's money.
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

    /// @dev Sets a credit to zero. The caller must pay out all of `amount`.
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

    // Hooks for the proofs. A harness inherits this contract and counts in these functions. They are empty here and
    // cost no gas.

    function _onOpened(bytes32 id, uint128 amount) internal virtual {}

    function _onClosed(bytes32 id, uint128 amount) internal virtual {}

    function _onCredited(address account, uint256 amount) internal virtual {}

    function _onWithdrawn(address account, uint256 amount) internal virtual {}
}
