// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EscrowBook} from "../../EscrowBook.sol";
import {IHireEscrow} from "../../interfaces/IHireEscrow.sol";

/// @notice Through any sequence of calls, what came in less what went out is Σ held + Σ credits.
/// @dev `_money` is the least the token balance can be: deposits add what they brought, payments and withdrawals take
/// what they moved. `_owed` is Σ held + Σ credits, counted in the seams. By induction: what is required before a call is
/// asserted after it, and at the beginning both are zero.
contract OwesWhatItHas is EscrowBook {
    int256 private _money;
    int256 private _owed;

    function deposit(bytes32 id, uint128 amount) external {
        require(_money == _owed);
        _open(id, amount);
        _money += int256(uint256(amount));
        assert(_money == _owed);
    }

    /// @dev One payment of all that was held; {PartsAddUp} is why more than one come to the same.
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
