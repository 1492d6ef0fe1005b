import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import type { Abi } from "viem";
import { codeHash } from "./codeHash.ts";
import {
  PUBLISHED_REGISTRIES_CODE,
  PUBLISHED_SOURCE,
  type PublishedRegistry,
} from "./publishedRegistries.ts";

export type PublishedArtifact = { abi: Abi; bytecode: Hex };

/** A contract as Hardhat and Foundry write it: the code is a text, or in an object. */
type AnyArtifact = {
  abi?: Abi;
  bytecode?: Hex | { object?: Hex };
  deployedBytecode?: Hex | { object?: Hex };
};

/**
 * Reads a published contract from a folder of compiled contracts, and compares it with the expected hashes.
 *
 * @param folder with `…/<name>.sol/<name>.json`, as Hardhat and Foundry write it
 * @throws InvalidInputError naming `folder` when it is missing, or its code differs from the published code
 */
export function readPublished(folder: string, name: PublishedRegistry): PublishedArtifact {
  const artifact = JSON.parse(readFileSync(findArtifact(folder, name), "utf8")) as AnyArtifact;
  const [creation, runtime] = [codeIn(artifact.bytecode), codeIn(artifact.deployedBytecode)];
  if (artifact.abi === undefined || creation === undefined || runtime === undefined)
    refuse(`has ${name}.json without abi, bytecode and deployedBytecode`);
  const pinned = PUBLISHED_REGISTRIES_CODE[name];
  const found = { creation: codeHash(creation), runtime: codeHash(runtime) };
  for (const part of ["creation", "runtime"] as const) {
    if (found[part] !== pinned[part])
      refuse(
        `has a ${name} whose ${part} code has the hash ${found[part]}. The hash at commit ${PUBLISHED_SOURCE.commit} is ${pinned[part]}`,
      );
  }
  return { abi: artifact.abi, bytecode: creation };
}

function findArtifact(folder: string, name: string): string {
  const found = filesIn(folder).filter((file) => file.endsWith(path.join(`${name}.sol`, `${name}.json`)));
  const [file, ...others] = found;
  if (file === undefined) refuse(`has no ${name}.sol/${name}.json`);
  if (others.length > 0) refuse(`has ${found.length} files ${name}.sol/${name}.json; name the folder of one`);
  return path.join(folder, file);
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch (cause) {
    return refuse(`cannot be read: ${(cause as Error).message}`);
  }
}

function codeIn(code: Hex | { object?: Hex } | undefined): Hex | undefined {
  return typeof code === "object" ? code.object : code;
}

function refuse(message: string): never {
  throw new InvalidInputError({ issues: [{ field: "folder", message }] });
}
