// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IHireEscrow} from "../interfaces/IHireEscrow.sol";
import {TestUSDC} from "./TestUSDC.sol";
import {TestBase} from "./Vm.sol";

/// @title Tests of one hire with random terms
contract HireEscrowFuzzTest is TestBase {
    uint256 private constant BUYER_KEY = 0xb0b;

    TestUSDC private _token;
    IHireEscrow private _escrow;
    address private _buyer;

    function setUp() public {
        _token = new TestUSDC();
        _escrow = IHireEscrow(deployed("HireEscrow", abi.encode(_token, this, "fuzz")));
        _buyer = vm.addr(BUYER_KEY);
        _token.mint(_buyer, type(uint128).max);
        vm.prank(_buyer);
        _token.approve(address(_escrow), type(uint256).max);
    }

    /// @notice escrowId = keccak256(0x1901 ‖ domain ‖ keccak256(abi.encode(typehash, terms))).
    function testFuzz_escrowIdIsTheTypedDataDigest(IHireEscrow.Hire memory hire) external view {
        require(_escrow.escrowId(hire) == _digest(_structHash(hire)), "escrowId");
    }

    /// @notice toPayee + feeShare + toBuyer = amount, and amount · feeShare ≤ fee · toSeller < amount · (feeShare + 1).
    function testFuzz_splitPaysOutExactlyTheAmount(uint128 amount, uint128 fee, uint128 toSeller) external {
        amount = uint128(bound(amount, 2, type(uint128).max));
        toSeller = uint128(bound(toSeller, 1, amount - 1));
        IHireEscrow.Hire memory hire = _hire(amount, uint128(bound(fee, 0, amount)));
        uint256 before = _token.balanceOf(_buyer);
        _deposit(hire);
        vm.prank(_buyer);
        _escrow.split(hire, toSeller, "");
        uint256 toPayee = _token.balanceOf(hire.payee);
        uint256 feeShare = _token.balanceOf(hire.feeRecipient);
        uint256 toBuyer = _token.balanceOf(_buyer) + amount - before;
        require(toPayee + feeShare + toBuyer == amount, "parts add up");
        require(toBuyer == amount - toSeller, "the buyer gets the rest");
        require(
            feeShare * amount <= uint256(hire.fee) * toSeller
                && (feeShare + 1) * amount > uint256(hire.fee) * toSeller,
            "the fee's share is rounded down"
        );
        require(_token.balanceOf(address(_escrow)) == 0, "nothing stays behind");
    }

    /// @notice release pays amount − fee to the payee and the fee to its recipient. refund and timeoutRefund pay amount
    /// to the buyer.
    function testFuzz_everyOtherWayOutPaysExactlyTheAmount(uint128 amount, uint128 fee, uint8 way) external {
        amount = uint128(bound(amount, 1, type(uint128).max));
        IHireEscrow.Hire memory hire = _hire(amount, uint128(bound(fee, 0, amount)));
        uint256 before = _token.balanceOf(_buyer);
        _deposit(hire);
        if (way % 3 == 0) {
            vm.prank(_buyer);
            _escrow.release(hire, "");
        } else if (way % 3 == 1) {
            vm.prank(hire.seller);
            _escrow.refund(hire, hire.seller, "");
        } else {
            vm.warp(hire.deadline);
            _escrow.timeoutRefund(hire);
        }
        bool released = way % 3 == 0;
        require(_token.balanceOf(hire.payee) == (released ? amount - hire.fee : 0), "payee");
        require(_token.balanceOf(hire.feeRecipient) == (released ? hire.fee : 0), "fee recipient");
        require(_token.balanceOf(_buyer) == (released ? before - amount : before), "buyer");
    }

    /// @notice Before the deadline, delivery can be marked and the money cannot go back. From the deadline on, it is
    /// the reverse.
    function testFuzz_theDeadlineDividesTime(uint64 deadline, uint64 time) external {
        deadline = uint64(bound(deadline, block.timestamp + 1, type(uint64).max));
        time = uint64(bound(time, block.timestamp, type(uint64).max));
        IHireEscrow.Hire memory hire = _hire(100, 0);
        hire.deadline = deadline;
        _deposit(hire);
        vm.warp(time);
        vm.prank(hire.seller);
        if (time >= deadline) vm.expectRevert();
        _escrow.markDelivered(hire, "", "");
        if (time < deadline) vm.expectRevert();
        _escrow.timeoutRefund(hire);
    }

    /// @notice Only the buyer's key releases, and only by a signature over the release of this hire.
    function testFuzz_onlyTheBuyersKeyReleases(uint256 key, bytes32 statement) external {
        key = bound(key, 1, type(uint128).max);
        vm.assume(key != BUYER_KEY);
        IHireEscrow.Hire memory hire = _hire(100, 0);
        _deposit(hire);
        bytes32 terms = keccak256(abi.encode(keccak256("Release(bytes32 escrowId)"), _escrow.escrowId(hire)));
        bytes memory forged = signed(key, _digest(terms));
        bytes memory misplaced = signed(BUYER_KEY, statement);
        vm.expectRevert(abi.encodeWithSelector(IHireEscrow.InvalidSignature.selector, _buyer));
        _escrow.release(hire, forged);
        vm.expectRevert(abi.encodeWithSelector(IHireEscrow.InvalidSignature.selector, _buyer));
        _escrow.release(hire, misplaced);
        _escrow.release(hire, signed(BUYER_KEY, _digest(terms)));
    }

    /// @notice Any false signature is refused with InvalidSignature. No content of it causes another error.
    function testFuzz_anySignatureBytesAreRefusedAsASignature(bytes memory signature, bool wrapped) external {
        vm.assume(signature.length != 0);
        IHireEscrow.Hire memory hire = _hire(100, 0);
        _deposit(hire);
        if (wrapped) {
            signature = bytes.concat(
                signature, hex"6492649264926492649264926492649264926492649264926492649264926492"
            );
        }
        vm.expectRevert(abi.encodeWithSelector(IHireEscrow.InvalidSignature.selector, _buyer));
        _escrow.release(hire, signature);
    }

    function _hire(uint128 amount, uint128 fee) private view returns (IHireEscrow.Hire memory) {
        return IHireEscrow.Hire({
            hireId: keccak256("hire"),
            buyer: _buyer,
            seller: address(0x5e11e4),
            payee: address(0x9a1d),
            amount: amount,
            fee: fee,
            feeRecipient: address(0xfee),
            deadline: uint64(block.timestamp + 300),
            arbiter: address(0)
        });
    }

    function _deposit(IHireEscrow.Hire memory hire) private {
        vm.prank(_buyer);
        _escrow.deposit(hire);
    }

    function _structHash(IHireEscrow.Hire memory hire) private pure returns (bytes32) {
        return keccak256(
            abi.encode(
                keccak256(
                    "Hire(bytes32 hireId,address buyer,address seller,address payee,uint128 amount,uint128 fee,address feeRecipient,uint64 deadline,address arbiter)"
                ),
                hire
            )
        );
    }

    function _digest(bytes32 terms) private view returns (bytes32) {
        bytes32 domain = keccak256(
            abi.encode(
                keccak256(
                    "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
                ),
                keccak256("Tallystick HireEscrow"),
                keccak256("1"),
                block.chainid,
                address(_escrow)
            )
        );
        return keccak256(abi.encodePacked(hex"1901", domain, terms));
    }
}
