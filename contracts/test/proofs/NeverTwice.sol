// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EscrowBook} from "../../EscrowBook.sol";
import {IHireEscrow} from "../../interfaces/IHireEscrow.sol";

/// @notice Through any sequence of calls, a hire is opened at most once and closed at most once.
/// @dev The proof is by induction. The code spells out the hypothesis, because the solver does not find it by itself.
/// What each function requires for any hire before a call, it asserts after the call. At the beginning everything is
/// zero, and the hypothesis is true.
contract NeverTwice is EscrowBook {
    mapping(bytes32 escrowId => uint256) private _openings;
    mapping(bytes32 escrowId => uint256) private _closings;

    function open(bytes32 id, uint128 amount, bytes32 any) external {
        (uint8 status,,) = _state(any);
        require(_openings[any] == (status == uint8(IHireEscrow.Status.None) ? 0 : 1));
        require(_closings[any] == (status > uint8(IHireEscrow.Status.Held) ? 1 : 0));
        _open(id, amount);
        (status,,) = _state(any);
        assert(_openings[any] == (status == uint8(IHireEscrow.Status.None) ? 0 : 1));
        assert(_closings[any] == (status > uint8(IHireEscrow.Status.Held) ? 1 : 0));
    }

    function close(bytes32 id, IHireEscrow.Status outcome, bytes32 any) external {
        require(uint8(outcome) > uint8(IHireEscrow.Status.Held));
        (uint8 status,,) = _state(any);
        require(_openings[any] == (status == uint8(IHireEscrow.Status.None) ? 0 : 1));
        require(_closings[any] == (status > uint8(IHireEscrow.Status.Held) ? 1 : 0));
        _close(id, outcome);
        (status,,) = _state(any);
        assert(_openings[any] == (status == uint8(IHireEscrow.Status.None) ? 0 : 1));
        assert(_closings[any] == (status > uint8(IHireEscrow.Status.Held) ? 1 : 0));
    }

    function _onOpened(bytes32 id, uint128) internal override {
        _openings[id] += 1;
    }

    function _onClosed(bytes32 id, uint128) internal override {
        _closings[id] += 1;
    }
}
