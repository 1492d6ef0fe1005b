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
    mapping(bytes32 escrowId => IHireEscrow.State) private _states;
    mapping(address account => uint256) private _credits;

    function _state(bytes32 id) internal view returns (IHireEscrow.State memory) {
        return _states[id];
    }

    function _creditOf(address account) internal view returns (uint256) {
        return _credits[account];
    }

    /// @dev None → Held.
    function _open(bytes32 id, uint128 amount) internal {
        IHireEscrow.Status status = _states[id].status;
        require(
            status == IHireEscrow.Status.None,
            IHireEscrow.WrongStatus(id, status, IHireEscrow.Status.None)
        );
        require(amount != 0, IHireEscrow.AmountIsZero());
        _states[id] = IHireEscrow.State({status: IHireEscrow.Status.Held, delivered: false, amount: amount});
        _onOpened(id, amount);
    }

    /// @dev Held, once: notes delivery.
    function _setDelivered(bytes32 id) internal {
        IHireEscrow.State memory state = _held(id);
        require(!state.delivered, IHireEscrow.AlreadyDelivered(id));
        state.delivered = true;
        _states[id] = state;
    }

    /// @dev Held → a final status. What was held is now the caller's to pay out, all of it.
    function _close(bytes32 id, IHireEscrow.Status outcome) internal returns (uint128 amount, bool delivered) {
        IHireEscrow.State memory state = _held(id);
        (amount, delivered) = (state.amount, state.delivered);
        _states[id] = IHireEscrow.State({status: outcome, delivered: delivered, amount: 0});
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
        require(amount != 0, IHireEscrow.NothingToWithdraw(account));
        _credits[account] = 0;
        _onWithdrawn(account, amount);
    }

    function _held(bytes32 id) private view returns (IHireEscrow.State memory state) {
        state = _states[id];
        require(
            state.status == IHireEscrow.Status.Held,
            IHireEscrow.WrongStatus(id, state.status, IHireEscrow.Status.Held)
        );
    }

    function _onOpened(bytes32 id, uint128 amount) internal virtual {}

    function _onClosed(bytes32 id, uint128 amount) internal virtual {}

    function _onCredited(address account, uint256 amount) internal virtual {}

    function _onWithdrawn(address account, uint256 amount) internal virtual {}
}
