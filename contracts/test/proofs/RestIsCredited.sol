// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EscrowBook} from "../../EscrowBook.sol";

/// @notice What a payment did not move, and no more, is credited to whom it was for and to nobody else.
contract RestIsCredited is EscrowBook {
    function pay(address to, uint256 amount, uint256 before, uint256 current, address other) external {
        uint256 credit = _creditOf(to);
        uint256 creditOfOther = _creditOf(other);
        uint256 missing = _creditRest(to, amount, before, current);
        // Had the balance not grown meanwhile, exactly: what left and what is owed on are the amount.
        assert(current > before || (before - current) + missing == amount);
        assert(current <= before || missing == amount);
        assert(_creditOf(to) == credit + missing);
        assert(other == to || _creditOf(other) == creditOfOther);
    }
}
