import { DEPLOYMENT_SALT, frozenAddress } from "./frozenContract.ts";

/** Where `deployFrozen` deploys to. Asks no chain. */
export function frozenAddresses({
  token,
  guardian,
  providerId,
  salt = DEPLOYMENT_SALT,
}: {
  token: string;
  guardian: string;
  providerId: string;
  salt?: string;
}): { token: string; hireEscrow: string; anchoredLedger: string } {
  return {
    token,
    hireEscrow: frozenAddress("HireEscrow", [token, guardian, providerId], salt),
    anchoredLedger: frozenAddress("AnchoredLedger", [], salt),
  };
}
