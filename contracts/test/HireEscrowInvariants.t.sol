// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EscrowHandler} from "./EscrowHandler.sol";
import {TestBase} from "./Vm.sol";

/// @title What holds of the escrow after any sequence of calls by anybody, with a token of any manners
contract HireEscrowInvariantsTest is TestBase {
    EscrowHandler private _handler;

    function setUp() public {
        _handler = new EscrowHandler();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_handler);
    }

    /// @notice Σ held + Σ credits ≤ token balance.
    function invariant_solvent() external view {
        require(
            _handler.sumHeld() + _handler.sumCredits()
                <= _handler.token().balanceOf(address(_handler.escrow())),
            unicode"Σ held + Σ credits ≤ token.balanceOf(escrow)"
        );
    }

    /// @notice Each escrowId pays out once and exactly its amount; no call moves money to an address outside {buyer,
    /// payee, feeRecipient} of its hire; a pause changes no balance; a call that fails changes nothing.
    function invariant_everyStepKeptTheRules() external view {
        require(bytes(_handler.broken()).length == 0, _handler.broken());
    }

    /// @notice Reports what the run did: a call that succeeded in none of the runs fails the suite. One run may well have
    /// paused at once, or met a token that takes nothing.
    function afterInvariant() external {
        string[] memory names = _handler.verbs();
        uint256[] memory counts = _handler.counts();
        report("HireEscrow", names, counts);
    }
}
