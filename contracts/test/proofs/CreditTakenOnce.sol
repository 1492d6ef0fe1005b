// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EscrowBook} from "../../EscrowBook.sol";

/// @notice A credit is taken once and completely, and no other credit changes.
contract CreditTakenOnce is EscrowBook {
    function take(address account, address other) external {
        uint256 credit = _creditOf(account);
        uint256 creditOfOther = _creditOf(other);
        uint256 amount = _takeCredit(account);
        assert(amount == credit && amount != 0 && _creditOf(account) == 0);
        assert(other == account || _creditOf(other) == creditOfOther);
    }
}
