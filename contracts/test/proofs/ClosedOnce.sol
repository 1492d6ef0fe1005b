// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EscrowBook} from "../../EscrowBook.sol";
import {IHireEscrow} from "../../interfaces/IHireEscrow.sol";

/// @notice A hire is closed only while it is held, for exactly what it holds. After that it never holds anything.
contract ClosedOnce is EscrowBook {
    function close(bytes32 id, IHireEscrow.Status outcome) external {
        (uint8 before, bool wasDelivered, uint128 held) = _state(id);
        (uint128 amount, bool delivered) = _close(id, outcome);
        (uint8 status, bool isDelivered, uint128 rest) = _state(id);
        assert(before == uint8(IHireEscrow.Status.Held) && amount == held && delivered == wasDelivered);
        assert(status == uint8(outcome) && rest == 0 && isDelivered == wasDelivered);
    }
}
