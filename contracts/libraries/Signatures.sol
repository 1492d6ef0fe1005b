// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// @title Signatures of people and of contract wallets
/// @notice One rule for every signer: a key (ECDSA), a deployed contract wallet (ERC-1271), or either of them inside
/// an ERC-6492 wrapper.
library Signatures {
    /// @notice The last 32 bytes of a wrapped signature (ERC-6492).
    bytes32 internal constant ERC6492_MAGIC = 0x6492649264926492649264926492649264926492649264926492649264926492;

    /// @notice The signature inside an ERC-6492 wrapper, or the signature itself when there is no well-formed wrapper.
    /// @dev The wrapper's factory call is not made: executing a call that a stranger chose, from a contract that holds
    /// money, is not worth a deployment that anyone can send beforehand. A wrapper that does not decode is handed
    /// on as it is and fails as the signature it then claims to be.
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
    /// @dev The key is tried before the code: an account with an EIP-7702 delegation has code and still has its key,
    /// while nobody has the key of a contract's address. A failing or hostile wallet counts as "no".
    /// @param signer The account that should have signed.
    /// @param digest What was signed (EIP-712).
    /// @param signature 65 bytes r ‖ s ‖ v (low s), whatever the wallet understands, or either of them wrapped.
    function isSignedBy(address signer, bytes32 digest, bytes calldata signature) internal view returns (bool) {
        bytes calldata inner = unwrap(signature);
        (address recovered, ECDSA.RecoverError failure,) = ECDSA.tryRecoverCalldata(digest, inner);
        if (failure == ECDSA.RecoverError.NoError && recovered == signer) return true;
        return
            signer.code.length != 0 && SignatureChecker.isValidERC1271SignatureNowCalldata(signer, digest, inner);
    }
}
