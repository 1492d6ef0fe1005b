import { Contract, Interface, type Provider } from "ethers";
import { TallystickError } from "tallystick-protocol/errors";
import type { ForkedChain } from "./forkedChain.ts";

const abi = new Interface([
  "function balanceOf(address) view returns (uint256)",
  "function mint(address, uint256)",
  "function masterMinter() view returns (address)",
  "function configureMinter(address, uint256)",
  "function transfer(address, uint256)",
]);

/** The parts of a chain that {@link fundBuyer} needs. */
export type Funding = Pick<ForkedChain, "ethers" | "networkHelpers">;

/**
 * Gives an account `amount` of a token on a fork. It tries three ways in this order: a transfer from `holder` if this is
 * given, a mint by the buyer after the master minter of a FiatToken makes the buyer a minter, and a mint by anybody.
 *
 * @throws TallystickError `cannot_fund_buyer`
 */
export async function fundBuyer(
  { ethers, networkHelpers }: Funding,
  parameters: { token: string; buyer: string; amount: bigint; holder?: string },
): Promise<void> {
  const { token, buyer, amount, holder } = parameters;
  const as = async (account: string) => {
    const signer = await impersonate({ ethers, networkHelpers }, account);
    return new Contract(token, abi, signer);
  };
  const reading = new Contract(token, abi, ethers.provider as unknown as Provider);
  const balance = (): Promise<bigint> => reading.getFunction("balanceOf")(buyer);
  const before = await balance();
  const failures: string[] = [];
  const attempt = async (how: string, fund: () => Promise<unknown>): Promise<boolean> => {
    try {
      await fund();
    } catch (error) {
      failures.push(`${how}: ${(error as Error).message}`);
    }
    return (await balance()) === before + amount;
  };

  if (holder !== undefined) {
    const funded = await attempt(`transfer by ${holder}`, async () =>
      (await as(holder)).getFunction("transfer")(buyer, amount),
    );
    if (funded) return;
  }
  const minted = await attempt("mint by an appointed minter", async () => {
    const master = await as(await reading.getFunction("masterMinter")());
    await master.getFunction("configureMinter")(buyer, amount);
    await (await as(buyer)).getFunction("mint")(buyer, amount);
  });
  if (minted) return;
  const open = await attempt("mint by anybody", async () =>
    (await as(buyer)).getFunction("mint")(buyer, amount),
  );
  if (open) return;
  throw new TallystickError({
    code: "cannot_fund_buyer",
    message: `Nobody could be made to give ${buyer} ${amount} of the token ${token}. ${failures.join(" · ")}`,
    hint: "Name an account that holds the token in FORK_HOLDER.",
  });
}

/** A signer for any account of a fork, also for a contract. The account gets ether for its transactions. */
export async function impersonate({ ethers, networkHelpers }: Funding, account: string) {
  await networkHelpers.impersonateAccount(account);
  await networkHelpers.setBalance(account, 10n ** 18n);
  return ethers.getSigner(account);
}
