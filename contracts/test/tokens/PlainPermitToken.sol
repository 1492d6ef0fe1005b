// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";

/// @title A token whose permit accepts only v, r and s, and whose balanceOf can be set to fail
contract PlainPermitToken is ERC20Permit {
    bool private _lost;

    constructor() ERC20("Plain", "PLN") ERC20Permit("Plain") {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function lose(bool lost) external {
        _lost = lost;
    }

    function balanceOf(address account) public view override returns (uint256) {
        require(!_lost);
        return super.balanceOf(account);
    }
}
