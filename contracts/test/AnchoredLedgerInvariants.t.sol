// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAnchoredLedger} from "../interfaces/IAnchoredLedger.sol";
import {LedgerHandler} from "./LedgerHandler.sol";
import {TestBase} from "./Vm.sol";

/// @title What holds of a ledger after any sequence of calls, its own writer's bad ones among them
contract AnchoredLedgerInvariantsTest is TestBase {
    LedgerHandler private _handler;

    function setUp() public {
        _handler = new LedgerHandler();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_handler);
    }

    /// @notice The anchored root is that of everything that was ever anchored, in order.
    function invariant_appendOnly() external view {
        IAnchoredLedger.Head memory head = _head();
        require(head.root == _handler.expectedRoot(), "root == MTH(all entries ever anchored)");
        require(bytes(_handler.broken()).length == 0, _handler.broken());
    }

    /// @notice It never has fewer entries than before.
    function invariant_neverShrinks() external view {
        require(_head().size == _handler.expectedSize(), "size == entries ever anchored");
    }

    /// @notice Anchors are counted without gaps.
    function invariant_everyAnchorHasItsNumber() external view {
        require(_head().seq == _handler.anchors(), "seq == accepted anchors");
    }

    /// @notice Reports what the run did: an act that succeeded in none of the runs fails the suite.
    function afterInvariant() external {
        string[] memory names = new string[](8);
        names[0] = "anchor";
        names[1] = "relay";
        names[2] = "heartbeat";
        names[3] = "rewrite refused";
        names[4] = "shrink refused";
        names[5] = "replay refused";
        names[6] = "stranger refused";
        names[7] = "equivocation";
        uint256[] memory counts = new uint256[](8);
        for (uint256 i = 0; i < counts.length; ++i) {
            counts[i] = _handler.done(LedgerHandler.Act(i));
        }
        report("AnchoredLedger", names, counts);
    }

    function _head() private view returns (IAnchoredLedger.Head memory) {
        return _handler.ledger().head(_handler.id());
    }
}
