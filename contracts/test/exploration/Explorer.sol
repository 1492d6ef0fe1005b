// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IHireEscrow} from "../../interfaces/IHireEscrow.sol";
import {AbstractToken} from "./AbstractToken.sol";
import {Puppet} from "./Puppet.sol";

/// @title A small world around an escrow, which tries everything that anybody can do
/// @notice The world has one hire of four units, another hire that nobody may touch, seven roles, and a token
/// that behaves in one of six ways (`Mood` of AbstractToken). `expand` goes to a state by a path, and tries every step
/// from there. It undoes each step, and returns the steps that succeeded, the states they lead to, and the rules they
/// broke. tools/proofs/explore.ts continues from every new state until there is no new state.
contract Explorer {
    enum Role {
        Buyer,
        Seller,
        Payee,
        FeeRecipient,
        Arbiter,
        Guardian,
        Stranger
    }

    enum Verb {
        Deposit,
        DepositWithPermit,
        DepositWithAuthorization,
        MarkDelivered,
        Release,
        SplitLow,
        SplitHigh,
        RefundByBuyer,
        RefundBySeller,
        RefundByArbiter,
        RefundByStranger,
        TimeoutRefund,
        Pause,
        Unpause,
        Withdraw,
        ReleaseTwice,
        SplitAndRefund,
        TimeoutAndRelease
    }

    /// @dev One call: who sends it, and who signed what, if anybody did.
    struct Step {
        Verb verb;
        Role sender;
        bool signs;
        Role signer;
        /// @dev The function whose terms were signed: the called function, or another one.
        Verb said;
        AbstractToken.Mood mood;
    }

    struct Books {
        uint256 escrow;
        uint256[9] balances;
        uint256[9] credits;
        IHireEscrow.State hire;
        IHireEscrow.State other;
        bool paused;
    }

    /// @notice A step that succeeded.
    struct Taken {
        uint16 number;
        bytes32 state;
        string broken;
    }

    uint128 public constant AMOUNT = 4;
    uint128 private constant FEE = 1;
    uint128 private constant LOW = 1;
    uint128 private constant HIGH = 3;
    uint256 private constant ROLES = 7;
    uint256 private constant MOODS = 6;
    uint256 private constant PEOPLE = 9;
    bytes private constant SIGNATURE = hex"01";

    AbstractToken public immutable token;
    Puppet[PEOPLE] private _people;
    IHireEscrow private _escrow;
    bytes32 private _domain;
    bytes32 private _id;
    bytes32 private _otherId;
    IHireEscrow.Hire private _hire;

    error Tried(bool done, bytes32 state, string broken);

    constructor() {
        token = new AbstractToken();
        for (uint256 i = 0; i < PEOPLE; ++i) {
            _people[i] = new Puppet();
            token.mint(address(_people[i]), 10);
        }
    }

    function guardian() external view returns (address) {
        return address(_people[uint256(Role.Guardian)]);
    }

    /// @notice Begins with an escrow that has this token and this guardian. Deposits the other hire in it, and
    /// nothing else.
    function begin(IHireEscrow escrow, uint64 deadline) external {
        _escrow = escrow;
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
        _hire = IHireEscrow.Hire({
            hireId: "hire",
            buyer: _who(Role.Buyer),
            seller: _who(Role.Seller),
            payee: _who(Role.Payee),
            amount: AMOUNT,
            fee: FEE,
            feeRecipient: _who(Role.FeeRecipient),
            deadline: deadline,
            arbiter: _who(Role.Arbiter)
        });
        _id = escrow.escrowId(_hire);
        IHireEscrow.Hire memory other = _hire;
        (other.hireId, other.buyer, other.seller, other.payee) =
            ("other", address(_people[7]), address(_people[8]), address(0));
        (other.feeRecipient, other.arbiter, other.amount) = (address(_people[8]), address(0), 7);
        _otherId = escrow.escrowId(other);
        require(_people[7].send(address(escrow), abi.encodeCall(IHireEscrow.deposit, (other))));
    }

    /// @notice Takes the steps of a path, and does not undo them.
    function go(uint16[] calldata path) public {
        for (uint256 i = 0; i < path.length; ++i) {
            _take(_step(path[i]));
        }
    }

    function state() external view returns (bytes32) {
        return keccak256(abi.encode(_books()));
    }

    /// @notice Goes along a path and tries every step from its end.
    /// @param moods How many moods of the token are tried.
    function expand(uint16[] calldata path, uint256 moods) external returns (Taken[] memory taken, uint256 tried) {
        go(path);
        Taken[] memory found = new Taken[](_stepCount() * MOODS);
        uint256 count;
        Books memory before = _books();
        bytes32 here = keccak256(abi.encode(before));
        for (uint256 i = 0; i < _stepCount(); ++i) {
            // Tries other moods only if the step succeeds and changes the state with an honest token.
            for (uint256 mood = 0; mood < moods; ++mood) {
                uint16 number = uint16(i * MOODS + mood);
                ++tried;
                (bool done, bytes32 next, string memory broken) = _try(number, before);
                if (done) found[count++] = Taken(number, next, broken);
                if (mood == 0 && (!done || next == here)) break;
            }
        }
        taken = new Taken[](count);
        for (uint256 i = 0; i < count; ++i) {
            taken[i] = found[i];
        }
    }

    /// @notice Takes a step, checks the change of the books, and undoes the step.
    function attempt(uint16 number, Books calldata before) external {
        Step memory step = _step(number);
        if (!_take(step)) revert Tried(false, 0, "");
        Books memory current = _books();
        revert Tried(true, keccak256(abi.encode(current)), _judge(step, before, current));
    }

    /// @notice The content of a step: function, sender, signer, signed terms and mood.
    function describe(uint16 number) external pure returns (Step memory) {
        return _step(number);
    }

    // ---------------------------------------------------------------------------------------------- steps

    /// @dev The number of steps of these kinds: sent by each role; signed by each role and sent by a stranger; each
    /// of seven functions with each of their seven signed terms, signed by the entitled role; withdrawals and batches.
    function _stepCount() private pure returns (uint256) {
        return 14 * ROLES + 11 * ROLES + 7 * 7 + 4 + 3 * ROLES + 1;
    }

    function _step(uint16 number) private pure returns (Step memory step) {
        uint256 n = number / MOODS;
        step.mood = AbstractToken.Mood(number % MOODS);
        step.sender = Role.Stranger;
        if (n < 14 * ROLES) {
            (step.verb, step.sender) = (Verb(n / ROLES), Role(n % ROLES));
            return step;
        }
        n -= 14 * ROLES;
        if (n < 11 * ROLES) {
            step.verb = Verb(n / ROLES);
            (step.signs, step.signer, step.said) = (true, Role(n % ROLES), step.verb);
            return step;
        }
        n -= 11 * ROLES;
        if (n < 49) {
            // The deposit by permit, and the functions from MarkDelivered to RefundBySeller: all take a signature.
            Verb[7] memory asked = [
                Verb.DepositWithPermit,
                Verb.MarkDelivered,
                Verb.Release,
                Verb.SplitLow,
                Verb.SplitHigh,
                Verb.RefundByBuyer,
                Verb.RefundBySeller
            ];
            (step.verb, step.said, step.signs) = (asked[n / 7], asked[n % 7], true);
            bool bySeller = step.verb == Verb.MarkDelivered || step.verb == Verb.RefundBySeller;
            step.signer = bySeller ? Role.Seller : Role.Buyer;
            return step;
        }
        n -= 49;
        if (n < 4) {
            // Here `signer` is the account that is paid.
            (step.verb, step.signer) = (Verb.Withdraw, Role(n));
            return step;
        }
        n -= 4;
        if (n < 3 * ROLES) {
            (step.verb, step.sender) = (Verb(uint256(Verb.ReleaseTwice) + n / ROLES), Role(n % ROLES));
            return step;
        }
        (step.verb, step.signer) = (Verb.Withdraw, Role.Stranger);
    }

    function _take(Step memory step) private returns (bool done) {
        bytes memory call = _call(step);
        if (step.signs) _people[uint256(step.signer)].sign(_digest(step.said));
        token.behave(step.mood, address(_escrow), _again(step.mood, call));
        done = _people[uint256(step.sender)].send(address(_escrow), call);
        if (step.signs) _people[uint256(step.signer)].sign(0);
        token.behave(AbstractToken.Mood.Honest, address(_escrow), new bytes[](0));
    }

    /// @dev The calls that a token makes in the middle of a payment: the same call again, and calls that anybody can
    /// make.
    function _again(AbstractToken.Mood mood, bytes memory call) private view returns (bytes[] memory again) {
        if (mood != AbstractToken.Mood.CallsBack) return again;
        IHireEscrow.Hire memory hire = _hire;
        again = new bytes[](4);
        again[0] = call;
        again[1] = abi.encodeCall(IHireEscrow.timeoutRefund, (hire));
        again[2] = abi.encodeCall(IHireEscrow.withdraw, (_who(Role.Payee)));
        again[3] = abi.encodeCall(IHireEscrow.batch, (_pair(again[1], call), 1_000_000));
    }

    function _call(Step memory step) private view returns (bytes memory) {
        bytes memory signature = step.signs ? SIGNATURE : bytes("");
        Verb verb = step.verb;
        IHireEscrow.Hire memory hire = _hire;
        if (verb == Verb.Deposit) return abi.encodeCall(IHireEscrow.deposit, (hire));
        if (verb == Verb.DepositWithPermit) {
            return abi.encodeCall(IHireEscrow.depositWithPermit, (hire, 0, 0, "", signature));
        }
        if (verb == Verb.DepositWithAuthorization) {
            return abi.encodeCall(IHireEscrow.depositWithAuthorization, (hire, 0, 0, signature));
        }
        if (verb == Verb.MarkDelivered) return abi.encodeCall(IHireEscrow.markDelivered, (hire, "done", signature));
        if (verb == Verb.Release) return abi.encodeCall(IHireEscrow.release, (hire, signature));
        if (verb == Verb.SplitLow) return abi.encodeCall(IHireEscrow.split, (hire, LOW, signature));
        if (verb == Verb.SplitHigh) return abi.encodeCall(IHireEscrow.split, (hire, HIGH, signature));
        if (verb >= Verb.RefundByBuyer && verb <= Verb.RefundByStranger) {
            return abi.encodeCall(IHireEscrow.refund, (hire, _named(verb), signature));
        }
        if (verb == Verb.TimeoutRefund) return abi.encodeCall(IHireEscrow.timeoutRefund, (hire));
        if (verb == Verb.Pause) return abi.encodeCall(IHireEscrow.pause, (30 days));
        if (verb == Verb.Unpause) return abi.encodeCall(IHireEscrow.unpause, ());
        if (verb == Verb.Withdraw) return abi.encodeCall(IHireEscrow.withdraw, (_who(step.signer)));
        bytes memory release = abi.encodeCall(IHireEscrow.release, (hire, ""));
        bytes memory overdue = abi.encodeCall(IHireEscrow.timeoutRefund, (hire));
        bytes memory divide = abi.encodeCall(IHireEscrow.split, (hire, LOW, ""));
        bytes memory refund = abi.encodeCall(IHireEscrow.refund, (hire, _who(step.sender), ""));
        if (verb == Verb.ReleaseTwice) return _batch(release, release);
        if (verb == Verb.SplitAndRefund) return _batch(divide, refund);
        return _batch(overdue, release);
    }

    function _digest(Verb said) private view returns (bytes32) {
        bytes32 terms;
        if (said <= Verb.DepositWithAuthorization) return _id;
        if (said == Verb.MarkDelivered) {
            terms = keccak256(
                abi.encode(keccak256("MarkDelivered(bytes32 escrowId,bytes32 resultHash)"), _id, bytes32("done"))
            );
        } else if (said == Verb.Release) {
            terms = keccak256(abi.encode(keccak256("Release(bytes32 escrowId)"), _id));
        } else if (said == Verb.SplitLow || said == Verb.SplitHigh) {
            uint128 toSeller = said == Verb.SplitLow ? LOW : HIGH;
            terms = keccak256(abi.encode(keccak256("Split(bytes32 escrowId,uint128 toSeller)"), _id, toSeller));
        } else {
            terms = keccak256(
                abi.encode(keccak256("Refund(bytes32 escrowId,address signer)"), _id, _named(said))
            );
        }
        return keccak256(abi.encodePacked(hex"1901", _domain, terms));
    }

    // ---------------------------------------------------------------------------------------------- rules

    function _judge(Step memory step, Books memory before, Books memory current)
        private
        view
        returns (string memory)
    {
        (IHireEscrow.Status was, IHireEscrow.Status status) = (before.hire.status, current.hire.status);
        if (keccak256(abi.encode(before.other)) != keccak256(abi.encode(current.other))) {
            return "another hire was touched";
        }
        if (_spare(current) != _spare(before)) return "the escrow gained or lost money that is owed to nobody";
        if (current.hire.amount != (status == IHireEscrow.Status.Held ? AMOUNT : 0)) {
            return "a hire holds a wrong amount";
        }
        if (status != was) {
            bool opened = was == IHireEscrow.Status.None && status == IHireEscrow.Status.Held;
            bool closed = was == IHireEscrow.Status.Held && status > IHireEscrow.Status.Held;
            if (!opened && !closed) return "a hire was settled twice, or opened again";
        }
        string memory broken = _judgeMoney(before, current);
        if (bytes(broken).length != 0) return broken;
        if (status != was && !_mayMove(step, status, before.paused)) {
            return "a hire changed without the consent of an entitled role";
        }
        if (status == IHireEscrow.Status.Split && status != was && step.signs) {
            int256 given = _gained(before, current, uint256(Role.Payee));
            if (given != int256(uint256(step.said == Verb.SplitLow ? LOW : HIGH))) {
                return "a split paid another amount than the signed one";
            }
        }
        if (current.hire.delivered != before.hire.delivered) {
            bool may = _gaveWord(step, Role.Seller, Verb.MarkDelivered) && block.timestamp < _hire.deadline;
            if (!may || was != IHireEscrow.Status.Held) return "delivery was marked without a right to do so";
        }
        if (current.paused != before.paused && step.sender != Role.Guardian) {
            return "an account other than the guardian changed the pause";
        }
        return "";
    }

    /// @dev Money and credits of everybody must change by exactly the amounts that the new status requires.
    function _judgeMoney(Books memory before, Books memory current) private pure returns (string memory) {
        int256[9] memory due;
        if (current.hire.status != before.hire.status) {
            IHireEscrow.Status status = current.hire.status;
            int256 all = int256(uint256(AMOUNT));
            int256 given;
            if (status == IHireEscrow.Status.Released) given = all;
            if (status == IHireEscrow.Status.Split) given = _gained(before, current, uint256(Role.Payee));
            bool divided = status != IHireEscrow.Status.Split || given == int256(uint256(LOW))
                || given == int256(uint256(HIGH));
            if (!divided) return "a split paid an amount that nobody named";
            int256 fee = int256(uint256(FEE)) * given / all;
            due[uint256(Role.Payee)] = given - fee;
            due[uint256(Role.FeeRecipient)] = fee;
            due[uint256(Role.Buyer)] = status == IHireEscrow.Status.Held ? -all : all - given;
        }
        for (uint256 i = 0; i < PEOPLE; ++i) {
            if (_gained(before, current, i) != due[i]) return "somebody owns more or less than is due";
        }
        return "";
    }

    function _mayMove(Step memory step, IHireEscrow.Status status, bool paused) private view returns (bool) {
        if (status == IHireEscrow.Status.Held) {
            bool word = _gaveWord(step, Role.Buyer, Verb.DepositWithPermit)
                || _gaveWord(step, Role.Buyer, Verb.DepositWithAuthorization);
            return word && !paused && block.timestamp < _hire.deadline;
        }
        if (status == IHireEscrow.Status.Released) return _gaveWord(step, Role.Buyer, Verb.Release);
        if (status == IHireEscrow.Status.Split) {
            return _gaveWord(step, Role.Buyer, Verb.SplitLow) || _gaveWord(step, Role.Buyer, Verb.SplitHigh);
        }
        if (status == IHireEscrow.Status.TimedOut) return block.timestamp >= _hire.deadline;
        return _gaveWord(step, Role.Buyer, Verb.RefundByBuyer) || _gaveWord(step, Role.Seller, Verb.RefundBySeller)
            || _gaveWord(step, Role.Arbiter, Verb.RefundByArbiter);
    }

    /// @dev Whether the role consented: it signed the terms of `verb`, or it sent the call and nobody signed.
    function _gaveWord(Step memory step, Role role, Verb verb) private pure returns (bool) {
        return step.signs ? step.signer == role && step.said == verb : step.sender == role;
    }

    // -------------------------------------------------------------------------------------------- helpers

    function _try(uint16 number, Books memory before) private returns (bool done, bytes32 next, string memory broken) {
        try this.attempt(number, before) {}
        catch (bytes memory data) {
            bytes memory arguments = new bytes(data.length - 4);
            for (uint256 i = 0; i < arguments.length; i += 32) {
                assembly {
                    mstore(add(add(arguments, 0x20), i), mload(add(add(data, 0x24), i)))
                }
            }
            (done, next, broken) = abi.decode(arguments, (bool, bytes32, string));
        }
    }

    function _books() private view returns (Books memory books) {
        books.escrow = token.balanceOf(address(_escrow));
        for (uint256 i = 0; i < PEOPLE; ++i) {
            books.balances[i] = token.balanceOf(address(_people[i]));
            books.credits[i] = _escrow.credit(address(_people[i]));
        }
        (books.hire, books.other) = (_escrow.stateOf(_id), _escrow.stateOf(_otherId));
        books.paused = _escrow.pausedUntil() > block.timestamp;
    }

    /// @dev The part of the escrow's balance that is owed to nobody. It is negative if the escrow owes more than its
    /// balance.
    function _spare(Books memory books) private pure returns (int256 spare) {
        spare = int256(books.escrow) - int256(uint256(books.hire.amount) + books.other.amount);
        for (uint256 i = 0; i < PEOPLE; ++i) {
            spare -= int256(books.credits[i]);
        }
    }

    function _gained(Books memory before, Books memory current, uint256 i) private pure returns (int256) {
        return int256(current.balances[i] + current.credits[i]) - int256(before.balances[i] + before.credits[i]);
    }

    function _named(Verb verb) private view returns (address) {
        Role[4] memory named = [Role.Buyer, Role.Seller, Role.Arbiter, Role.Stranger];
        return _who(named[uint256(verb) - uint256(Verb.RefundByBuyer)]);
    }

    function _who(Role role) private view returns (address) {
        return address(_people[uint256(role)]);
    }

    function _batch(bytes memory a, bytes memory b) private pure returns (bytes memory) {
        return abi.encodeCall(IHireEscrow.batch, (_pair(a, b), 1_000_000));
    }

    function _pair(bytes memory a, bytes memory b) private pure returns (bytes[] memory pair) {
        pair = new bytes[](2);
        (pair[0], pair[1]) = (a, b);
    }
}
