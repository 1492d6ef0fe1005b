// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IHireEscrow} from "../interfaces/IHireEscrow.sol";

/// @title Emits the same events as the escrow, but is not the escrow
contract EventSpoofer {
    function spoof(bytes32 id, IHireEscrow.Hire calldata hire) external {
        emit IHireEscrow.Deposited(
            id,
            hire.buyer,
            hire.seller,
            hire.hireId,
            hire.payee,
            hire.amount,
            hire.fee,
            hire.feeRecipient,
            hire.deadline,
            hire.arbiter
        );
        emit IHireEscrow.Released(id, hire.buyer, hire.seller, hire.amount, 0, hire.fee);
    }
}
