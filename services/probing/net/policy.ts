import { addressProblem, isPublicAddress } from "tallystick-protocol/net/publicAddress";

/** To which addresses a prober goes. */
export type Policy = {
  /** Why an endpoint is not asked, as it is written; undefined when it is. */
  problemOf: (url: string) => string | undefined;
  /** Whether one may connect to an IP address. */
  isPublic: (address: string) => boolean;
};

/** Everything but https at public servers is refused (SHP §10). */
export const publicPolicy: Policy = { problemOf: addressProblem, isPublic: isPublicAddress };

/** For a network of one's own: plain http as well, and any address. */
export const openPolicy: Policy = {
  problemOf: (url) =>
    /^https?:$/.test(URL.parse(url)?.protocol ?? "") ? undefined : "must begin with https:// or http://",
  isPublic: () => true,
};
