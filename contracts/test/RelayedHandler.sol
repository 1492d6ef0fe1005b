// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IHireEscrow} from "../interfaces/IHireEscrow.sol";
import {HostileToken} from "./HostileToken.sol";
import {TestBase} from "./Vm.sol";

/// @title Sends good and bad signatures of others, and predicts the result of each call
/// @notice A model beside the escrow knows what everybody owns. Before each call the model says whether the call will
/// succeed. After each call, every balance and every credit must be exactly the same as in the model. {broken} holds
/// the first difference. The token is honest, but blocks some accounts.
contract RelayedHandler is TestBase {
    enum Verb {
        MarkDelivered,
        Release,
        Split,
        Refund,
        Deposit,
        TimeoutRefund,
        Withdraw,
        Refused,
        Credited
    }

    uint256 private constant MOST_HIRES = 40;
    uint256 private constant PEOPLE = 6;

    IHireEscrow public immutable escrow;
    HostileToken public immutable token;
    bytes32 private immutable _domain;
    address[PEOPLE] public people;

    IHireEscrow.Hire[] private _hires;
    mapping(bytes32 id => IHireEscrow.State) private _states;
    mapping(address account => uint256) private _balances;
    mapping(address account => uint256) private _credits;
    mapping(Verb verb => uint256) private _counts;

    uint256 private _seed;
    uint256 private _steps;

    /// @notice The first difference from the model; empty if there was none.
    string public broken;

    constructor() {
        token = new HostileToken();
        escrow = IHireEscrow(deployed("HireEscrow", abi.encode(token, this, "relayed")));
        for (uint256 i = 0; i < PEOPLE; ++i) {
            people[i] = vm.addr(i + 1);
            token.mint(people[i], 1e12);
            _balances[people[i]] = 1e12;
            vm.prank(people[i]);
            token.approve(address(escrow), type(uint256).max);
        }
        _domain = keccak256(
            abi.encode(
                keccak256(
                    "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
                ),
                keccak256("Tallystick HireEscrow"),
                keccak256("1"),
                block.chainid,
                address(escrow)
            )
        );
    }

    /// @dev The runner often gives 0, the maximum, or the same input again. The hash gives every choice below different
    /// bits.
    modifier mixed(uint256 input) {
        _seed = uint256(keccak256(abi.encode(input, ++_steps)));
        _;
        _compare();
    }

    /// @dev Somebody signs a statement, and somebody sends it to one of four functions.
    function speak(uint256 input, uint128 toSeller) external mixed(input) {
        if (_hires.length == 0) return;
        IHireEscrow.Hire memory hire = _hires[(_seed >> 128) % _hires.length];
        bytes32 id = escrow.escrowId(hire);
        toSeller = uint128(bound(toSeller, 0, hire.amount));
        Verb verb = Verb(_seed % 4);
        Verb said = (_seed >> 16) % 4 != 0 ? verb : Verb((_seed >> 24) % 4);
        address named = [hire.buyer, hire.seller, hire.arbiter, _anyone(8)][(_seed >> 56) % 4];
        address entitled = verb == Verb.Refund ? named : verb == Verb.MarkDelivered ? hire.seller : hire.buyer;
        address signer = (_seed >> 32) % 4 != 0 && entitled != address(0) ? entitled : _anyone(40);
        bytes memory word = _signed(signer, _terms(said, id, named, toSeller));

        bool good = said == verb && signer == entitled && _allows(verb, hire, id, named, toSeller);
        if (!_sent(_encode(verb, hire, named, toSeller, word), verb, good)) return;
        if (verb == Verb.MarkDelivered) _states[id].delivered = true;
        else _settle(verb, hire, id, toSeller);
    }

    function deposit(uint256 input, uint128 amount) external mixed(input) {
        if (_hires.length >= MOST_HIRES) return;
        IHireEscrow.Hire memory hire = _draw(amount);
        bytes32 id = escrow.escrowId(hire);
        address signer = (_seed >> 72) % 4 != 0 ? hire.buyer : _anyone(80);
        bytes memory call =
            abi.encodeCall(IHireEscrow.depositWithPermit, (hire, 0, 0, "", _rawSigned(signer, id)));
        if (!_sent(call, Verb.Deposit, signer == hire.buyer && !token.denied(hire.buyer))) return;
        _balances[hire.buyer] -= hire.amount;
        _balances[address(escrow)] += hire.amount;
        _states[id] = IHireEscrow.State(IHireEscrow.Status.Held, false, hire.amount);
        _hires.push(hire);
    }

    function timeoutRefund(uint256 input) external mixed(input) {
        if (_hires.length == 0) return;
        IHireEscrow.Hire memory hire = _hires[(_seed >> 128) % _hires.length];
        bytes32 id = escrow.escrowId(hire);
        bool good = _states[id].status == IHireEscrow.Status.Held && block.timestamp >= hire.deadline;
        if (!_sent(abi.encodeCall(IHireEscrow.timeoutRefund, (hire)), Verb.TimeoutRefund, good)) return;
        _settle(Verb.TimeoutRefund, hire, id, 0);
    }

    function withdraw(uint256 input) external mixed(input) {
        address account = _anyone(8);
        bool good = _credits[account] != 0 && !token.denied(account);
        if (!_sent(abi.encodeCall(IHireEscrow.withdraw, (account)), Verb.Withdraw, good)) return;
        _balances[account] += _credits[account];
        _balances[address(escrow)] -= _credits[account];
        _credits[account] = 0;
    }

    function deny(uint256 input) external mixed(input) {
        token.deny(_anyone(0), (_seed >> 8) % 3 == 0);
    }

    function wait_(uint256 time) external {
        vm.warp(block.timestamp + bound(time, 1, 1 hours));
    }

    function verbs() external pure returns (string[] memory names) {
        names = new string[](uint256(type(Verb).max) + 1);
        names[uint256(Verb.MarkDelivered)] = "markDelivered";
        names[uint256(Verb.Release)] = "release";
        names[uint256(Verb.Split)] = "split";
        names[uint256(Verb.Refund)] = "refund";
        names[uint256(Verb.Deposit)] = "depositWithPermit";
        names[uint256(Verb.TimeoutRefund)] = "timeoutRefund";
        names[uint256(Verb.Withdraw)] = "withdraw";
        names[uint256(Verb.Refused)] = "refused as predicted";
        names[uint256(Verb.Credited)] = "credited instead of paid";
    }

    function counts() external view returns (uint256[] memory numbers) {
        numbers = new uint256[](uint256(type(Verb).max) + 1);
        for (uint256 i = 0; i < numbers.length; ++i) {
            numbers[i] = _counts[Verb(i)];
        }
    }

    // ---------------------------------------------------------------------------------------------- model

    function _allows(Verb verb, IHireEscrow.Hire memory hire, bytes32 id, address named, uint128 toSeller)
        private
        view
        returns (bool)
    {
        if (_states[id].status != IHireEscrow.Status.Held) return false;
        if (verb == Verb.MarkDelivered) return !_states[id].delivered && block.timestamp < hire.deadline;
        if (verb == Verb.Split) return toSeller != 0 && toSeller < hire.amount;
        if (verb != Verb.Refund) return true;
        return named != address(0) && (named == hire.buyer || named == hire.seller || named == hire.arbiter);
    }

    function _settle(Verb verb, IHireEscrow.Hire memory hire, bytes32 id, uint128 toSeller) private {
        IHireEscrow.Status[6] memory outcomes = [
            IHireEscrow.Status.Held,
            IHireEscrow.Status.Released,
            IHireEscrow.Status.Split,
            IHireEscrow.Status.Refunded,
            IHireEscrow.Status.Held,
            IHireEscrow.Status.TimedOut
        ];
        _states[id].status = outcomes[uint256(verb)];
        _states[id].amount = 0;
        uint256 given = verb == Verb.Release ? hire.amount : verb == Verb.Split ? toSeller : 0;
        uint256 fee = uint256(hire.fee) * given / hire.amount;
        _pay(hire.payee == address(0) ? hire.seller : hire.payee, given - fee);
        _pay(hire.feeRecipient, fee);
        _pay(hire.buyer, hire.amount - given);
    }

    function _pay(address to, uint256 amount) private {
        if (amount == 0) return;
        if (token.denied(to)) {
            _credits[to] += amount;
            _counts[Verb.Credited]++;
        } else {
            _balances[to] += amount;
            _balances[address(escrow)] -= amount;
        }
    }

    function _compare() private {
        for (uint256 i = 0; i < PEOPLE; ++i) {
            _require(token.balanceOf(people[i]) == _balances[people[i]], "a balance is not the model's");
            _require(escrow.credit(people[i]) == _credits[people[i]], "a credit is not the model's");
        }
        _require(
            token.balanceOf(address(escrow)) == _balances[address(escrow)],
            "the escrow's balance is not the model's"
        );
        for (uint256 i = 0; i < _hires.length; ++i) {
            bytes32 id = escrow.escrowId(_hires[i]);
            _require(
                keccak256(abi.encode(escrow.stateOf(id))) == keccak256(abi.encode(_states[id])),
                "a hire is not the model's"
            );
        }
    }

    // --------------------------------------------------------------------------------------------- helpers

    /// @dev The sender is random, because only the signature counts.
    function _sent(bytes memory call, Verb verb, bool good) private returns (bool done) {
        vm.prank(_anyone(88));
        (done,) = address(escrow).call{gas: 4_000_000}(call);
        _require(done || !good, "refused a good call");
        _require(good || !done, "accepted a bad call");
        _counts[done ? verb : Verb.Refused]++;
    }

    function _encode(
        Verb verb,
        IHireEscrow.Hire memory hire,
        address named,
        uint128 toSeller,
        bytes memory word
    ) private pure returns (bytes memory) {
        if (verb == Verb.MarkDelivered) return abi.encodeCall(IHireEscrow.markDelivered, (hire, "done", word));
        if (verb == Verb.Release) return abi.encodeCall(IHireEscrow.release, (hire, word));
        if (verb == Verb.Split) return abi.encodeCall(IHireEscrow.split, (hire, toSeller, word));
        return abi.encodeCall(IHireEscrow.refund, (hire, named, word));
    }

    function _terms(Verb said, bytes32 id, address named, uint128 toSeller) private pure returns (bytes32) {
        if (said == Verb.MarkDelivered) {
            return keccak256(
                abi.encode(keccak256("MarkDelivered(bytes32 escrowId,bytes32 resultHash)"), id, bytes32("done"))
            );
        }
        if (said == Verb.Release) {
            return keccak256(abi.encode(keccak256("Release(bytes32 escrowId)"), id));
        }
        if (said == Verb.Split) {
            return keccak256(abi.encode(keccak256("Split(bytes32 escrowId,uint128 toSeller)"), id, toSeller));
        }
        return keccak256(abi.encode(keccak256("Refund(bytes32 escrowId,address signer)"), id, named));
    }

    function _draw(uint128 amount) private view returns (IHireEscrow.Hire memory hire) {
        uint256 buyer = _seed % PEOPLE;
        hire.hireId = keccak256(abi.encode(_seed, _hires.length));
        hire.buyer = people[buyer];
        hire.seller = people[(buyer + 1 + (_seed >> 8) % 5) % PEOPLE];
        hire.payee = (_seed >> 16) % 2 == 0 ? address(0) : people[(buyer + 1 + (_seed >> 24) % 5) % PEOPLE];
        hire.amount = uint128(bound(amount, 1, 1e9));
        hire.feeRecipient = _anyone(32);
        hire.fee = uint128(bound(_seed >> 40, 0, hire.amount));
        hire.deadline = uint64(block.timestamp + bound(_seed >> 48, 1, 6 hours));
        hire.arbiter = (_seed >> 56) % 2 == 0 ? address(0) : _anyone(64);
    }

    function _anyone(uint256 shift) private view returns (address) {
        return people[(_seed >> shift) % PEOPLE];
    }

    function _signed(address signer, bytes32 terms) private view returns (bytes memory) {
        return _rawSigned(signer, keccak256(abi.encodePacked(hex"1901", _domain, terms)));
    }

    function _rawSigned(address signer, bytes32 digest) private view returns (bytes memory) {
        for (uint256 i = 0; i < PEOPLE; ++i) {
            if (people[i] == signer) return signed(i + 1, digest);
        }
        revert("unknown person");
    }

    function _require(bool condition, string memory message) private {
        if (!condition && bytes(broken).length == 0) broken = message;
    }
}
