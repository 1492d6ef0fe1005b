// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EscrowHandler} from "./EscrowHandler.sol";
import {TestBase} from "./Vm.sol";

/// @title The rules that the escrow keeps after any sequence of calls by anybody, with a token of any behaviour
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

    /// @notice Each escrowId pays out once, and exactly its amount. No call moves money to an address that is not the
    /// buyer, payee or feeRecipient of its hire. A pause changes no balance. A call that fails changes nothing.
    function invariant_everyStepKeptTheRules() external view {
        require(bytes(_handler.broken()).length == 0, _handler.broken());
    }

    /// @notice Reports what the run did. If a call succeeds in none of the runs, the suite fails. It can fail in a
    /// single run, because of a pause or of a token that refuses every transfer.
    function afterInvariant() external {
        string[] memory names = _handler.verbs();
        uint256[] memory counts = _handler.counts();
        report("HireEscrow", names, counts);
    }
}
