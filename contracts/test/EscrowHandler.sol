// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IHireEscrow} from "../interfaces/IHireEscrow.sol";
import {HostileToken} from "./HostileToken.sol";
import {TestBase} from "./Vm.sol";

/// @title Tries everything that anybody can do with an escrow, and watches whose money moves
/// @notice There are six people, a token that changes its behaviour, and every function with good and bad arguments.
/// Each step compares all balances, credits and slots before and after it. {broken} holds the first broken rule. A
/// revert would not help: the runner would only skip the step.
contract EscrowHandler is TestBase {
    enum Verb {
        Deposit,
        DepositWithAuthorization,
        DepositWithPermit,
        MarkDelivered,
        Release,
        Split,
        Refund,
        TimeoutRefund,
        Batch,
        Withdraw,
        Pause,
        Credited
    }

    struct Books {
        uint256 escrowBalance;
        uint256 held;
        uint256 owed;
        uint256[6] balances;
        uint256[6] credits;
    }

    uint256 private constant MOST_HIRES = 24;

    IHireEscrow public immutable escrow;
    HostileToken public immutable token;
    address[6] public people;

    IHireEscrow.Hire[] private _hires;
    mapping(bytes32 id => IHireEscrow.Status) private _last;
    mapping(bytes32 id => uint256) public payouts;

    uint256 private _seed;
    uint256 private _steps;

    /// @notice How often each function succeeded.
    mapping(Verb verb => uint256) public successes;
    /// @notice The first rule that was broken; empty if none was.
    string public broken;

    constructor() {
        token = new HostileToken();
        escrow = IHireEscrow(deployed("HireEscrow", abi.encode(token, this, "handler")));
        for (uint256 i = 0; i < people.length; ++i) {
            people[i] = vm.addr(i + 1);
            token.mint(people[i], 1e12);
            vm.prank(people[i]);
            token.approve(address(escrow), type(uint256).max);
        }
    }

    /// @dev The runner often gives 0, the maximum, or the same input again. The hash gives every choice below different
    /// bits.
    modifier mixed(uint256 seed) {
        _seed = uint256(keccak256(abi.encode(seed, ++_steps)));
        _;
    }

    // ---------------------------------------------------------------------------------------------- verbs

    function deposit(uint256 input, uint128 amount) external mixed(input) {
        uint256 seed = _seed;
        if ((seed >> 240) % 4 != 0) _fairWeather();
        IHireEscrow.Hire memory hire = _terms(seed, amount);
        uint256 how = (seed >> 232) % 3;
        bytes memory call;
        Verb verb;
        if (how == 0) {
            (verb, call) = (Verb.Deposit, abi.encodeCall(IHireEscrow.deposit, (hire)));
        } else if (how == 1) {
            verb = Verb.DepositWithAuthorization;
            call = abi.encodeCall(IHireEscrow.depositWithAuthorization, (hire, 0, hire.deadline, ""));
        } else {
            verb = Verb.DepositWithPermit;
            bytes memory word = signed(_keyOf(hire.buyer), escrow.escrowId(hire));
            call = abi.encodeCall(IHireEscrow.depositWithPermit, (hire, 0, 0, "", word));
        }
        Books memory before = _books();
        if (!_attempt(hire.buyer, call, verb, before)) return;
        Books memory current = _books();
        _require(current.escrowBalance == before.escrowBalance + hire.amount, "deposit: balance + amount");
        _require(
            escrow.stateOf(escrow.escrowId(hire)).amount == hire.amount, "deposit: held is what was deposited"
        );
        _require(current.owed == before.owed, "deposit: credits unchanged");
        _require(_last[escrow.escrowId(hire)] == IHireEscrow.Status.None, "deposit: each escrowId once");
        _outsidersUnchanged(before, current, hire.buyer, hire.buyer, hire.buyer);
        _hires.push(hire);
        _note();
    }

    function markDelivered(uint256 input) external mixed(input) {
        uint256 seed = _seed;
        if (_hires.length == 0) return;
        IHireEscrow.Hire memory hire = _pick(seed);
        Books memory before = _books();
        bytes memory call = abi.encodeCall(IHireEscrow.markDelivered, (hire, bytes32(seed), ""));
        if (!_attempt(_sender(seed, hire.seller), call, Verb.MarkDelivered, before)) return;
        _unchanged(before, "markDelivered: moves nothing");
    }

    function release(uint256 input) external mixed(input) {
        uint256 seed = _seed;
        if (_hires.length == 0) return;
        IHireEscrow.Hire memory hire = _pick(seed);
        bytes memory call = abi.encodeCall(IHireEscrow.release, (hire, ""));
        _settle(_sender(seed, hire.buyer), call, Verb.Release, hire);
    }

    function split(uint256 input, uint128 toSeller) external mixed(input) {
        uint256 seed = _seed;
        if (_hires.length == 0) return;
        IHireEscrow.Hire memory hire = _pick(seed);
        toSeller = uint128(bound(toSeller, 0, hire.amount));
        bytes memory call = abi.encodeCall(IHireEscrow.split, (hire, toSeller, ""));
        _settle(_sender(seed, hire.buyer), call, Verb.Split, hire);
    }

    function refund(uint256 input) external mixed(input) {
        uint256 seed = _seed;
        if (_hires.length == 0) return;
        IHireEscrow.Hire memory hire = _pick(seed);
        address[3] memory parties = [hire.buyer, hire.seller, hire.arbiter];
        address signer = parties[(seed >> 8) % 3];
        bytes memory call = abi.encodeCall(IHireEscrow.refund, (hire, signer, ""));
        _settle(_sender(seed, signer), call, Verb.Refund, hire);
    }

    function timeoutRefund(uint256 input) external mixed(input) {
        uint256 seed = _seed;
        if (_hires.length == 0) return;
        IHireEscrow.Hire memory hire = _pick(seed);
        bytes memory call = abi.encodeCall(IHireEscrow.timeoutRefund, (hire));
        _settle(people[seed % 6], call, Verb.TimeoutRefund, hire);
    }

    /// @dev A batch of releases, timeouts and withdrawals by one sender. Some of them succeed.
    function batch(uint256 input) external mixed(input) {
        uint256 seed = _seed;
        if (_hires.length == 0) return;
        bytes[] memory calls = new bytes[](bound(seed >> 136, 1, 6));
        for (uint256 i = 0; i < calls.length; ++i) {
            uint256 own = uint256(keccak256(abi.encode(seed, i)));
            if (own % 4 == 0) calls[i] = abi.encodeCall(IHireEscrow.timeoutRefund, (_pick(own >> 8)));
            else if (own % 8 == 1) calls[i] = abi.encodeCall(IHireEscrow.withdraw, (people[(own >> 8) % 6]));
            else calls[i] = abi.encodeCall(IHireEscrow.release, (_pick(own >> 8), ""));
        }
        uint256 gasEach = (seed >> 16) % 4 == 0 ? 100_000 : 1_000_000;
        _settleMany(people[seed % 6], abi.encodeCall(IHireEscrow.batch, (calls, gasEach)), Verb.Batch);
    }

    function withdraw(uint256 input) external mixed(input) {
        uint256 seed = _seed;
        address account = people[seed % 6];
        Books memory before = _books();
        bytes memory call = abi.encodeCall(IHireEscrow.withdraw, (account));
        if (!_attempt(people[(seed >> 8) % 6], call, Verb.Withdraw, before)) return;
        Books memory current = _books();
        uint256 paid = before.escrowBalance - current.escrowBalance;
        _require(before.owed == current.owed + paid, "withdraw: credits fall by what is paid");
        _require(before.held == current.held, "withdraw: held unchanged");
        _outsidersUnchanged(before, current, account, account, account);
    }

    function pause(uint256 input) external mixed(input) {
        uint256 seed = _seed;
        Books memory before = _books();
        if (seed % 3 != 0) {
            escrow.unpause();
        } else {
            escrow.pause(bound(seed, 1, 1 hours));
            successes[Verb.Pause]++;
        }
        _unchanged(before, "pause: changes no balance");
    }

    // ---------------------------------------------------------------------------------- the world outside

    /// @dev Makes the token behave for most deposits. Otherwise few deposits would succeed in a run.
    function _fairWeather() private {
        token.behave(HostileToken.Behaviour.Honest);
        token.hook(address(0), "");
        for (uint256 i = 0; i < people.length; ++i) {
            token.deny(people[i], false);
        }
    }

    /// @dev The token behaves half of the time. It never takes more from a sender than the amount, because the escrow
    /// assumes this.
    function behave(uint256 input) external mixed(input) {
        uint256 seed = _seed;
        uint256 how = seed % 24;
        token.behave(HostileToken.Behaviour(how > 12 || how == 2 ? 0 : how));
    }

    function deny(uint256 input) external mixed(input) {
        uint256 seed = _seed;
        token.deny(people[seed % 6], (seed >> 8) % 3 == 0);
    }

    /// @dev During a transfer, the token calls the escrow with something that would succeed at another time.
    function hook(uint256 input) external mixed(input) {
        uint256 seed = _seed;
        if (_hires.length == 0 || seed % 2 == 0) {
            token.hook(address(0), "");
            return;
        }
        IHireEscrow.Hire memory fresh = _terms(seed, uint128(seed));
        bytes[3] memory calls = [
            abi.encodeCall(IHireEscrow.depositWithAuthorization, (fresh, 0, fresh.deadline, "")),
            abi.encodeCall(IHireEscrow.timeoutRefund, (_pick(seed))),
            abi.encodeCall(IHireEscrow.withdraw, (people[seed % 6]))
        ];
        token.hook(address(escrow), calls[(seed >> 16) % 3]);
    }

    function donate(uint256 amount) external {
        token.mint(address(escrow), bound(amount, 0, 1000));
    }

    function wait_(uint256 time) external {
        vm.warp(block.timestamp + bound(time, 1, 2 hours));
    }

    // ---------------------------------------------------------------------------------------- observation

    function sumHeld() public view returns (uint256 sum) {
        for (uint256 i = 0; i < _hires.length; ++i) {
            sum += escrow.stateOf(escrow.escrowId(_hires[i])).amount;
        }
    }

    function sumCredits() public view returns (uint256 sum) {
        for (uint256 i = 0; i < people.length; ++i) {
            sum += escrow.credit(people[i]);
        }
    }

    function verbs() external pure returns (string[] memory names) {
        names = new string[](uint256(type(Verb).max) + 1);
        names[uint256(Verb.Deposit)] = "deposit";
        names[uint256(Verb.DepositWithAuthorization)] = "depositWithAuthorization";
        names[uint256(Verb.DepositWithPermit)] = "depositWithPermit";
        names[uint256(Verb.MarkDelivered)] = "markDelivered";
        names[uint256(Verb.Release)] = "release";
        names[uint256(Verb.Split)] = "split";
        names[uint256(Verb.Refund)] = "refund";
        names[uint256(Verb.TimeoutRefund)] = "timeoutRefund";
        names[uint256(Verb.Batch)] = "batch";
        names[uint256(Verb.Withdraw)] = "withdraw";
        names[uint256(Verb.Pause)] = "pause";
        names[uint256(Verb.Credited)] = "credited instead of paid";
    }

    function counts() external view returns (uint256[] memory numbers) {
        numbers = new uint256[](uint256(type(Verb).max) + 1);
        for (uint256 i = 0; i < numbers.length; ++i) {
            numbers[i] = successes[Verb(i)];
        }
    }

    // ------------------------------------------------------------------------------------------ internals

    function _settle(address sender, bytes memory call, Verb verb, IHireEscrow.Hire memory hire) private {
        Books memory before = _books();
        if (!_attempt(sender, call, verb, before)) return;
        Books memory current = _books();
        uint256 paid = before.escrowBalance - current.escrowBalance;
        _require(before.held == current.held + hire.amount, "settle: held falls by amount");
        _require(paid + current.owed == before.owed + hire.amount, "settle: paid + credited = amount");
        address payee = hire.payee == address(0) ? hire.seller : hire.payee;
        _outsidersUnchanged(before, current, hire.buyer, payee, hire.feeRecipient);
        if (current.owed > before.owed) successes[Verb.Credited]++;
        _note();
    }

    function _settleMany(address sender, bytes memory call, Verb verb) private {
        Books memory before = _books();
        vm.prank(sender);
        (bool done,) = address(escrow).call{gas: 14_000_000}(call);
        if (!done) {
            _unchanged(before, "a call that failed changed something");
            return;
        }
        Books memory current = _books();
        uint256 paid = before.escrowBalance - current.escrowBalance;
        _require(
            before.held + before.owed == current.held + current.owed + paid,
            "batch: held + credits fall by what is paid"
        );
        if (current.held < before.held) successes[verb]++;
        _note();
    }

    /// @dev A call that fails must change nothing.
    function _attempt(address sender, bytes memory call, Verb verb, Books memory before)
        private
        returns (bool done)
    {
        vm.prank(sender);
        (done,) = address(escrow).call{gas: 4_000_000}(call);
        if (done) successes[verb]++;
        else _unchanged(before, "a call that failed changed something");
    }

    /// @dev A final status never changes, and each hire reaches a final status only once.
    function _note() private {
        for (uint256 i = 0; i < _hires.length; ++i) {
            bytes32 id = escrow.escrowId(_hires[i]);
            IHireEscrow.State memory state = escrow.stateOf(id);
            if (state.status != _last[id]) {
                _require(_last[id] <= IHireEscrow.Status.Held, "status: a final status changed");
                if (state.status > IHireEscrow.Status.Held) payouts[id]++;
                _last[id] = state.status;
            }
            _require(payouts[id] <= 1, "status: each escrowId pays out once");
            _require(
                (state.amount == 0) == (state.status != IHireEscrow.Status.Held),
                "status: holds money exactly while Held"
            );
        }
    }

    function _books() private view returns (Books memory books) {
        books.escrowBalance = token.balanceOf(address(escrow));
        books.held = sumHeld();
        books.owed = sumCredits();
        for (uint256 i = 0; i < people.length; ++i) {
            books.balances[i] = token.balanceOf(people[i]);
            books.credits[i] = escrow.credit(people[i]);
        }
    }

    function _unchanged(Books memory before, string memory message) private {
        _require(keccak256(abi.encode(before)) == keccak256(abi.encode(_books())), message);
    }

    function _outsidersUnchanged(
        Books memory before,
        Books memory current,
        address a,
        address b,
        address c
    ) private {
        for (uint256 i = 0; i < people.length; ++i) {
            if (people[i] == a || people[i] == b || people[i] == c) continue;
            _require(before.balances[i] == current.balances[i], "no money outside {buyer, payee, feeRecipient}");
            _require(before.credits[i] == current.credits[i], "no credit outside {buyer, payee, feeRecipient}");
        }
    }

    function _require(bool condition, string memory message) private {
        if (!condition && bytes(broken).length == 0) broken = message;
    }

    /// @dev The terms are mostly valid. The unit tests cover terms that break a rule.
    function _terms(uint256 seed, uint128 amount) private view returns (IHireEscrow.Hire memory hire) {
        if (_hires.length >= MOST_HIRES) amount = 0;
        uint256 buyer = seed % 6;
        hire.hireId = keccak256(abi.encode(seed, _hires.length));
        hire.buyer = people[buyer];
        hire.seller = people[(buyer + 1 + (seed >> 8) % 5) % 6];
        hire.payee = (seed >> 16) % 2 == 0 ? address(0) : people[(buyer + 1 + (seed >> 24) % 5) % 6];
        hire.amount = uint128(bound(amount, amount == 0 ? 0 : 1, 1e9));
        hire.feeRecipient = people[(seed >> 32) % 6];
        hire.fee = uint128(bound(seed >> 40, 0, hire.amount));
        hire.deadline = uint64(block.timestamp + bound(seed >> 48, 1, 4 hours));
        hire.arbiter = (seed >> 56) % 2 == 0 ? address(0) : people[(seed >> 64) % 6];
    }

    function _pick(uint256 seed) private view returns (IHireEscrow.Hire memory) {
        return _hires[(seed >> 128) % _hires.length];
    }

    /// @dev In three of four cases the entitled person, otherwise any person.
    function _sender(uint256 seed, address entitled) private view returns (address) {
        return (seed >> 200) % 4 == 0 ? people[(seed >> 208) % 6] : entitled;
    }

    function _keyOf(address person) private view returns (uint256) {
        for (uint256 i = 0; i < people.length; ++i) {
            if (people[i] == person) return i + 1;
        }
        revert("unknown person");
    }
}
