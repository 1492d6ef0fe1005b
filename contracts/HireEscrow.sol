// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {ShortString, ShortStrings} from "@openzeppelin/contracts/utils/ShortStrings.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {EscrowBook} from "./EscrowBook.sol";
import {IHireEscrow} from "./interfaces/IHireEscrow.sol";
import {IBytesSignatureToken} from "./interfaces/IBytesSignatureToken.sol";
import {Signatures} from "./libraries/Signatures.sol";

/// @title HireEscrow
/// @notice See {IHireEscrow} for what each verb does and what is assumed, {EscrowBook} for the bookkeeping.
contract HireEscrow is IHireEscrow, EscrowBook, EIP712, ReentrancyGuardTransient {
    bytes32 private constant HIRE_TYPEHASH = keccak256(
        "Hire(bytes32 hireId,address buyer,address seller,address payee,uint128 amount,uint128 fee,address feeRecipient,uint64 deadline,address arbiter)"
    );
    bytes32 private constant MARK_DELIVERED_TYPEHASH =
        keccak256("MarkDelivered(bytes32 escrowId,bytes32 resultHash)");
    bytes32 private constant RELEASE_TYPEHASH = keccak256("Release(bytes32 escrowId)");
    bytes32 private constant SPLIT_TYPEHASH = keccak256("Split(bytes32 escrowId,uint128 toSeller)");
    bytes32 private constant REFUND_TYPEHASH = keccak256("Refund(bytes32 escrowId,address signer)");

    uint256 public constant MAX_PAUSE = 30 days;

    /// @notice Gas for one payment: several times what USDC takes, and a bound on what a hostile token can burn.
    uint256 public constant PUSH_GAS = 200_000;

    /// @notice Gas for one item of a batch: two payments and a wallet that verifies P-256 in Solidity.
    uint256 public constant ITEM_GAS = 1_000_000;

    uint256 private constant MAX_PROVIDER_ID_LENGTH = 31;

    /// @inheritdoc IHireEscrow
    address public immutable token;

    /// @inheritdoc IHireEscrow
    address public immutable guardian;

    ShortString private immutable _providerId;

    /// @inheritdoc IHireEscrow
    uint256 public pausedUntil;

    /// @dev For the functions this contract calls on itself, so that what they do can fail as a whole.
    modifier onlySelf() {
        require(msg.sender == address(this), NotAuthorized(msg.sender, address(this)));
        _;
    }

    modifier onlyGuardian() {
        require(msg.sender == guardian, NotAuthorized(msg.sender, guardian));
        _;
    }

    constructor(address token_, address guardian_, string memory providerId_)
        EIP712("Tallystick HireEscrow", "1")
    {
        require(token_.code.length != 0, TokenWithoutCode(token_));
        require(guardian_ != address(0), GuardianIsZero());
        uint256 length = bytes(providerId_).length;
        require(
            length != 0 && length <= MAX_PROVIDER_ID_LENGTH, ProviderIdLength(length, MAX_PROVIDER_ID_LENGTH)
        );
        token = token_;
        guardian = guardian_;
        _providerId = ShortStrings.toShortString(providerId_);
    }

    // ------------------------------------------------------------------------------------------- deposits

    /// @inheritdoc IHireEscrow
    function deposit(Hire calldata hire) external nonReentrant {
        require(msg.sender == hire.buyer, NotAuthorized(msg.sender, hire.buyer));
        bytes32 id = _accept(hire);
        _pullByAllowance(id, hire);
    }

    /// @inheritdoc IHireEscrow
    function depositWithAuthorization(
        Hire calldata hire,
        uint256 validAfter,
        uint256 validBefore,
        bytes calldata signature
    ) external nonReentrant {
        bytes32 id = _accept(hire);
        uint256 before = _balance();
        IBytesSignatureToken(token).receiveWithAuthorization(
            hire.buyer, address(this), hire.amount, validAfter, validBefore, id, Signatures.unwrap(signature)
        );
        _received(id, hire, before);
    }

    /// @inheritdoc IHireEscrow
    function depositWithPermit(
        Hire calldata hire,
        uint256 permitValue,
        uint256 permitDeadline,
        bytes calldata permitSignature,
        bytes calldata signature
    ) external nonReentrant {
        bytes32 id = _accept(hire);
        if (signature.length == 0) {
            require(msg.sender == hire.buyer, NotAuthorized(msg.sender, hire.buyer));
        } else {
            require(Signatures.isSignedBy(hire.buyer, id, signature), InvalidSignature(hire.buyer));
        }
        _tryPermit(hire.buyer, permitValue, permitDeadline, Signatures.unwrap(permitSignature));
        _pullByAllowance(id, hire);
    }

    // ---------------------------------------------------------------------------------------- settlement

    /// @inheritdoc IHireEscrow
    function markDelivered(Hire calldata hire, bytes32 resultHash, bytes calldata signature)
        external
        nonReentrant
    {
        bytes32 id = escrowId(hire);
        require(block.timestamp < hire.deadline, DeadlinePassed(block.timestamp, hire.deadline));
        bytes32 terms = keccak256(abi.encode(MARK_DELIVERED_TYPEHASH, id, resultHash));
        _requireWord(hire.seller, msg.sender, terms, signature);
        _setDelivered(id);
        emit Delivered(id, resultHash);
    }

    /// @inheritdoc IHireEscrow
    function release(Hire calldata hire, bytes calldata signature) external nonReentrant {
        _release(hire, signature, msg.sender);
    }

    /// @inheritdoc IHireEscrow
    function split(Hire calldata hire, uint128 toSeller, bytes calldata signature) external nonReentrant {
        bytes32 id = escrowId(hire);
        bytes32 terms = keccak256(abi.encode(SPLIT_TYPEHASH, id, toSeller));
        _requireWord(hire.buyer, msg.sender, terms, signature);
        require(toSeller != 0 && toSeller < hire.amount, SplitOutOfRange(toSeller, hire.amount));
        (uint128 amount,) = _close(id, Status.Split);
        _payOut(id, hire, amount, toSeller);
    }

    /// @inheritdoc IHireEscrow
    function refund(Hire calldata hire, address signer, bytes calldata signature) external nonReentrant {
        bytes32 id = escrowId(hire);
        require(
            signer != address(0) && (signer == hire.buyer || signer == hire.seller || signer == hire.arbiter),
            NotAParty(signer)
        );
        bytes32 terms = keccak256(abi.encode(REFUND_TYPEHASH, id, signer));
        _requireWord(signer, msg.sender, terms, signature);
        (uint128 amount,) = _close(id, Status.Refunded);
        emit Refunded(id, hire.buyer, hire.seller, amount, signer);
        _push(id, hire.buyer, amount);
    }

    /// @inheritdoc IHireEscrow
    function timeoutRefund(Hire calldata hire) external nonReentrant {
        _timeoutRefund(hire);
    }

    /// @inheritdoc IHireEscrow
    function releaseMany(Hire[] calldata hires, bytes[] calldata signatures)
        external
        nonReentrant
        returns (bool[] memory done)
    {
        require(hires.length == signatures.length, LengthMismatch(hires.length, signatures.length));
        done = new bool[](hires.length);
        for (uint256 i = 0; i < hires.length; ++i) {
            _requireGas(ITEM_GAS);
            try this.releaseItem{gas: ITEM_GAS}(hires[i], signatures[i], msg.sender) {
                done[i] = true;
            } catch (bytes memory reason) {
                emit ItemFailed(escrowId(hires[i]), reason);
            }
        }
    }

    /// @inheritdoc IHireEscrow
    function timeoutRefundMany(Hire[] calldata hires) external nonReentrant returns (bool[] memory done) {
        done = new bool[](hires.length);
        for (uint256 i = 0; i < hires.length; ++i) {
            _requireGas(ITEM_GAS);
            try this.timeoutRefundItem{gas: ITEM_GAS}(hires[i]) {
                done[i] = true;
            } catch (bytes memory reason) {
                emit ItemFailed(escrowId(hires[i]), reason);
            }
        }
    }

    /// @inheritdoc IHireEscrow
    function withdraw(address account) external nonReentrant {
        uint256 amount = _takeCredit(account);
        emit Withdrawn(account, amount);
        _pay(account, amount);
    }

    // -------------------------------------------------------------------------------------------- pause

    /// @inheritdoc IHireEscrow
    function pause(uint256 duration) external onlyGuardian {
        require(duration != 0 && duration <= MAX_PAUSE, PauseLength(duration, MAX_PAUSE));
        pausedUntil = block.timestamp + duration;
        emit Paused(pausedUntil);
    }

    /// @inheritdoc IHireEscrow
    function unpause() external onlyGuardian {
        pausedUntil = 0;
        emit Unpaused();
    }

    // -------------------------------------------------------------------------------- calls to oneself

    /// @notice One item of {releaseMany}. Only this contract calls it, while its guard is up.
    function releaseItem(Hire calldata hire, bytes calldata signature, address sender) external onlySelf {
        _release(hire, signature, sender);
    }

    /// @notice One item of {timeoutRefundMany}. Only this contract calls it, while its guard is up.
    function timeoutRefundItem(Hire calldata hire) external onlySelf {
        _timeoutRefund(hire);
    }

    /// @notice One payment. Only this contract calls it, while its guard is up.
    /// @dev A call of its own so that a payment which does not come out exactly is undone in the token, too, before
    /// it is credited. Without that, a token that moves the money and says it did not would be paid for twice.
    function push(address to, uint256 amount) external onlySelf {
        _pay(to, amount);
    }

    // --------------------------------------------------------------------------------------------- views

    /// @inheritdoc IHireEscrow
    function escrowId(Hire calldata hire) public view returns (bytes32) {
        return _hashTypedDataV4(keccak256(abi.encode(HIRE_TYPEHASH, hire)));
    }

    /// @inheritdoc IHireEscrow
    function stateOf(bytes32 id) external view returns (State memory) {
        return _state(id);
    }

    /// @inheritdoc IHireEscrow
    function credit(address account) external view returns (uint256) {
        return _creditOf(account);
    }

    /// @inheritdoc IHireEscrow
    function providerId() external view returns (string memory) {
        return ShortStrings.toString(_providerId);
    }

    /// @inheritdoc IHireEscrow
    function domainSeparator() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    // ------------------------------------------------------------------------------------------ internals

    /// @dev Checks the terms and opens the hire. The money has to follow in the same transaction.
    function _accept(Hire calldata hire) private returns (bytes32 id) {
        require(block.timestamp >= pausedUntil, DepositsPaused(block.timestamp, pausedUntil));
        require(hire.fee <= hire.amount, FeeAboveAmount(hire.fee, hire.amount));
        require(hire.fee == 0 || hire.feeRecipient != address(0), FeeWithoutRecipient(hire.fee));
        require(block.timestamp < hire.deadline, DeadlinePassed(block.timestamp, hire.deadline));
        require(hire.seller != address(0), SellerIsZero());
        address payee = _payee(hire);
        require(hire.buyer != hire.seller && hire.buyer != payee, BuyerPaysItself(hire.buyer));
        _requireOutside(payee);
        _requireOutside(hire.feeRecipient);
        id = escrowId(hire);
        _open(id, hire.amount);
    }

    function _pullByAllowance(bytes32 id, Hire calldata hire) private {
        uint256 before = _balance();
        SafeERC20.safeTransferFrom(IERC20(token), hire.buyer, address(this), hire.amount);
        _received(id, hire, before);
    }

    /// @dev Whatever the token said, the balance has to have grown by exactly the amount. No other function can change
    /// what is held meanwhile: all of them are behind the one guard.
    function _received(bytes32 id, Hire calldata hire, uint256 before) private {
        uint256 current = _balance();
        require(current == before + hire.amount, AmountMoved(current - before, hire.amount));
        emit Deposited(
            id,
            hire.buyer,
            hire.seller,
            hire.hireId,
            hire.payee,
            hire.amount,
            hire.fee,
            hire.feeRecipient,
            hire.deadline,
            hire.arbiter
        );
    }

    /// @dev 65 bytes go as v, r, s, which every ERC-2612 token takes; longer ones in the bytes form that tokens for
    /// contract wallets have.
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

    function _release(Hire calldata hire, bytes calldata signature, address sender) private {
        bytes32 id = escrowId(hire);
        _requireWord(hire.buyer, sender, keccak256(abi.encode(RELEASE_TYPEHASH, id)), signature);
        (uint128 amount,) = _close(id, Status.Released);
        _payOut(id, hire, amount, amount);
    }

    function _timeoutRefund(Hire calldata hire) private {
        require(block.timestamp >= hire.deadline, DeadlineNotReached(block.timestamp, hire.deadline));
        bytes32 id = escrowId(hire);
        (uint128 amount, bool delivered) = _close(id, Status.TimedOut);
        emit TimedOut(id, hire.buyer, hire.seller, amount, delivered);
        _push(id, hire.buyer, amount);
    }

    function _payOut(bytes32 id, Hire calldata hire, uint128 amount, uint128 toSeller) private {
        (uint128 toPayee, uint128 feeShare, uint128 toBuyer) = _parts(amount, hire.fee, toSeller);
        emit Released(id, hire.buyer, hire.seller, toSeller, toBuyer, feeShare);
        _push(id, _payee(hire), toPayee);
        _push(id, hire.feeRecipient, feeShare);
        _push(id, hire.buyer, toBuyer);
    }

    /// @dev Pays, or credits when the payment fails. A failure counts only if the payment had its full gas: else whoever
    /// sends the transaction could turn any payment into a credit by sending too little.
    function _push(bytes32 id, address to, uint256 amount) private {
        if (amount == 0) return;
        uint256 gasBefore = gasleft();
        try this.push{gas: PUSH_GAS}(to, amount) {}
        catch {
            require(gasBefore >= _gasFor(PUSH_GAS), NotEnoughGas(gasBefore, _gasFor(PUSH_GAS)));
            _addCredit(to, amount);
            emit Credited(to, id, amount);
        }
    }

    /// @dev Transfers, and reverts unless the balance fell by exactly the amount.
    function _pay(address to, uint256 amount) private {
        uint256 before = _balance();
        SafeERC20.safeTransfer(IERC20(token), to, amount);
        uint256 current = _balance();
        require(current + amount == before, AmountMoved(before - current, amount));
    }

    function _requireWord(address signer, address sender, bytes32 terms, bytes calldata signature)
        private
        view
    {
        if (signature.length == 0) {
            require(sender == signer, NotAuthorized(sender, signer));
        } else {
            require(
                Signatures.isSignedBy(signer, _hashTypedDataV4(terms), signature), InvalidSignature(signer)
            );
        }
    }

    /// @dev What must be left so that a call can be given `forwarded`: EIP-150 keeps back one 64th.
    function _gasFor(uint256 forwarded) private pure returns (uint256) {
        return forwarded + forwarded / 63 + 10_000;
    }

    function _requireGas(uint256 forwarded) private view {
        require(gasleft() >= _gasFor(forwarded), NotEnoughGas(gasleft(), _gasFor(forwarded)));
    }

    function _requireOutside(address recipient) private view {
        require(recipient != address(this) && recipient != token, ForbiddenRecipient(recipient));
    }

    function _payee(Hire calldata hire) private pure returns (address) {
        return hire.payee == address(0) ? hire.seller : hire.payee;
    }

    function _balance() private view returns (uint256) {
        return IERC20(token).balanceOf(address(this));
    }
}
