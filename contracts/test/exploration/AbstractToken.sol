// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Puppet} from "./Puppet.sol";

/// @title A token that keeps the escrow's assumptions and nothing else
/// @notice `balanceOf` never lies. The escrow's balance falls only when the escrow itself makes a transfer, though by
/// another amount in the moods that move less or more. The explorer chooses what a transfer does.
contract AbstractToken {
    enum Mood {
        Honest,
        Refuses,
        MovesHalf,
        /// @notice Moves the money. After the first transfer in this mood, calls the escrow with all `calls`.
        CallsBack,
        /// @notice The sender of a transfer loses one unit more, or the receiver of a deposit gets one unit more.
        Exceeds,
        /// @notice Says that it moved the money, but did not.
        Lies
    }

    mapping(address account => uint256) public balanceOf;

    Mood private _mood;
    address private _escrow;
    bytes[] private _calls;
    bool private _called;

    error Refused();

    function mint(address to, uint256 amount) external {
        balanceOf[to] += amount;
    }

    function behave(Mood mood, address escrow, bytes[] calldata calls) external {
        (_mood, _escrow, _called) = (mood, escrow, false);
        delete _calls;
        for (uint256 i = 0; i < calls.length; ++i) {
            _calls.push(calls[i]);
        }
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        if (_mood == Mood.Exceeds) balanceOf[msg.sender] -= 1;
        return _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        if (_mood == Mood.Exceeds) balanceOf[to] += 1;
        return _move(from, to, amount);
    }

    /// @notice EIP-3009. Here the signature is over the nonce alone.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 amount,
        uint256,
        uint256,
        bytes32 nonce,
        bytes calldata signature
    ) external {
        if (Puppet(from).isValidSignature(nonce, signature) != Puppet.isValidSignature.selector) revert Refused();
        if (_mood == Mood.Exceeds) balanceOf[to] += 1;
        _move(from, to, amount);
    }

    function _move(address from, address to, uint256 amount) private returns (bool) {
        if (_mood == Mood.Refuses) revert Refused();
        if (_mood == Mood.MovesHalf) amount /= 2;
        if (_mood == Mood.Lies) amount = 0;
        balanceOf[from] -= amount;
        balanceOf[to] += amount;
        if (_mood == Mood.CallsBack && !_called) {
            _called = true;
            for (uint256 i = 0; i < _calls.length; ++i) {
                (bool done,) = _escrow.call(_calls[i]);
                done;
            }
        }
        return true;
    }
}
