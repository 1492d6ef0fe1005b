// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IHireEscrow} from "./interfaces/IHireEscrow.sol";

/// @title EscrowBook
/// @notice Who is owed what. Everything {HireEscrow} stores about money is stored, and every amount it pays is computed,
/// here and nowhere else; nothing here calls out. So what must hold of the money is a property of these functions:
///  - a hire is opened once, and closed once, for exactly what it was opened with;
///  - the parts a hire is paid out in add up to its amount;
///  - a credit is taken once, for exactly what was put there.
/// The empty functions at the end are seams for the proofs of that: a harness that inherits this contract counts
/// in them. They cost the shipped contract nothing.
abstract contract EscrowBook {
    /// @dev All that is stored of a hire: status + 2^8 · delivered + 2^16 · amount, read and written whole (a struct of
    /// the three costs a second read with every write). Plain arithmetic, which provers have no trouble with.
    struct Slot {
        uint256 word;
    }

    uint256 private constant STATUSES = 2 ** 8;
    uint256 private constant DELIVERED = 2 ** 8;
    uint256 private constant AMOUNT = 2 ** 16;
    uint256 private constant HELD = uint256(IHireEscrow.Status.Held);

    mapping(bytes32 escrowId => Slot) private _slots;
    mapping(address account => uint256) private _credits;

    function _state(bytes32 id) internal view returns (IHireEscrow.State memory) {
        uint256 word = _slots[id].word;
        return IHireEscrow.State({
            status: IHireEscrow.Status(word % STATUSES),
            delivered: word % AMOUNT >= DELIVERED,
            amount: uint128(word / AMOUNT)
        });
    }

    function _creditOf(address account) internal view returns (uint256) {
        return _credits[account];
    }

    /// @dev None → Held.
    function _open(bytes32 id, uint128 amount) internal {
        Slot storage slot = _slots[id];
        _requireStatus(id, slot.word, IHireEscrow.Status.None);
        if (amount == 0) revert IHireEscrow.AmountIsZero();
        slot.word = uint256(amount) * AMOUNT + HELD;
        _onOpened(id, amount);
    }

    /// @dev Held, once: notes delivery.
    function _setDelivered(bytes32 id) internal {
        Slot storage slot = _slots[id];
        uint256 word = slot.word;
        _requireStatus(id, word, IHireEscrow.Status.Held);
        if (word % AMOUNT >= DELIVERED) revert IHireEscrow.AlreadyDelivered(id);
        slot.word = word + DELIVERED;
    }

    /// @dev Held → a final status. What was held is now the caller's to pay out, all of it.
    function _close(bytes32 id, IHireEscrow.Status outcome)
        internal
        returns (uint128 amount, bool delivered)
    {
        Slot storage slot = _slots[id];
        uint256 word = slot.word;
        _requireStatus(id, word, IHireEscrow.Status.Held);
        amount = uint128(word / AMOUNT);
        delivered = word % AMOUNT >= DELIVERED;
        slot.word = word % AMOUNT - HELD + uint256(outcome);
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

    function _addCredit(address account, uint256 amount) internal {
        _credits[account] += amount;
        _onCredited(account, amount);
    }

    function _takeCredit(address account) internal returns (uint256 amount) {
        amount = _credits[account];
        if (amount == 0) revert IHireEscrow.NothingToWithdraw(account);
        _credits[account] = 0;
        _onWithdrawn(account, amount);
    }

    function _requireStatus(bytes32 id, uint256 word, IHireEscrow.Status expected) private pure {
        uint256 actual = word % STATUSES;
        if (actual != uint256(expected)) {
            revert IHireEscrow.WrongStatus(id, IHireEscrow.Status(actual), expected);
        }
    }

    function _onOpened(bytes32 id, uint128 amount) internal virtual {}

    function _onClosed(bytes32 id, uint128 amount) internal virtual {}

    function _onCredited(address account, uint256 amount) internal virtual {}

    function _onWithdrawn(address account, uint256 amount) internal virtual {}
}
