// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {LowLevelCall} from "@openzeppelin/contracts/utils/LowLevelCall.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {ShortString, ShortStrings} from "@openzeppelin/contracts/utils/ShortStrings.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {EscrowBook} from "./EscrowBook.sol";
import {IHireEscrow} from "./interfaces/IHireEscrow.sol";
import {IBytesSignatureToken} from "./interfaces/IBytesSignatureToken.sol";
import {Signatures} from "./libraries/Signatures.sol";

/// @title HireEscrow
/// @notice {IHireEscrow} says what each function does and what this contract assumes. {EscrowBook} does the
/// bookkeeping.
contract HireEscrow is IHireEscrow, EscrowBook, EIP712, ReentrancyGuardTransient {
    bytes32 private constant HIRE_TYPEHASH = keccak256(
        "Hire(bytes32 hireId,address buyer,address seller,address payee,uint128 amount,uint128 fee,address feeRecipient,uint64 deadline,address arbiter)"
    );
    bytes32 private constant MARK_DELIVERED_TYPEHASH =
        keccak256("MarkDelivered(bytes32 escrowId,bytes32 resultHash)");
    bytes32 private constant RELEASE_TYPEHASH = keccak256("Release(bytes32 escrowId)");
    bytes32 private constant SPLIT_TYPEHASH = keccak256("Split(bytes32 escrowId,uint128 toSeller)");
    bytes32 private constant REFUND_TYPEHASH = keccak256("Refund(bytes32 escrowId,address signer)");

    uint256 private constant MAX_PAUSE = 30 days;

    /// @dev Gas limit of one payment. USDC needs several times less. A hostile token cannot use more.
    uint256 private constant PUSH_GAS = 200_000;

    /// @dev Gas that a batch keeps for itself, to emit {ItemFailed} and {BatchStopped}.
    uint256 private constant BATCH_GAS = 20_000;

    /// @dev A batch copies at most this many bytes of an item's error. The error of a hostile wallet or token can have
    /// any length.
    uint256 private constant MAX_REASON_LENGTH = 256;

    uint256 private constant MAX_PROVIDER_ID_LENGTH = 31;

    /// @inheritdoc IHireEscrow
    address public immutable token;

    /// @inheritdoc IHireEscrow
    address public immutable guardian;

    ShortString private immutable _providerId;

    /// @inheritdoc IHireEscrow
    uint256 public pausedUntil;

    /// @dev True while a batch runs.
    bool private transient _batching;

    modifier onlyGuardian() {
        if (msg.sender != guardian) revert NotAuthorized(msg.sender, guardian);
        _;
    }

    constructor(address token_, address guardian_, string memory providerId_)
        EIP712("Tallystick HireEscrow", "1")
    {
        if (token_.code.length == 0) revert TokenWithoutCode(token_);
        if (guardian_ == address(0)) revert GuardianIsZero();
        uint256 length = bytes(providerId_).length;
        if (length == 0 || length > MAX_PROVIDER_ID_LENGTH) {
            revert ProviderIdLength(length, MAX_PROVIDER_ID_LENGTH);
        }
        token = token_;
        guardian = guardian_;
        _providerId = ShortStrings.toShortString(providerId_);
    }

    // ------------------------------------------------------------------------------------------- deposits

    /// @inheritdoc IHireEscrow
    function deposit(Hire calldata hire) external nonReentrant {
        _requireSender(msg.sender, hire.buyer);
        (, address buyer, uint256 amount) = _accept(hire);
        _pullByAllowance(buyer, amount);
    }

    /// @inheritdoc IHireEscrow
    function depositWithAuthorization(
        Hire calldata hire,
        uint256 validAfter,
        uint256 validBefore,
        bytes calldata signature
    ) external nonReentrant {
        (bytes32 id, address buyer, uint256 amount) = _accept(hire);
        uint256 before = _balance();
        bytes memory pull = abi.encodeCall(
            IBytesSignatureToken.receiveWithAuthorization,
            (buyer, address(this), amount, validAfter, validBefore, id, Signatures.unwrap(signature))
        );
        if (!LowLevelCall.callNoReturn(token, pull)) LowLevelCall.bubbleRevert();
        _requireReceived(before, amount);
    }

    /// @inheritdoc IHireEscrow
    function depositWithPermit(
        Hire calldata hire,
        uint256 permitValue,
        uint256 permitDeadline,
        bytes calldata permitSignature,
        bytes calldata signature
    ) external nonReentrant {
        (bytes32 id, address buyer, uint256 amount) = _accept(hire);
        if (signature.length == 0) {
            _requireSender(msg.sender, buyer);
        } else if (!Signatures.isSignedBy(buyer, id, signature)) {
            revert InvalidSignature(buyer);
        }
        _tryPermit(buyer, permitValue, permitDeadline, Signatures.unwrap(permitSignature));
        _pullByAllowance(buyer, amount);
    }

    // ---------------------------------------------------------------------------------------- settlement

    /// @inheritdoc IHireEscrow
    function markDelivered(Hire calldata hire, bytes32 resultHash, bytes calldata signature)
        external
        nonReentrant
    {
        bytes32 id = escrowId(hire);
        if (block.timestamp >= hire.deadline) revert DeadlinePassed(block.timestamp, hire.deadline);
        bytes32 terms = keccak256(abi.encode(MARK_DELIVERED_TYPEHASH, id, resultHash));
        _requireWord(hire.seller, terms, signature);
        _setDelivered(id);
        emit Delivered(id, resultHash);
    }

    /// @inheritdoc IHireEscrow
    function release(Hire calldata hire, bytes calldata signature) external nonReentrant {
        bytes32 id = escrowId(hire);
        address buyer = hire.buyer;
        if (signature.length == 0) _requireSender(msg.sender, buyer);
        else _requireSigned(buyer, keccak256(abi.encode(RELEASE_TYPEHASH, id)), signature);
        (uint128 amount,) = _close(id, Status.Released);
        (uint128 fee, address seller, address payee) = (hire.fee, hire.seller, hire.payee);
        emit Released(id, buyer, seller, amount, 0, fee);
        _push(id, _orSeller(payee, seller), amount - fee);
        if (fee != 0) _push(id, hire.feeRecipient, fee);
    }

    /// @inheritdoc IHireEscrow
    function split(Hire calldata hire, uint128 toSeller, bytes calldata signature) external nonReentrant {
        bytes32 id = escrowId(hire);
        bytes32 terms = keccak256(abi.encode(SPLIT_TYPEHASH, id, toSeller));
        _requireWord(hire.buyer, terms, signature);
        if (toSeller == 0 || toSeller >= hire.amount) revert SplitOutOfRange(toSeller, hire.amount);
        (uint128 amount,) = _close(id, Status.Split);
        (uint128 toPayee, uint128 feeShare, uint128 toBuyer) = _parts(amount, hire.fee, toSeller);
        emit Released(id, hire.buyer, hire.seller, toSeller, toBuyer, feeShare);
        _push(id, _orSeller(hire.payee, hire.seller), toPayee);
        _push(id, hire.feeRecipient, feeShare);
        _push(id, hire.buyer, toBuyer);
    }

    /// @inheritdoc IHireEscrow
    function refund(Hire calldata hire, address signer, bytes calldata signature) external nonReentrant {
        bytes32 id = escrowId(hire);
        // The zero address means that there is no arbiter, so it cannot be the signer.
        bool party = signer == hire.buyer || signer == hire.seller || signer == hire.arbiter;
        if (!party || signer == address(0)) revert NotAParty(signer);
        bytes32 terms = keccak256(abi.encode(REFUND_TYPEHASH, id, signer));
        _requireWord(signer, terms, signature);
        (uint128 amount,) = _close(id, Status.Refunded);
        emit Refunded(id, hire.buyer, hire.seller, amount, signer);
        _push(id, hire.buyer, amount);
    }

    /// @inheritdoc IHireEscrow
    function timeoutRefund(Hire calldata hire) external nonReentrant {
        if (block.timestamp < hire.deadline) revert DeadlineNotReached(block.timestamp, hire.deadline);
        bytes32 id = escrowId(hire);
        (uint128 amount, bool delivered) = _close(id, Status.TimedOut);
        emit TimedOut(id, hire.buyer, hire.seller, amount, delivered);
        _push(id, hire.buyer, amount);
    }

    /// @inheritdoc IHireEscrow
    function withdraw(address account) external nonReentrant {
        uint256 amount = _takeCredit(account);
        emit Withdrawn(account, amount);
        uint256 before = _balance();
        SafeERC20.safeTransfer(IERC20(token), account, amount);
        uint256 current = _balance();
        if (current + amount != before) revert AmountMoved(_distance(before, current), amount);
    }

    // -------------------------------------------------------------------------------------------- pause

    /// @inheritdoc IHireEscrow
    function pause(uint256 duration) external onlyGuardian {
        if (duration == 0 || duration > MAX_PAUSE) revert PauseLength(duration, MAX_PAUSE);
        pausedUntil = block.timestamp + duration;
        emit Paused(pausedUntil);
    }

    /// @inheritdoc IHireEscrow
    function unpause() external onlyGuardian {
        pausedUntil = 0;
        emit Unpaused();
    }

    // -------------------------------------------------------------------------------------------- batch

    /// @inheritdoc IHireEscrow
    /// @dev A batch checks that the reentrancy guard is not taken, but does not take it. Every function that moves
    /// money takes the guard itself, so nothing that an item calls can enter again. Between two items, no other
    /// contract runs.
    function batch(bytes[] calldata calls, uint256 gasEach)
        external
        nonReentrantView
        returns (uint256 tried)
    {
        if (_batching) revert BatchInBatch();
        _batching = true;
        for (; tried < calls.length; ++tried) {
            // Checks the gas before _tryItem copies the item, because the copy could use the rest of it. _tryItem
            // checks the gas again, because the copy has used some of it.
            bytes calldata item = calls[tried];
            if (!_leaves(gasEach)) break;
            (bool started, bool done) = _tryItem(item, gasEach);
            if (!started) break;
            if (!done) _reportItem(tried);
        }
        if (tried != calls.length) emit BatchStopped(tried);
        _batching = false;
    }

    // --------------------------------------------------------------------------------------------- views

    /// @inheritdoc IHireEscrow
    function escrowId(Hire calldata hire) public view returns (bytes32) {
        bytes32 typehash = HIRE_TYPEHASH;
        bytes32 terms;
        // The nine words of calldata already are the EIP-712 encoding. Hashing them directly takes half the gas of
        // abi.encode. If a word has bits outside of its type, nothing can be deposited under its id: {_accept} reads
        // every field, and the compiler makes it revert for such words.
        assembly ("memory-safe") {
            let buffer := mload(0x40)
            mstore(buffer, typehash)
            calldatacopy(add(buffer, 0x20), hire, 0x120)
            terms := keccak256(buffer, 0x140)
        }
        return _hashTypedDataV4(terms);
    }

    /// @inheritdoc IHireEscrow
    function stateOf(bytes32 id) external view returns (State memory) {
        (uint8 status, bool delivered, uint128 amount) = _state(id);
        return State({status: Status(status), delivered: delivered, amount: amount});
    }

    /// @inheritdoc IHireEscrow
    function credit(address account) external view returns (uint256) {
        return _creditOf(account);
    }

    /// @inheritdoc IHireEscrow
    function providerId() external view returns (string memory) {
        return ShortStrings.toString(_providerId);
    }

    // ------------------------------------------------------------------------------------------ internals

    /// @dev Checks the terms, opens the hire and emits {Deposited}. The caller must then get the money, or revert.
    function _accept(Hire calldata hire) private returns (bytes32 id, address buyer, uint256 amount) {
        if (block.timestamp < pausedUntil) revert DepositsPaused(block.timestamp, pausedUntil);
        (uint128 fee, uint64 deadline) = (hire.fee, hire.deadline);
        (address seller, address payee, address feeRecipient) = (hire.seller, hire.payee, hire.feeRecipient);
        (buyer, amount) = (hire.buyer, hire.amount);
        if (block.timestamp >= deadline) revert DeadlinePassed(block.timestamp, deadline);
        if (fee > amount) revert FeeAboveAmount(fee, hire.amount);
        if (seller == address(0)) revert SellerIsZero();
        if (buyer == seller || buyer == payee) revert BuyerPaysItself(buyer);
        _requireOutside(_orSeller(payee, seller));
        _requireOutside(feeRecipient);
        // This contract must not be a party. Otherwise a call that it makes could count as a party's consent.
        if (buyer == address(this) || seller == address(this) || hire.arbiter == address(this)) {
            revert EscrowIsParty();
        }
        if (fee != 0 && feeRecipient == address(0)) revert FeeWithoutRecipient(fee);
        id = escrowId(hire);
        _open(id, hire.amount);
        emit Deposited(
            id,
            buyer,
            seller,
            hire.hireId,
            payee,
            hire.amount,
            fee,
            feeRecipient,
            deadline,
            hire.arbiter
        );
    }

    function _pullByAllowance(address buyer, uint256 amount) private {
        uint256 before = _balance();
        SafeERC20.safeTransferFrom(IERC20(token), buyer, address(this), amount);
        _requireReceived(before, amount);
    }

    /// @dev The balance must have grown by exactly the amount, whatever the token returned. Meanwhile no other function
    /// can change what is held, because all of them share one reentrancy guard.
    function _requireReceived(uint256 before, uint256 amount) private view {
        uint256 current = _balance();
        if (current != before + amount) revert AmountMoved(_distance(before, current), amount);
    }

    /// @dev A signature of 65 bytes is passed as v, r, s, which every ERC-2612 token accepts. Any other length is
    /// passed as bytes, which tokens for contract wallets accept.
    function _tryPermit(address owner, uint256 value, uint256 deadline, bytes calldata signature) private {
        if (signature.length == 65) {
            bytes32 r = bytes32(signature[0:32]);
            bytes32 s = bytes32(signature[32:64]);
            try IERC20Permit(token).permit(owner, address(this), value, deadline, uint8(signature[64]), r, s) {}
                catch {}
        } else if (signature.length != 0) {
            try IBytesSignatureToken(token).permit(owner, address(this), value, deadline, signature) {}
                catch {}
        }
    }

    /// @dev Whether a call can get exactly `gasEach` gas. A call gets at most 63/64 of the gas that is left (EIP-150).
    function _leaves(uint256 gasEach) private view returns (bool) {
        uint256 left = gasleft();
        return left > BATCH_GAS && (left - BATCH_GAS) / 64 * 63 >= gasEach;
    }

    /// @dev Runs an item by delegatecall, so it works on this contract's state and has the same sender. Nothing that
    /// the item returns is copied. The item is copied to free memory, and the memory stays free for the next item.
    /// Otherwise a long batch would need more and more memory, whose price grows with its square.
    function _tryItem(bytes calldata item, uint256 gasEach) private returns (bool started, bool done) {
        uint256 kept = BATCH_GAS;
        assembly ("memory-safe") {
            let data := mload(0x40)
            calldatacopy(data, item.offset, item.length)
            let left := gas()
            if gt(left, kept) { started := iszero(lt(mul(div(sub(left, kept), 64), 63), gasEach)) }
            if started { done := delegatecall(gasEach, address(), data, item.length, 0, 0) }
        }
    }

    /// @dev Emits {ItemFailed} with the error of the last item. Call it directly after {_tryItem}, because it reads
    /// what the item returned.
    function _reportItem(uint256 index) private {
        uint256 most = MAX_REASON_LENGTH;
        bytes memory reason;
        assembly ("memory-safe") {
            let size := returndatasize()
            if gt(size, most) { size := most }
            reason := mload(0x40)
            mstore(reason, size)
            returndatacopy(add(reason, 0x20), 0, size)
            mstore(0x40, add(reason, add(most, 0x20)))
        }
        emit ItemFailed(index, reason);
        assembly ("memory-safe") {
            mstore(0x40, reason)
        }
    }

    /// @dev Pays `amount`, and credits what the token did not move. Only the balance shows what the token moved,
    /// because a transfer may revert, return false, return nothing, or lie. A payment can become a credit only if the
    /// transfer had its full gas. Otherwise the sender of the transaction could turn any payment into a credit by
    /// sending too little gas.
    function _push(bytes32 id, address to, uint256 amount) private {
        if (amount == 0) return;
        uint256 before = _balance();
        uint256 gasBefore = gasleft();
        _callTransfer(to, amount);
        uint256 current = _balance();
        if (current + amount == before) return;

        if (gasBefore < _gasFor(PUSH_GAS)) revert NotEnoughGas(gasBefore, _gasFor(PUSH_GAS));
        uint256 missing = _creditRest(to, amount, before, current);
        emit Credited(to, id, missing);
    }

    /// @dev `token.transfer(to, amount)` with a gas limit. Nothing that it returns is copied.
    function _callTransfer(address to, uint256 amount) private {
        address token_ = token;
        bytes4 selector = IERC20.transfer.selector;
        assembly ("memory-safe") {
            let data := mload(0x40)
            mstore(data, selector)
            mstore(add(data, 0x04), shr(96, shl(96, to)))
            mstore(add(data, 0x24), amount)
            pop(call(PUSH_GAS, token_, 0, data, 0x44, 0, 0))
        }
    }

    /// @dev `signer` consents to `terms` by its signature. If the signature is empty, `signer` must be the sender.
    function _requireWord(address signer, bytes32 terms, bytes calldata signature) private view {
        if (signature.length == 0) _requireSender(msg.sender, signer);
        else _requireSigned(signer, terms, signature);
    }

    function _requireSender(address actual, address expected) private pure {
        if (actual != expected) revert NotAuthorized(actual, expected);
    }

    function _requireSigned(address signer, bytes32 terms, bytes calldata signature) private view {
        if (!Signatures.isSignedBy(signer, _hashTypedDataV4(terms), signature)) revert InvalidSignature(signer);
    }

    /// @dev The gas that must be left so that a call can get `forwarded` gas: EIP-150 holds back one 64th.
    function _gasFor(uint256 forwarded) private pure returns (uint256) {
        return forwarded + forwarded / 63 + 10_000;
    }

    function _requireOutside(address recipient) private view {
        if (recipient == address(this) || recipient == token) revert ForbiddenRecipient(recipient);
    }

    function _distance(uint256 a, uint256 b) private pure returns (uint256) {
        return a > b ? a - b : b - a;
    }

    function _orSeller(address payee, address seller) private pure returns (address) {
        return payee == address(0) ? seller : payee;
    }

    /// @dev `token.balanceOf(address(this))`. Every payment calls it twice. So it does not use the compiler's encoding,
    /// which costs more gas.
    function _balance() private view returns (uint256 held) {
        address token_ = token;
        bytes4 selector = IERC20.balanceOf.selector;
        assembly ("memory-safe") {
            mstore(0x00, selector)
            mstore(0x04, address())
            let answered := staticcall(gas(), token_, 0x00, 0x24, 0x00, 0x20)
            if iszero(and(answered, gt(returndatasize(), 0x1f))) { revert(0x00, 0x00) }
            held := mload(0x00)
        }
    }
}
