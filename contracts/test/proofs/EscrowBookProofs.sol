// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {EscrowBook} from "../../EscrowBook.sol";
import {IHireEscrow} from "../../interfaces/IHireEscrow.sol";

// What `npm run prove` has solc's model checker prove of EscrowBook, one contract per property. Each inherits the contract
// that is deployed; none is ever deployed itself. Arguments are arbitrary, and so is the state a call starts from, as far
// as any sequence of calls leads there: an assertion that is proved holds for every hire and every account, always.

/// @notice All that HireEscrow does with hires in its book, to be called in any order.
abstract contract HireCalls is EscrowBook {
    function callOpen(bytes32 id, uint128 amount) external {
        _open(id, amount);
    }

    function callSetDelivered(bytes32 id) external {
        _setDelivered(id);
    }

    function callClose(bytes32 id, IHireEscrow.Status outcome) external {
        _requireFinal(outcome);
        _close(id, outcome);
    }

    /// @dev What HireEscrow closes with: Released, Split, Refunded, TimedOut.
    function _requireFinal(IHireEscrow.Status outcome) internal pure {
        require(uint8(outcome) > uint8(IHireEscrow.Status.Held));
    }
}

/// @notice All that HireEscrow does with credits in its book, to be called in any order.
abstract contract CreditCalls is EscrowBook {
    function callCreditRest(address to, uint256 amount, uint256 before, uint256 current) external {
        _creditRest(to, amount, before, current);
    }

    function callTakeCredit(address account) external {
        _takeCredit(account);
    }
}

/// @notice A hire is opened only when it never was, and then holds exactly what was given for it, which is not nothing.
contract OpenedOnce is HireCalls {
    function open(bytes32 id, uint128 amount) external {
        (uint8 before,,) = _state(id);
        _open(id, amount);
        (uint8 status,, uint128 held) = _state(id);
        assert(before == uint8(IHireEscrow.Status.None));
        assert(status == uint8(IHireEscrow.Status.Held) && held == amount && held != 0);
    }
}

/// @notice A hire is closed only while it is held, for exactly what it holds, and never holds anything again.
contract ClosedOnce is HireCalls {
    function close(bytes32 id, IHireEscrow.Status outcome) external {
        (uint8 before, bool wasDelivered, uint128 held) = _state(id);
        (uint128 amount, bool delivered) = _close(id, outcome);
        (uint8 status, bool isDelivered, uint128 rest) = _state(id);
        assert(before == uint8(IHireEscrow.Status.Held) && amount == held && delivered == wasDelivered);
        assert(status == uint8(outcome) && rest == 0 && isDelivered == wasDelivered);
    }
}

/// @notice Marking delivery takes a held hire that is not marked, and changes nothing but the mark.
contract DeliveryMovesNothing is HireCalls {
    function deliver(bytes32 id) external {
        (uint8 before, bool wasDelivered, uint128 held) = _state(id);
        _setDelivered(id);
        (uint8 status, bool isDelivered, uint128 rest) = _state(id);
        assert(before == uint8(IHireEscrow.Status.Held) && !wasDelivered && isDelivered);
        assert(status == before && rest == held);
    }
}

/// @notice Whatever is done for one hire, every other hire and every credit stay as they are.
contract OthersUntouched is HireCalls {
    function open(bytes32 id, uint128 amount, bytes32 other, address account) external {
        require(other != id);
        (uint8 before, bool wasDelivered, uint128 held) = _state(other);
        uint256 credit = _creditOf(account);
        _open(id, amount);
        (uint8 status, bool isDelivered, uint128 rest) = _state(other);
        assert(status == before && isDelivered == wasDelivered && rest == held);
        assert(_creditOf(account) == credit);
    }

    function close(bytes32 id, IHireEscrow.Status outcome, bytes32 other, address account) external {
        require(other != id);
        (uint8 before, bool wasDelivered, uint128 held) = _state(other);
        uint256 credit = _creditOf(account);
        _close(id, outcome);
        (uint8 status, bool isDelivered, uint128 rest) = _state(other);
        assert(status == before && isDelivered == wasDelivered && rest == held);
        assert(_creditOf(account) == credit);
    }

    function deliver(bytes32 id, bytes32 other) external {
        require(other != id);
        (uint8 before, bool wasDelivered, uint128 held) = _state(other);
        _setDelivered(id);
        (uint8 status, bool isDelivered, uint128 rest) = _state(other);
        assert(status == before && isDelivered == wasDelivered && rest == held);
    }
}

/// @notice One hire, followed through any sequence of calls: it is opened at most once, and closed at most once.
contract NeverTwice is HireCalls {
    bytes32 private _followed;
    uint256 private _openings;
    uint256 private _closings;

    constructor(bytes32 followed) {
        _followed = followed;
    }

    function check() external view {
        assert(_closings <= _openings && _openings <= 1);
    }

    function _onOpened(bytes32 id, uint128) internal override {
        if (id == _followed) _openings += 1;
    }

    function _onClosed(bytes32 id, uint128) internal override {
        if (id == _followed) _closings += 1;
    }
}

/// @notice The parts of a split add up to the amount.
contract PartsAddUp is EscrowBook {
    function split(uint128 amount, uint128 fee, uint128 toSeller) external pure {
        (uint128 toPayee, uint128 feeShare, uint128 toBuyer) = _parts(amount, fee, toSeller);
        assert(uint256(toPayee) + feeShare + toBuyer == amount);
        assert(toPayee <= toSeller);
    }
}

/// @notice What a payment did not move, and no more, is credited to whom it was for and to nobody else.
contract RestIsCredited is CreditCalls {
    function pay(address to, uint256 amount, uint256 before, uint256 current, address other) external {
        uint256 credit = _creditOf(to);
        uint256 creditOfOther = _creditOf(other);
        uint256 missing = _creditRest(to, amount, before, current);
        // Had the balance not grown meanwhile, exactly: what left and what is owed on are the amount.
        assert(current > before || (before - current) + missing == amount);
        assert(current <= before || missing == amount);
        assert(_creditOf(to) == credit + missing);
        assert(other == to || _creditOf(other) == creditOfOther);
    }
}

/// @notice A credit is taken once, for all that was put there, and no other credit changes.
contract CreditTakenOnce is CreditCalls {
    function take(address account, address other) external {
        uint256 credit = _creditOf(account);
        uint256 creditOfOther = _creditOf(other);
        uint256 amount = _takeCredit(account);
        assert(amount == credit && amount != 0 && _creditOf(account) == 0);
        assert(other == account || _creditOf(other) == creditOfOther);
    }
}

/// @notice Through any sequence of calls, what the contract must have is what is held and credited: Σ held + Σ credits.
/// @dev `_money` is the least the token balance can be: deposits add what they brought, payments and withdrawals take
/// what they moved. `_owed` is Σ held + Σ credits, counted in the seams.
contract OwesWhatItHas is EscrowBook {
    int256 private _money;
    int256 private _owed;

    function deposit(bytes32 id, uint128 amount) external {
        _open(id, amount);
        _money += int256(uint256(amount));
    }

    /// @dev One payment of all that was held; {PartsAddUp} is why more than one come to the same.
    function settle(bytes32 id, address to, IHireEscrow.Status outcome, uint128 moved) external {
        (uint128 amount,) = _close(id, outcome);
        require(moved <= amount);
        _creditRest(to, amount, moved, 0);
        _money -= int256(uint256(moved));
    }

    function withdraw(address account) external {
        _money -= int256(_takeCredit(account));
    }

    function check() external view {
        assert(_money == _owed);
    }

    function _onOpened(bytes32, uint128 amount) internal override {
        _owed += int256(uint256(amount));
    }

    function _onClosed(bytes32, uint128 amount) internal override {
        _owed -= int256(uint256(amount));
    }

    function _onCredited(address, uint256 amount) internal override {
        _owed += int256(amount);
    }

    function _onWithdrawn(address, uint256 amount) internal override {
        _owed -= int256(amount);
    }
}
