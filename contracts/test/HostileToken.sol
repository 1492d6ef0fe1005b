// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A token that misbehaves on demand
/// @notice It accepts every authorization without a check of the signature. {behave}, {deny}, {pause} and {hook} decide
/// what a transfer does.
contract HostileToken is ERC20 {
    enum Behaviour {
        Honest,
        TakesFeeFromReceiver,
        TakesFeeFromSender,
        MovesHalf,
        ReturnsFalse,
        ReturnsFalseButMoves,
        ReturnsTrueButKeeps,
        ReturnsNothing,
        ReturnsNothingAndKeeps,
        Reverts,
        RevertsWithBomb,
        BurnsGas,
        CallsInsteadOfMoving,
        RevertsWithWords,
        BringsMore
    }

    Behaviour public behaviour;
    bool public paused;
    mapping(address account => bool) public denied;

    address private _hookTarget;
    bytes private _hookCall;
    bytes private _words;
    bool public hookSucceeded;
    bytes public hookResult;
    uint256 public hookRuns;

    error Refused();
    error Denied(address account);
    error TokenPaused();

    constructor() ERC20("Hostile", "BAD") {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function behave(Behaviour behaviour_) external {
        behaviour = behaviour_;
    }

    function deny(address account, bool denied_) external {
        denied[account] = denied_;
    }

    function pause(bool paused_) external {
        paused = paused_;
    }

    /// @notice Sets the error data of {Behaviour-RevertsWithWords}.
    function say(bytes calldata words) external {
        _words = words;
    }

    /// @notice Makes the next transfer call `target` once, after the money has moved.
    function hook(address target, bytes calldata call_) external {
        _hookTarget = target;
        _hookCall = call_;
        hookRuns = 0;
    }

    function transfer(address to, uint256 value) public override returns (bool) {
        return _act(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) public override returns (bool) {
        _spendAllowance(from, msg.sender, value);
        return _act(from, to, value);
    }

    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256,
        uint256,
        bytes32,
        bytes calldata
    ) external {
        _act(from, to, value);
    }

    function _act(address from, address to, uint256 value) private returns (bool) {
        if (paused) revert TokenPaused();
        if (denied[from]) revert Denied(from);
        if (denied[to]) revert Denied(to);
        Behaviour how = behaviour;
        if (how == Behaviour.Reverts) revert Refused();
        if (how == Behaviour.RevertsWithBomb) {
            assembly {
                revert(0, 500000)
            }
        }
        if (how == Behaviour.RevertsWithWords) {
            bytes memory words = _words;
            assembly {
                revert(add(words, 0x20), mload(words))
            }
        }
        if (how == Behaviour.BurnsGas) {
            assembly {
                invalid()
            }
        }
        bool calling = _hookTarget != address(0) && hookRuns == 0;
        if (!calling || how != Behaviour.CallsInsteadOfMoving) _move(how, from, to, value);
        if (calling) {
            hookRuns++;
            (hookSucceeded, hookResult) = _hookTarget.call(_hookCall);
        }
        if (how == Behaviour.ReturnsNothing || how == Behaviour.ReturnsNothingAndKeeps) {
            assembly {
                return(0, 0)
            }
        }
        return how != Behaviour.ReturnsFalse && how != Behaviour.ReturnsFalseButMoves;
    }

    function _move(Behaviour how, address from, address to, uint256 value) private {
        if (how == Behaviour.TakesFeeFromReceiver) {
            _transfer(from, to, value - value / 100);
            _burn(from, value / 100);
        } else if (how == Behaviour.TakesFeeFromSender) {
            _transfer(from, to, value);
            _burn(from, value / 100);
        } else if (how == Behaviour.BringsMore) {
            _transfer(from, to, value);
            _mint(to, 1);
        } else if (how == Behaviour.MovesHalf) {
            _transfer(from, to, value / 2);
        } else if (
            how != Behaviour.ReturnsFalse && how != Behaviour.ReturnsTrueButKeeps
                && how != Behaviour.ReturnsNothingAndKeeps
        ) {
            _transfer(from, to, value);
        }
    }
}
