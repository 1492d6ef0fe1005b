// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// @title Signatures of people and of contract wallets
/// @notice One rule for every signer. A signature comes from a key (ECDSA) or from a deployed contract wallet
/// (ERC-1271). Either may be inside an ERC-6492 wrapper.
library Signatures {
    /// @notice The last 32 bytes of a wrapped signature (ERC-6492).
    bytes32 internal constant ERC6492_MAGIC = 0x6492649264926492649264926492649264926492649264926492649264926492;

    /// @notice The signature inside an ERC-6492 wrapper. If there is no well-formed wrapper, the signature itself.
    /// @dev The factory call of the wrapper is not made. A contract that holds money must not execute a call that a
    /// stranger chose, and anyone can deploy the wallet before. A wrapper that cannot be decoded is returned as it is.
    /// Then it is checked like any other signature, and fails.
    /// @param signature `abi.encode(factory, factoryCalldata, inner) ‖ magic`, or any other signature.
    /// @return inner A slice of the same calldata.
    function unwrap(bytes calldata signature) internal pure returns (bytes calldata inner) {
        uint256 length = signature.length;
        if (length < 0x80 || bytes32(signature[length - 0x20:]) != ERC6492_MAGIC) return signature;
        unchecked {
            uint256 bodyLength = length - 0x20;
            uint256 offset = uint256(bytes32(signature[0x40:0x60]));
            if (offset > bodyLength - 0x20) return signature;
            uint256 start = offset + 0x20;
            uint256 innerLength = uint256(bytes32(signature[offset:start]));
            if (innerLength > bodyLength - start) return signature;
            return signature[start:start + innerLength];
        }
    }

    /// @notice Whether `signer` signed `digest`.
    /// @dev The key is tried before the code, because an account with an EIP-7702 delegation has code and also has its
    /// key. This is safe, because nobody has the key of a contract's address. If a wallet fails, the result is false.
    /// @param signer The account that should have signed.
    /// @param digest What was signed (EIP-712).
    /// @param signature 65 bytes r ‖ s ‖ v (low s), or bytes that the wallet understands. Either may be in an ERC-6492
    /// wrapper.
    function isSignedBy(address signer, bytes32 digest, bytes calldata signature) internal view returns (bool) {
        bytes calldata inner = unwrap(signature);
        (address recovered, ECDSA.RecoverError failure,) = ECDSA.tryRecoverCalldata(digest, inner);
        if (failure == ECDSA.RecoverError.NoError && recovered == signer) return true;
        return
            signer.code.length != 0 && SignatureChecker.isValidERC1271SignatureNowCalldata(signer, digest, inner);
    }
}
