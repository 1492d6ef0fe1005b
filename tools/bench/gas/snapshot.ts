import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import type { TestUSDC } from "../../../types/ethers-contracts/test/index.ts";
import { benchChain, type DeployToken, likeFiatToken } from "./chain.ts";
import { compileFiatToken, deployFiatToken } from "./fiatToken.ts";
import { FIAT_TOKEN, LIKE_FIAT_TOKEN } from "./goals.ts";
import { type GasFigures, measureEscrow, measureHires } from "./measureEscrow.ts";
import { measureLedger } from "./measureLedger.ts";

/** The committed figures that were last accepted. */
export const snapshotFile = path.join(repositoryRoot, "contracts", "gasSnapshot.json");

/** How far a figure may differ from the snapshot before the check fails. */
export const TOLERANCE = 0.01;

/** Measures everything, on a chain of its own. Takes about half a minute. */
export async function measureGas(): Promise<GasFigures> {
  const bench = await benchChain();
  const plain = { ...(await measureEscrow(bench)), ...(await measureLedger(bench)) };
  return { ...plain, ...(await measureHires(await benchChain(likeFiatToken), LIKE_FIAT_TOKEN)) };
}

/** Measures hires with Circle's FiatToken, compiled from its source (`FIAT_TOKEN_SOURCE`). */
export async function measureFiatToken(source: string): Promise<GasFigures> {
  const code = await compileFiatToken(source);
  const deployToken: DeployToken = async (ethers) => {
    const [deployer, , , , , , , admin] = await ethers.getSigners();
    if (deployer === undefined || admin === undefined) throw new Error("too few accounts");
    const accounts = { admin: admin.address, deployer: deployer.address };
    return (await deployFiatToken(code, deployer, accounts)) as unknown as TestUSDC;
  };
  return measureHires(await benchChain(deployToken), FIAT_TOKEN);
}

export async function readSnapshot(): Promise<GasFigures> {
  return JSON.parse(await readFile(snapshotFile, "utf8"));
}

export async function writeSnapshot(figures: GasFigures): Promise<void> {
  await writeFile(snapshotFile, `${JSON.stringify(figures, null, 2)}\n`);
}

/** The figures that differ by more than the tolerance, are new, or are missing. */
export function drift(snapshot: GasFigures, figures: GasFigures): string[] {
  const names = new Set([...Object.keys(snapshot), ...Object.keys(figures)]);
  return [...names].flatMap((name) => {
    const [before, now] = [snapshot[name], figures[name]];
    if (before === undefined) return [`${name}: ${now}, not in the snapshot`];
    if (now === undefined) return [`${name}: in the snapshot, not measured`];
    const change = (now - before) / before;
    return Math.abs(change) > TOLERANCE
      ? [`${name}: ${before} → ${now} (${(100 * change).toFixed(2)} %)`]
      : [];
  });
}
