import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import { parsePythonJson } from "tallystick-protocol/json/pythonJson";
import { NOTICE_TYPE, type Notice, parseNotice } from "tallystick-protocol/notices/notice";
import { isSignedBy, recordFromPayload } from "tallystick-protocol/records/record";

/** The longest notice that is read, in characters. */
const MAX_NOTICE = 65_536;

/**
 * Reads a notice that came to a buyer's address, and checks its signature. Anybody can send something there, so
 * trust only what this function returns.
 *
 * A notice comes again if your answer was lost. Remember its `id`, and act on it once. Answer with a 2xx when
 * you have stored it.
 *
 * @param text the body of the request
 * @param of `sender`: from the answer of `POST /v1/notices`; `buyer`: who subscribed
 * @throws InvalidInputError naming the field; TallystickError `not_a_notice` when the sender did not sign it for this buyer
 */
export function readNotice(text: string, { sender, buyer }: { sender: Address; buyer: Address }): Notice {
  if (text.length > MAX_NOTICE) throw notOne("is too long");
  const { type, body, signature } = recordFromPayload(parsePythonJson(text, { duplicateKeys: "refuse" }));
  if (type !== NOTICE_TYPE || body.type !== NOTICE_TYPE) throw notOne("says that it is something else");
  if (!isSignedBy(body, signature, sender)) throw notOne(`was not signed by ${sender}`);
  const notice = parseNotice(body);
  if (notice.buyer !== buyer) throw notOne("is for another buyer");
  return notice;
}

function notOne(why: string): TallystickError {
  return new TallystickError({
    code: "not_a_notice",
    message: `What came ${why}.`,
    hint: "Ignore it, and answer with an error.",
  });
}
