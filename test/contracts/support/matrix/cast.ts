import { Wallet } from "ethers";
import type { Chain } from "../chain.ts";
import { ROLES, type Role } from "./rules.ts";

/**
 * The kind of an account: a key, a contract wallet (ERC-1271), a wallet with stored approvals, or a key with code
 * (EIP-7702).
 */
export const ACCOUNTS = ["key", "wallet", "stored", "delegated"] as const;
export type AccountKind = (typeof ACCOUNTS)[number];

/** An account of the matrix. It signs with `key`. Its address is the address of the key or of a contract. */
export type Actor = { role: Role; address: string; key: Wallet };
export type Cast = Record<Role, Actor>;

/** One account for each role. All are of one kind, and each can send transactions. */
export async function newCast({ ethers }: Chain, kind: AccountKind): Promise<Cast> {
  const [deployer] = await ethers.getSigners();
  if (deployer === undefined) throw new Error("no account");
  const cast: Partial<Cast> = {};
  for (const [i, role] of ROLES.entries()) {
    const key = new Wallet(`0x${(0x7a11e5 + i).toString(16).padStart(64, "0")}`);
    let address = key.address;
    if (kind === "stored") address = await (await ethers.deployContract("StoredApprovalWallet")).getAddress();
    else if (kind !== "key") {
      const wallet = await (await ethers.deployContract("ContractWallet", [key.address])).getAddress();
      if (kind === "wallet") address = wallet;
      else {
        const { chainId } = await ethers.provider.getNetwork();
        const signed = key.authorizeSync({ address: wallet, nonce: 0n, chainId });
        const sender = Wallet.createRandom().connect(ethers.provider as never);
        await deployer.sendTransaction({ to: sender.address, value: 10n ** 17n });
        await (
          await sender.sendTransaction({ type: 4, to: deployer.address, authorizationList: [signed] })
        ).wait();
        const code = await ethers.provider.getCode(key.address);
        if (code.toLowerCase() !== `0xef0100${wallet.slice(2).toLowerCase()}`)
          throw new Error("the chain does not know EIP-7702");
      }
    }
    await ethers.provider.send("hardhat_impersonateAccount", [address]);
    await ethers.provider.send("hardhat_setBalance", [address, `0x${(10n ** 20n).toString(16)}`]);
    cast[role] = { role, address, key };
  }
  return cast as Cast;
}
