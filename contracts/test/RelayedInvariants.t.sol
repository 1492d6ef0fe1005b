// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {RelayedHandler} from "./RelayedHandler.sol";
import {TestBase} from "./Vm.sol";

/// @title The rules that the escrow keeps after any sequence of calls with good and bad signatures of others
contract RelayedInvariantsTest is TestBase {
    RelayedHandler private _handler;

    function setUp() public {
        _handler = new RelayedHandler();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_handler);
    }

    /// @notice Each call succeeds exactly if the rules allow it. Afterwards the balance and the credit of everybody,
    /// and the state of every hire, are exactly as the rules say.
    function invariant_everybodyOwnsExactlyWhatTheRulesSay() external view {
        require(bytes(_handler.broken()).length == 0, _handler.broken());
    }

    /// @notice Reports what the run did. If a call succeeds in none of the runs, the suite fails.
    function afterInvariant() external {
        report("HireEscrow by relayed words", _handler.verbs(), _handler.counts());
    }
}
