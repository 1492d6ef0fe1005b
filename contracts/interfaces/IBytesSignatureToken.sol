// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title The `bytes signature` forms of ERC-3009 and ERC-2612 that USDC has since its version 2.2
/// @notice These forms take signatures of contract wallets (ERC-1271) and of keys.
interface IBytesSignatureToken {
    /// @notice Moves `value` from `from` to the caller, which must be `to`.
    /// @param from Who signed.
    /// @param to The caller.
    /// @param value Atomic units.
    /// @param validAfter Unix seconds after which the authorization is valid.
    /// @param validBefore Unix seconds before which the authorization is valid.
    /// @param nonce A number that the signer uses only once.
    /// @param signature The signer's signature over `ReceiveWithAuthorization`.
    function receiveWithAuthorization(
        address from,
        address to,
        uint256 value,
        uint256 validAfter,
        uint256 validBefore,
        bytes32 nonce,
        bytes calldata signature
    ) external;

    /// @notice Sets the allowance of `spender` over the tokens of `owner`.
    /// @param owner Who signed.
    /// @param spender Who may spend.
    /// @param value Atomic units.
    /// @param deadline Unix seconds until which the permit is valid.
    /// @param signature The owner's signature over `Permit`.
    function permit(address owner, address spender, uint256 value, uint256 deadline, bytes calldata signature)
        external;
}
