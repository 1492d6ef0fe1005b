// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title The part of the administration of Circle's FiatToken that the fork suite uses
/// @notice One account appoints minters, and another blocks accounts. A minter can mint only within its allowance.
contract ManagedUSDC is ERC20 {
    address public immutable masterMinter;
    address public immutable blacklister;
    mapping(address account => uint256) public minterAllowance;
    mapping(address account => bool) public isBlacklisted;

    error NotAllowed(address account);

    constructor(address masterMinter_, address blacklister_) ERC20("USDC", "USDC") {
        masterMinter = masterMinter_;
        blacklister = blacklister_;
    }

    /// @notice Allows `minter` to mint `allowance` atomic units. Only the master minter can call this.
    function configureMinter(address minter, uint256 allowance) external returns (bool) {
        if (msg.sender != masterMinter) revert NotAllowed(msg.sender);
        minterAllowance[minter] = allowance;
        return true;
    }

    /// @notice Mints `amount` atomic units, within the sender's allowance.
    function mint(address to, uint256 amount) external returns (bool) {
        if (minterAllowance[msg.sender] < amount) revert NotAllowed(msg.sender);
        minterAllowance[msg.sender] -= amount;
        _mint(to, amount);
        return true;
    }

    /// @notice Blocks an account. Only the blacklister can call this.
    function blacklist(address account) external {
        if (msg.sender != blacklister) revert NotAllowed(msg.sender);
        isBlacklisted[account] = true;
    }

    /// @notice Unblocks an account. Only the blacklister can call this.
    function unBlacklist(address account) external {
        if (msg.sender != blacklister) revert NotAllowed(msg.sender);
        isBlacklisted[account] = false;
    }

    /// @inheritdoc ERC20
    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function _update(address from, address to, uint256 value) internal override {
        if (isBlacklisted[from] || isBlacklisted[to]) revert NotAllowed(isBlacklisted[from] ? from : to);
        super._update(from, to, value);
    }
}
