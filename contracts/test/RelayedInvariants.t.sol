// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {RelayedHandler} from "./RelayedHandler.sol";
import {TestBase} from "./Vm.sol";

/// @title What holds of the escrow after any sequence of relayed words, good and bad
contract RelayedInvariantsTest is TestBase {
    RelayedHandler private _handler;

    function setUp() public {
        _handler = new RelayedHandler();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_handler);
    }

    /// @notice Each call succeeds exactly when the rules say so, and afterwards the balance and the credit of everybody,
    /// and the state of every hire, is what the rules say, to the unit.
    function invariant_everybodyOwnsExactlyWhatTheRulesSay() external view {
        require(bytes(_handler.broken()).length == 0, _handler.broken());
    }

    /// @notice Reports what the run did: a call that succeeded in none of the runs fails the suite.
    function afterInvariant() external {
        report("HireEscrow by relayed words", _handler.verbs(), _handler.counts());
    }
}
