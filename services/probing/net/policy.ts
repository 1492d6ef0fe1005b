import { addressProblem, isPublicAddress } from "tallystick-protocol/net/publicAddress";

/** Decides which addresses a prober may use. */
export type Policy = {
  /** The reason why an endpoint's URL is refused; undefined if it is allowed. */
  problemOf: (url: string) => string | undefined;
  /** Whether the prober may connect to an IP address. */
  isPublic: (address: string) => boolean;
};

/** Allows only https at public servers (SHP §10). */
export const publicPolicy: Policy = { problemOf: addressProblem, isPublic: isPublicAddress };

/** For a private network: allows plain http and any address. */
export const openPolicy: Policy = {
  problemOf: (url) =>
    /^https?:$/.test(URL.parse(url)?.protocol ?? "") ? undefined : "must begin with https:// or http://",
  isPublic: () => true,
};
