// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IAnchoredLedger} from "../interfaces/IAnchoredLedger.sol";
import {LedgerHandler} from "./LedgerHandler.sol";
import {TestBase} from "./Vm.sol";

/// @title The rules that a ledger keeps after any sequence of calls, even after bad calls of its own writer
contract AnchoredLedgerInvariantsTest is TestBase {
    LedgerHandler private _handler;

    function setUp() public {
        _handler = new LedgerHandler();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_handler);
    }

    /// @notice The anchored root is the root of all entries that were ever anchored, in order.
    function invariant_appendOnly() external view {
        IAnchoredLedger.Head memory head = _head();
        require(head.root == _handler.expectedRoot(), "root == MTH(all entries ever anchored)");
        require(bytes(_handler.broken()).length == 0, _handler.broken());
    }

    /// @notice The ledger never has fewer entries than before.
    function invariant_neverShrinks() external view {
        require(_head().size == _handler.expectedSize(), "size == entries ever anchored");
    }

    /// @notice Anchors are counted without gaps.
    function invariant_everyAnchorHasItsNumber() external view {
        require(_head().seq == _handler.anchors(), "seq == accepted anchors");
    }

    /// @notice No honest act marks the ledger, whatever evidence somebody brings.
    function invariant_honestWritersAreNotConvicted() external view {
        require(!_handler.ledger().isEquivocated(_handler.id()), "!isEquivocated(id)");
    }

    /// @notice The writer is the account that last accepted to be the writer, and the guardian never changes.
    function invariant_writerIsWhoAccepted() external view {
        require(_handler.ledger().writerOf(_handler.id()) == _handler.writer(), "writerOf(id) == last to accept");
        require(_handler.ledger().guardianOf(_handler.id()) == _handler.guardian(), "guardianOf(id) never changes");
    }

    /// @notice Reports what the run did. If an act succeeds in none of the runs, the suite fails.
    function afterInvariant() external {
        string[] memory names = new string[](14);
        names[0] = "anchor";
        names[1] = "relay";
        names[2] = "heartbeat";
        names[3] = "rewrite refused";
        names[4] = "shrink refused";
        names[5] = "replay refused";
        names[6] = "stranger refused";
        names[7] = "fork proven";
        names[8] = "false evidence refused";
        names[9] = "writer announced";
        names[10] = "guardian announced";
        names[11] = "refused after the guardian announced";
        names[12] = "writer changed";
        names[13] = "early change refused";
        uint256[] memory counts = new uint256[](14);
        for (uint256 i = 0; i < counts.length; ++i) {
            counts[i] = _handler.done(LedgerHandler.Act(i));
        }
        report("AnchoredLedger", names, counts);
    }

    function _head() private view returns (IAnchoredLedger.Head memory) {
        return _handler.ledger().head(_handler.id());
    }
}
