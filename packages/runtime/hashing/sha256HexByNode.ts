import { hash } from "node:crypto";
import type { Sha256Hex } from "tallystick-derive/sha256Hex";

/** The same as `sha256HexByNoble` by OpenSSL: some seven times as fast. */
export const sha256HexByNode: Sha256Hex = (data, encoding) =>
  hash("sha256", encoding === "hex" ? Buffer.from(data, "hex") : data, "hex");
