// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC3009} from "@openzeppelin/contracts/token/ERC20/extensions/draft-ERC3009.sol";
import {Nonces} from "@openzeppelin/contracts/utils/Nonces.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {IBytesSignatureToken} from "../interfaces/IBytesSignatureToken.sol";

/// @title A stand-in for USDC on local chains
/// @notice It has USDC's decimals, the name and version of USDC's EIP-712 domain, and USDC's payments and permits by
/// signature. Anyone can mint.
contract TestUSDC is ERC20, EIP712, ERC3009, Nonces, IERC20Permit, IBytesSignatureToken {
    bytes32 private constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");

    error PermitExpired(uint256 time, uint256 deadline);
    error InvalidPermitSignature(address owner);

    constructor() ERC20("USD Coin", "USDC") EIP712("USD Coin", "2") {}

    /// @notice Mints `amount` atomic units. Anyone can call this.
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// @notice EIP-3009 with the signature of a key or of a contract wallet.
    function transferWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external {
        bytes32 terms = keccak256(
            abi.encode(
                TRANSFER_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce
            )
        );
        require(
            _isSigned(from, _hashTypedDataV4(terms), signature),
            ERC3009InvalidSignature()
        );
        _transferWithAuthorization(from, to, value, validAfter, validBefore, nonce);
    }

    /// @inheritdoc IBytesSignatureToken
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external {
        bytes32 terms = keccak256(
            abi.encode(RECEIVE_WITH_AUTHORIZATION_TYPEHASH, from, to, value, validAfter, validBefore, nonce)
        );
        require(
            _isSigned(from, _hashTypedDataV4(terms), signature),
            ERC3009InvalidSignature()
        );
        require(to == msg.sender, ERC20InvalidReceiver(to));
        _transferWithAuthorization(from, to, value, validAfter, validBefore, nonce);
    }

    /// @inheritdoc IERC20Permit
    function permit(
        address owner,
        address spender,
        uint256 value,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        _permit(owner, spender, value, deadline, abi.encodePacked(r, s, v));
    }

    /// @inheritdoc IBytesSignatureToken
    function permit(address owner, address spender, uint256 value, uint256 deadline, bytes calldata signature)
        external
    {
        _permit(owner, spender, value, deadline, signature);
    }

    /// @inheritdoc IERC20Permit
    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    /// @inheritdoc IERC20Permit
    function nonces(address owner) public view override(IERC20Permit, Nonces) returns (uint256) {
        return super.nonces(owner);
    }

    /// @inheritdoc ERC20
    function decimals() public pure override returns (uint8) {
        return 6;
    }

    /// @dev The test token `LikeFiatToken` overrides this.
    function _isSigned(address signer, bytes32 digest, bytes calldata signature)
        internal
        view
        virtual
        returns (bool)
    {
        return SignatureChecker.isValidSignatureNowCalldata(signer, digest, signature);
    }

    function _permit(address owner, address spender, uint256 value, uint256 deadline, bytes memory signature)
        private
    {
        require(block.timestamp <= deadline, PermitExpired(block.timestamp, deadline));
        bytes32 terms =
            keccak256(abi.encode(PERMIT_TYPEHASH, owner, spender, value, _useNonce(owner), deadline));
        require(
            SignatureChecker.isValidSignatureNow(owner, _hashTypedDataV4(terms), signature),
            InvalidPermitSignature(owner)
        );
        _approve(owner, spender, value);
    }
}
