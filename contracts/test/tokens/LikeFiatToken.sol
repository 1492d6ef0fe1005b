// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {TestUSDC} from "../TestUSDC.sol";

/// @title A library that verifies signatures, separate from the token as in Circle's FiatToken
library LinkedSignatures {
    function isValid(address signer, bytes32 digest, bytes memory signature) external view returns (bool) {
        return SignatureChecker.isValidSignatureNow(signer, digest, signature);
    }
}

/// @title A token that uses as much gas as Circle's FiatToken 2.2
/// @notice It is for the gas bench. A payment reads and writes as many slots as in the real token, checks its signature
/// in a library, and goes through a proxy. `npm run bench:gas` compares it with the real token, if the real token is
/// given.
contract LikeFiatToken is TestUSDC {
    /// @dev Every payment reads it, as in the real token.
    bool private _paused;
    /// @dev The slot of the name. The real token reads its name for every signature, to make its domain.
    bytes32 private constant NAME = keccak256("like fiat token: name");

    /// @dev The code of the real token comes from an older compiler and needs more gas. These are the measured
    /// differences: for a payment, and for a signature.
    uint256 private constant PAYMENT_GAS = 2_260;
    uint256 private constant SIGNATURE_GAS = 1_100;

    error Stopped();

    function setPaused(bool paused_) external {
        _paused = paused_;
    }

    function _update(address from, address to, uint256 value) internal override {
        if (_paused) revert Stopped();
        super._update(from, to, value);
        _spend(PAYMENT_GAS);
    }

    function _isSigned(address signer, bytes32 digest, bytes calldata signature)
        internal
        view
        override
        returns (bool)
    {
        bytes32 slot = NAME;
        bool named;
        assembly {
            named := sload(slot)
        }
        if (named) revert Stopped();
        _spend(SIGNATURE_GAS);
        return LinkedSignatures.isValid(signer, digest, signature);
    }

    function _spend(uint256 amount) private view {
        assembly {
            let until := sub(gas(), amount)
            for {} gt(gas(), until) {} {}
        }
    }
}

/// @title The proxy in front of the token
/// @notice On every call it reads the address of its code and of its admin. The admin may not use the token.
contract LikeFiatTokenProxy {
    bytes32 private constant ADMIN = keccak256("like fiat token: admin");
    bytes32 private constant CODE = keccak256("like fiat token: code");

    constructor(address code) {
        (bytes32 admin, bytes32 slot) = (ADMIN, CODE);
        assembly {
            sstore(admin, caller())
            sstore(slot, code)
        }
    }

    fallback() external payable {
        (bytes32 admin, bytes32 slot) = (ADMIN, CODE);
        assembly {
            if eq(sload(admin), add(caller(), 1)) { revert(0, 0) }
            let code := sload(slot)
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), code, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(done) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}
