// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EscrowBook} from "../../EscrowBook.sol";

/// @notice The parts of a split add up to the amount.
contract PartsAddUp is EscrowBook {
    function split(uint128 amount, uint128 fee, uint128 toSeller) external pure {
        (uint128 toPayee, uint128 feeShare, uint128 toBuyer) = _parts(amount, fee, toSeller);
        assert(uint256(toPayee) + feeShare + toBuyer == amount);
        assert(toPayee <= toSeller);
    }
}
