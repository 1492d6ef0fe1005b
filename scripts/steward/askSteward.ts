import { type Address, addressSchema } from "tallystick-protocol/address";
import { InvalidInputError } from "tallystick-protocol/errors";
import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { readServiceAnswer } from "tallystick-sdk/readServiceAnswer";
import { requestService } from "tallystick-sdk/requestService";
import { z } from "zod";

/** The form of an alias in attestations. */
const ALIAS = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const aliasForm = z.object({ agent_id: addressSchema });

/**
 * The address of an agent, which is named by its address or its alias. An alias counts only while exactly one
 * agent claims it.
 *
 * @throws InvalidInputError naming `id`; ServiceError `unknown_alias`, `ambiguous_alias`, `unreadable_answer`
 */
export async function agentNamed(baseUrl: string, id: string): Promise<Address> {
  const address = addressSchema.safeParse(id.toLowerCase());
  if (address.success) return address.data;
  if (!ALIAS.test(id)) {
    throw new InvalidInputError({
      issues: [{ field: "id", message: "must be an agent's address or alias" }],
    });
  }
  const path = `/v1/aliases/${id}`;
  const { text } = await requestService({ baseUrl, path });
  return readServiceAnswer(aliasForm, tryForeignJson(text), { what: `The node's answer to ${path}` })
    .agent_id;
}

/**
 * Asks a node about an agent's trust score.
 *
 * @param form the form of the answer. Fields that it does not name stay in the answer
 * @param part the last part of the REST path, with its query
 * @returns `read`: the answer by its form; `whole`: the answer as the node wrote it, in the node's order
 * @throws ServiceError, also `unreadable_answer`
 */
export async function askSteward<Form extends z.ZodType>(
  form: Form,
  { baseUrl, id, part }: { baseUrl: string; id: string; part: string },
): Promise<{ read: z.output<Form>; whole: unknown }> {
  const agent = await agentNamed(baseUrl, id);
  const path = `/v1/agents/${agent}/${part}`;
  const { text } = await requestService({ baseUrl, path });
  const whole = tryForeignJson(text);
  const what = `The node's answer to ${path.split("?")[0]}`;
  return { read: readServiceAnswer(form, whole, { what }), whole };
}
