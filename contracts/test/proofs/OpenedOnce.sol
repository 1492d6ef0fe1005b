// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EscrowBook} from "../../EscrowBook.sol";
import {IHireEscrow} from "../../interfaces/IHireEscrow.sol";

/// @notice A hire is opened only if it was never opened before. Then it holds exactly the given amount, which is not
/// zero.
contract OpenedOnce is EscrowBook {
    function open(bytes32 id, uint128 amount) external {
        (uint8 before,,) = _state(id);
        _open(id, amount);
        (uint8 status,, uint128 held) = _state(id);
        assert(before == uint8(IHireEscrow.Status.None));
        assert(status == uint8(IHireEscrow.Status.Held) && held == amount && held != 0);
    }
}
