// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title A contract wallet of one owner (ERC-1271), which can also misbehave
/// @notice It accepts its owner's signature over the plain digest. Many wallets do this. The signature does not say for
/// which wallet it is, so it works for every wallet of this owner. Only the signed data can prevent such a replay.
contract ContractWallet is IERC1271 {
    enum Mood {
        Sane,
        AcceptsAll,
        Reverts,
        BurnsGas,
        Bombs,
        AnswersOtherwise
    }

    address public immutable owner;
    Mood public mood;

    constructor(address owner_) {
        owner = owner_;
    }

    function feel(Mood mood_) external {
        mood = mood_;
    }

    /// @notice Makes several calls in one transaction.
    function executeAll(address target, bytes[] calldata calls) external {
        for (uint256 i = 0; i < calls.length; ++i) {
            execute(target, calls[i]);
        }
    }

    function execute(address target, bytes calldata call_) public returns (bytes memory result) {
        require(msg.sender == owner, "not the owner");
        bool done;
        (done, result) = target.call(call_);
        if (!done) {
            assembly {
                revert(add(result, 0x20), mload(result))
            }
        }
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        if (mood == Mood.AcceptsAll) return IERC1271.isValidSignature.selector;
        if (mood == Mood.Reverts) revert("no");
        if (mood == Mood.BurnsGas) {
            while (gasleft() > 0) {}
        }
        if (mood == Mood.Bombs) {
            assembly {
                return(0, 500000)
            }
        }
        if (mood == Mood.AnswersOtherwise) return 0xdeadbeef;
        (address signer, ECDSA.RecoverError failure,) = ECDSA.tryRecoverCalldata(digest, signature);
        return failure == ECDSA.RecoverError.NoError && signer == owner
            ? IERC1271.isValidSignature.selector
            : bytes4(0xffffffff);
    }
}
