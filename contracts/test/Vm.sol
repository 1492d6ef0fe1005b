// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Strings} from "@openzeppelin/contracts/utils/Strings.sol";

/// @title The cheatcodes that the Solidity tests use
interface Vm {
    function addr(uint256 privateKey) external pure returns (address);
    function sign(uint256 privateKey, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function getCode(string calldata artifact) external view returns (bytes memory);
    function prank(address sender) external;
    function warp(uint256 timestamp) external;
    function assume(bool condition) external pure;
    function writeLine(string calldata path, string calldata line) external;
    function expectRevert() external;
    function expectRevert(bytes calldata revertData) external;
}

abstract contract TestBase {
    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    /// @dev Deploys the contract with exactly the bytecode that is released. Tests are compiled with the older pipeline
    /// of solc, and `new` in a test would compile the contract with this pipeline too.
    function deployed(string memory name, bytes memory arguments) internal returns (address at) {
        string memory artifact = string.concat("contracts/", name, ".sol:", name);
        bytes memory initCode = bytes.concat(vm.getCode(artifact), arguments);
        assembly ("memory-safe") {
            at := create(0, add(initCode, 0x20), mload(initCode))
        }
        require(at != address(0), artifact);
    }

    function bound(uint256 x, uint256 low, uint256 high) internal pure returns (uint256) {
        return low + x % (high - low + 1);
    }

    /// @dev Writes what a run of an invariant did, for the report after all runs. Tests may write only to this file.
    function report(string memory suite, string[] memory names, uint256[] memory counts) internal {
        string memory line = string.concat('{"suite":"', suite, '"');
        for (uint256 i = 0; i < names.length; ++i) {
            line = string.concat(line, ',"', names[i], '":', Strings.toString(counts[i]));
        }
        vm.writeLine("cache/invariantCoverage.jsonl", string.concat(line, "}"));
    }

    function signed(uint256 privateKey, bytes32 digest) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(privateKey, digest);
        return abi.encodePacked(r, s, v);
    }
}
