// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EscrowBook} from "../../EscrowBook.sol";

/// @notice The part of a payment that did not move is credited to its recipient. Nobody gets another credit.
contract RestIsCredited is EscrowBook {
    function pay(address to, uint256 amount, uint256 before, uint256 current, address other) external {
        uint256 credit = _creditOf(to);
        uint256 creditOfOther = _creditOf(other);
        uint256 missing = _creditRest(to, amount, before, current);
        // If the balance did not grow, the moved part and the credited part add up to the amount.
        assert(current > before || (before - current) + missing == amount);
        assert(current <= before || missing == amount);
        assert(_creditOf(to) == credit + missing);
        assert(other == to || _creditOf(other) == creditOfOther);
    }
}
