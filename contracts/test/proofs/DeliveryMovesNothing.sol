// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EscrowBook} from "../../EscrowBook.sol";
import {IHireEscrow} from "../../interfaces/IHireEscrow.sol";

/// @notice Delivery can be marked only for a held hire that is not yet marked. Only the mark changes.
contract DeliveryMovesNothing is EscrowBook {
    function deliver(bytes32 id) external {
        (uint8 before, bool wasDelivered, uint128 held) = _state(id);
        _setDelivered(id);
        (uint8 status, bool isDelivered, uint128 rest) = _state(id);
        assert(before == uint8(IHireEscrow.Status.Held) && !wasDelivered && isDelivered);
        assert(status == before && rest == held);
    }
}
