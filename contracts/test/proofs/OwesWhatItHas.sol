// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EscrowBook} from "../../EscrowBook.sol";
import {IHireEscrow} from "../../interfaces/IHireEscrow.sol";

/// @notice After any sequence of calls, the tokens that came in minus the tokens that went out are Σ held + Σ credits.
/// @dev `_money` counts the tokens that the calls moved: deposits add what they brought, and payments and withdrawals
/// subtract what they moved. The token balance may be larger, because anybody can send tokens to the escrow. `_owed` is
/// Σ held + Σ credits, counted in the hooks. The proof is by induction: what each function requires before a call, it
/// asserts after the call. At the beginning both are zero.
contract OwesWhatItHas is EscrowBook {
    int256 private _money;
    int256 private _owed;

    function deposit(bytes32 id, uint128 amount) external {
        require(_money == _owed);
        _open(id, amount);
        _money += int256(uint256(amount));
        assert(_money == _owed);
    }

    /// @dev Makes one payment of the whole amount. The token moves `moved` of it. Several payments give the same
    /// result, because their parts add up to the amount ({PartsAddUp}).
    function settle(bytes32 id, address to, IHireEscrow.Status outcome, uint128 moved) external {
        require(_money == _owed);
        (uint128 amount,) = _close(id, outcome);
        require(moved <= amount);
        _creditRest(to, amount, moved, 0);
        _money -= int256(uint256(moved));
        assert(_money == _owed);
    }

    function deliver(bytes32 id) external {
        require(_money == _owed);
        _setDelivered(id);
        assert(_money == _owed);
    }

    function withdraw(address account) external {
        require(_money == _owed);
        _money -= int256(_takeCredit(account));
        assert(_money == _owed);
    }

    function _onOpened(bytes32, uint128 amount) internal override {
        _owed += int256(uint256(amount));
    }

    function _onClosed(bytes32, uint128 amount) internal override {
        _owed -= int256(uint256(amount));
    }

    function _onCredited(address, uint256 amount) internal override {
        _owed += int256(amount);
    }

    function _onWithdrawn(address, uint256 amount) internal override {
        _owed -= int256(amount);
    }
}
