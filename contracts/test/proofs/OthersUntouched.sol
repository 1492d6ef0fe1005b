// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EscrowBook} from "../../EscrowBook.sol";
import {IHireEscrow} from "../../interfaces/IHireEscrow.sol";

/// @notice Opening, delivering or closing one hire changes no other hire and no credit.
contract OthersUntouched is EscrowBook {
    function open(bytes32 id, uint128 amount, bytes32 other, address account) external {
        require(other != id);
        (uint8 before, bool wasDelivered, uint128 held) = _state(other);
        uint256 credit = _creditOf(account);
        _open(id, amount);
        (uint8 status, bool isDelivered, uint128 rest) = _state(other);
        assert(status == before && isDelivered == wasDelivered && rest == held);
        assert(_creditOf(account) == credit);
    }

    function close(bytes32 id, IHireEscrow.Status outcome, bytes32 other, address account) external {
        require(other != id);
        (uint8 before, bool wasDelivered, uint128 held) = _state(other);
        uint256 credit = _creditOf(account);
        _close(id, outcome);
        (uint8 status, bool isDelivered, uint128 rest) = _state(other);
        assert(status == before && isDelivered == wasDelivered && rest == held);
        assert(_creditOf(account) == credit);
    }

    function deliver(bytes32 id, bytes32 other, address account) external {
        require(other != id);
        (uint8 before, bool wasDelivered, uint128 held) = _state(other);
        uint256 credit = _creditOf(account);
        _setDelivered(id);
        (uint8 status, bool isDelivered, uint128 rest) = _state(other);
        assert(status == before && isDelivered == wasDelivered && rest == held);
        assert(_creditOf(account) == credit);
    }
}
