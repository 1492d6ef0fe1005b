import * as z from "zod";
import { addressSchema } from "../address.ts";
import { hash32Schema } from "../hash32Schema.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { boundForm } from "./boundForm.ts";
import { endpointSchema } from "./listing.ts";

/** The most runs of one attestation. */
export const MAX_TEST_RUNS = 16;
/** The most tests of one run. */
const MAX_TESTS = 10_000_000;

const count = z.int().min(0, "must not be negative").max(MAX_TESTS, `must be at most ${MAX_TESTS}`);

/**
 * One run of an agent's tests. `passing` counts the tests that passed and are not flaky. A test that is known to have
 * no assertion does not count. `total` counts all tests, also the skipped ones. `report_hash` is the SHA-256 of the
 * report as the runner wrote it. `outcomes_hash` is the SHA-256 over the results of all tests: two runs have the same
 * hash if each test had the same result in both.
 */
const testRunSchema = z
  .strictObject({
    seed: z.string().min(1, "must not be empty").max(64, "must have at most 64 characters").optional(),
    passing: count,
    total: count,
    /** Tests that had different results in different runs. */
    flaky: count,
    /** Absent when the test runner does not report it. */
    without_assertions: count.optional(),
    report_hash: hash32Schema,
    outcomes_hash: hash32Schema,
  })
  .refine((run) => run.passing + run.flaky + (run.without_assertions ?? 0) <= run.total, {
    error: "must not be less than passing, flaky and without_assertions together",
    path: ["total"],
  });

export type TestRun = z.infer<typeof testRunSchema>;

/**
 * The body of an `attestation`: the results of an agent's tests (STEWARD). The agent signs it, or an attestor
 * of `params.steward.attestors`. `ran_at` is unix seconds.
 */
const attestationFields = {
  agent_id: addressSchema,
  /** The name by which people call the agent. It means this agent only while no other agent claims it. */
  alias: z
    .string()
    .regex(
      /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
      "must be lower-case letters, digits and hyphens, at most 63",
    )
    .optional(),
  version: z.string().min(1, "must not be empty").max(64, "must have at most 64 characters"),
  commit: z
    .string()
    .regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/, "must be a commit's hash: 40 or 64 lower-case hex digits"),
  runs: z
    .array(testRunSchema)
    .min(1, "must have at least one run")
    .max(MAX_TEST_RUNS, `must have at most ${MAX_TEST_RUNS} runs`),
  coverage_tool: z
    .string()
    .min(1, "must not be empty")
    .max(128, "must have at most 128 characters")
    .optional(),
  ci_url: endpointSchema.optional(),
  ran_at: z.int().min(0, "must be unix seconds"),
};

const read = boundForm(attestationFields);

export type Attestation = ReturnType<typeof read>;

/**
 * Reads the body of an attestation.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseAttestation(body: RecordBody): Attestation {
  return read(body);
}
