import { type Address, addressSchema } from "tallystick-protocol/address";
import { InvalidInputError } from "tallystick-protocol/errors";
import { readForeignJson } from "tallystick-protocol/json/foreignJson";
import { requestService } from "tallystick-sdk/requestService";
import { unreadableAnswer } from "tallystick-sdk/unreadableAnswer";

/** The form of an alias in attestations. */
const ALIAS = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * The address of an agent, which is named by its address or its alias. An alias counts only while exactly one
 * agent claims it.
 *
 * @throws InvalidInputError naming `id`; ServiceError `unknown_alias`, `ambiguous_alias`
 */
export async function agentNamed(baseUrl: string, id: string): Promise<Address> {
  const address = addressSchema.safeParse(id.toLowerCase());
  if (address.success) return address.data;
  if (!ALIAS.test(id)) {
    throw new InvalidInputError({
      issues: [{ field: "id", message: "must be an agent's address or alias" }],
    });
  }
  const { text } = await requestService({ baseUrl, path: `/v1/aliases/${id}` });
  const named = addressSchema.safeParse(Object(readForeignJson(text)).agent_id);
  if (!named.success) throw unreadableAnswer(named.error);
  return named.data;
}

/**
 * Asks a node about an agent's trust score.
 *
 * @param part the last part of the REST path, with its query
 * @throws ServiceError
 */
export async function askSteward<Answer>(baseUrl: string, id: string, part: string): Promise<Answer> {
  const agent = await agentNamed(baseUrl, id);
  const { text } = await requestService({ baseUrl, path: `/v1/agents/${agent}/${part}` });
  return readForeignJson(text) as Answer;
}
