import { RELEASE_SALT } from "tallystick-protocol/releaseAddress";
import { frozenAddress } from "./frozenContract.ts";

/** The addresses that `deployFrozen` deploys to, computed without a chain. */
export function frozenAddresses({
  token,
  guardian,
  providerId,
  salt = RELEASE_SALT,
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
