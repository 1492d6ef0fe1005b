// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {TestUSDC} from "../TestUSDC.sol";

/// @title A stand-in for USDC on a live chain: one account appoints minters, blocks accounts and stops all transfers
/// @notice The functions have the same names as in Circle's FiatToken. So code that works with one token works with the
/// other.
contract AdministeredUSDC is TestUSDC {
    address public immutable masterMinter;
    bool public paused;
    mapping(address account => bool) public isBlacklisted;

    error NotAllowed(address account);
    error TokenPaused();

    modifier onlyAdmin() {
        if (msg.sender != masterMinter) revert NotAllowed(msg.sender);
        _;
    }

    constructor(address admin) {
        masterMinter = admin;
    }

    function blacklister() external view returns (address) {
        return masterMinter;
    }

    function pauser() external view returns (address) {
        return masterMinter;
    }

    /// @notice Blocks an account. {unBlacklist} unblocks it.
    function blacklist(address account) external onlyAdmin {
        isBlacklisted[account] = true;
    }

    function unBlacklist(address account) external onlyAdmin {
        isBlacklisted[account] = false;
    }

    /// @notice Stops all transfers. {unpause} allows them again.
    function pause() external onlyAdmin {
        paused = true;
    }

    function unpause() external onlyAdmin {
        paused = false;
    }

    function _update(address from, address to, uint256 value) internal override {
        if (paused) revert TokenPaused();
        if (isBlacklisted[from] || isBlacklisted[to]) revert NotAllowed(isBlacklisted[from] ? from : to);
        super._update(from, to, value);
    }
}
