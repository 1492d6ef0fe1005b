import { hash } from "node:crypto";
import type { Sha256 } from "./src/derive/sha256.ts";

/** The same as `sha256ByNoble` by OpenSSL: some seven times as fast. */
export const sha256ByNode: Sha256 = (data, encoding) =>
  hash("sha256", encoding === "hex" ? Buffer.from(data, "hex") : data, "hex");
