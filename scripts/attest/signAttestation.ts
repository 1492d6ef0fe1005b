import path from "node:path";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { ledgerNameSchema } from "tallystick-protocol/records/ledgerName";
import { signRecord } from "tallystick-protocol/records/record";
import { type Environment, readEnvironment } from "tallystick-runtime/configuration/readEnvironment";
import { privateKeySetting } from "tallystick-runtime/configuration/settings";
import { knownLedger } from "tallystick-sdk/knownLedger";
import { readSettledEntry } from "tallystick-sdk/readSettledEntry";
import { requestService } from "tallystick-sdk/requestService";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { privateKeyToAccount } from "viem/accounts";
import { z } from "zod";
import { makeAttestation, type SeededReport } from "./makeAttestation.ts";

/** The options of the command line. */
export type AttestOptions = {
  /** The node's URL. */
  url: string;
  commit: string;
  agent?: string;
  agentVersion: string;
  alias?: string;
  coverageTool?: string;
  ciUrl?: string;
  ranAt?: number;
  post?: boolean;
  dryRun?: boolean;
};

/** An attestation. A dry run has no signer and no signature. */
export type SignedAttestation = {
  record: { type: string; body: RecordBody; signer?: string; signature?: string };
  notes: string[];
  /** The place of the record in the ledger, if it was sent. */
  settled?: { hash: string; index: number };
};

const environmentSchema = z.object({
  TALLYSTICK_PRIVATE_KEY: privateKeySetting.optional(),
  TALLYSTICK_LEDGER: ledgerNameSchema.optional(),
});

/**
 * Makes the attestation, signs it for the node's ledger, and sends it if `post` is set. The same reports
 * always give the same record, so sending it again does not add it twice.
 *
 * @throws InvalidInputError naming the field; ServiceError when the node does not answer, or settlement
 * refuses the record
 */
export async function signAttestation(
  options: AttestOptions,
  reports: readonly SeededReport[],
  environment: Environment,
): Promise<SignedAttestation> {
  const { TALLYSTICK_PRIVATE_KEY: privateKey, TALLYSTICK_LEDGER: ledger } = readEnvironment(
    environment,
    environmentSchema,
    "mcp",
  );
  const account = privateKey === undefined ? undefined : privateKeyToAccount(privateKey);
  const { agent: agentId = account?.address.toLowerCase() } = options;
  if (agentId === undefined) refuse("--agent", "is required without TALLYSTICK_PRIVATE_KEY");
  const ranAt = options.ranAt ?? Math.max(...reports.map(({ report }) => report.writtenAt));
  const { body, notes } = makeAttestation(
    { ...options, version: options.agentVersion, agentId, ranAt },
    reports,
  );
  if (options.dryRun) return { record: { type: "attestation", body }, notes };
  if (account === undefined) refuse("TALLYSTICK_PRIVATE_KEY", "is required to sign; --dry-run needs none");

  const baseUrl = options.url;
  const store = fileStore(path.join(".tallystick/buyers", account.address.toLowerCase()));
  const named = await knownLedger({ baseUrl, ledger, store })();
  const record = await signRecord({ type: "attestation", ledger: named, body, account });
  if (!options.post) return { record, notes };
  const { text } = await requestService({ baseUrl, path: "/v1/records", body: record });
  const { hash, index } = readSettledEntry(text);
  return { record, notes, settled: { hash, index: Number(index) } };
}

function refuse(field: string, message: string): never {
  throw new InvalidInputError({ issues: [{ field, message }] });
}
