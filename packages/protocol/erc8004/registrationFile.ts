import * as z from "zod";
import { invalidInputFromZod } from "../errors.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { accountIdSchema } from "./accountId.ts";

/** The type of a registration file (ERC-8004, Agent URI and Agent Registration File). */
export const REGISTRATION_TYPE = "https://eips.ethereum.org/EIPS/eip-8004#registration-v1";

const line = z.string().max(2_048);

const serviceSchema = z.looseObject({
  name: z.string().min(1, "must not be empty").max(64),
  endpoint: line,
  version: z.string().max(64).optional(),
});

/**
 * A registration file of ERC-8004: what an identity's `agentURI` leads to. Unknown keys are kept, because the
 * EIP allows them.
 */
export const registrationFileSchema = z.looseObject({
  type: z.literal(REGISTRATION_TYPE, { error: `must be "${REGISTRATION_TYPE}"` }),
  name: z.string().min(1, "must not be empty").max(256),
  description: z.string().max(4_096),
  image: line.optional(),
  services: z.array(serviceSchema).max(64),
  x402Support: z.boolean().optional(),
  active: z.boolean().optional(),
  registrations: z.array(z.looseObject({ agentId: z.int().min(0), agentRegistry: accountIdSchema })).max(64),
  supportedTrust: z.array(z.string().max(64)).max(16).optional(),
});

export type RegistrationFile = z.output<typeof registrationFileSchema>;

/** A service that an agent offers, as the EIP lists it. */
export type Service = { name: string; endpoint: string; version?: string; capabilities?: string[] };

export type RegistrationSources = {
  name: string;
  description: string;
  image?: string | undefined;
  /** The endpoints at which buyers hire the agent, and the capabilities that each endpoint sells (SHP §5). */
  hire: readonly { endpoint: string; capabilities: readonly string[] }[];
  /** The address of its MCP server, and other services. */
  services?: readonly Service[];
  /** Every identity of the agent, this one included. */
  registrations: readonly { agentId: number; agentRegistry: string }[];
};

/**
 * The content of an agent's registration file. Hires are paid by x402, so the file lists each endpoint twice: as a
 * service `SHP` and as a service `x402`. `supportedTrust` is only `reputation`, because neither a stake nor a TEE
 * secures the agent's work.
 */
export function registrationContent(sources: RegistrationSources): RecordBody {
  const { name, description, image, hire, services = [], registrations } = sources;
  const paid = hire.map(({ endpoint }) => ({ name: "x402", endpoint, version: "2" }));
  const hired = hire.map(({ endpoint, capabilities }) => ({
    name: "SHP",
    endpoint,
    version: "0.3",
    capabilities: [...capabilities],
  }));
  return {
    type: REGISTRATION_TYPE,
    name,
    description,
    ...(image !== undefined && { image }),
    services: [...hired, ...services.map((it) => ({ ...it })), ...paid] as RecordBody[],
    x402Support: hire.length > 0,
    active: hire.length > 0 || services.length > 0,
    registrations: registrations.map((it) => ({ ...it })),
    supportedTrust: ["reputation"],
  };
}

/**
 * Reads the content of a registration file.
 *
 * @throws InvalidInputError naming every wrong field
 */
export function parseRegistrationFile(content: unknown): RegistrationFile {
  const parsed = registrationFileSchema.safeParse(content);
  if (!parsed.success) throw invalidInputFromZod(parsed.error);
  return parsed.data;
}
