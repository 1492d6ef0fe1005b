import { TallystickError } from "tallystick-protocol/errors";
import { parsePythonJson } from "tallystick-protocol/json/pythonJson";
import { recordBodyFromPyJson } from "tallystick-protocol/json/recordBody";
import { parseListing } from "tallystick-protocol/records/listing";
import { parseReceipt } from "tallystick-protocol/records/receipt";
import { recordDigest, signerOf } from "tallystick-protocol/records/record";
import { type Check, type Finding, fails, holds, isOpen } from "./check.ts";

/**
 * Verifies a signed record: a receipt, a listing, a rating, or anything else with `body`, `signer` and
 * `signature`.
 */
export function verifyRecordFile(text: string): Finding {
  try {
    const value = parsePythonJson(text, { duplicateKeys: "refuse" });
    const { type, body, signer, signature } = Object(value);
    const title =
      typeof type === "string" && /^[a-z_]{1,40}$/.test(type) ? `A record: ${type}` : "A signed record";
    if (typeof signer !== "string" || typeof signature !== "string")
      return { title, checks: [fails("It names no signer or no signature")] };
    const signed = recordBodyFromPyJson(body);
    const found = signerOf(signed, signature);
    return {
      title,
      checks: [
        found === signer.toLowerCase()
          ? holds("Its signer's wallet signed it", found)
          : fails("Its signer's wallet did not sign it", signatureOf(found, signer)),
        holds("What was signed", `digest ${recordDigest(signed)}`),
        ...(type === "receipt" ? receiptChecks(signed, signer.toLowerCase()) : []),
        ...(type === "listing" ? listingChecks(signed, signer.toLowerCase()) : []),
        isOpen(
          "Whether it counts",
          "A record counts once its entry is anchored: the page of its hire, or a .proof file, shows that.",
        ),
      ],
    };
  } catch (error) {
    if (!(error instanceof TallystickError)) throw error;
    return { title: "A signed record", checks: [fails("It cannot be read", error.message)] };
  }
}

function signatureOf(found: string | null, signer: string): string {
  const by = found === null ? "No wallet's key made this signature." : `It is by ${found}, not by ${signer}.`;
  return `${by} Only the chain can check the signature of a contract wallet.`;
}

type Body = ReturnType<typeof recordBodyFromPyJson>;

function listingChecks(body: Body, signer: string): Check[] {
  return ofForm("listing", () => {
    const { agent_id } = parseListing(body);
    return [signedBy(signer, { agent: agent_id, role: "agent", what: "listing" })];
  });
}

function receiptChecks(body: Body, signer: string): Check[] {
  return ofForm("receipt", () => {
    const { agent_id, buyer, buyer_signature } = parseReceipt(body);
    const own = [
      holds("It has the form of a receipt"),
      signedBy(signer, { agent: agent_id, role: "seller", what: "receipt" }),
    ];
    if (buyer_signature === undefined) return [...own, isOpen("Its buyer did not sign it", buyer)];
    const found = signerOf(body, buyer_signature, undefined, "buyer_signature");
    return [
      ...own,
      found === buyer
        ? holds("Its buyer signed it too", buyer)
        : fails("Its buyer's wallet did not sign it", signatureOf(found, buyer)),
    ];
  });
}

/** The checks of a record with this form, or that it does not have this form. */
function ofForm(what: string, checks: () => Check[]): Check[] {
  try {
    return checks();
  } catch (error) {
    if (!(error instanceof TallystickError)) throw error;
    return [fails(`It does not have the form of a ${what}`, error.message)];
  }
}

/** Whether the agent that a record names signed it. */
function signedBy(signer: string, named: { agent: string; role: string; what: string }): Check {
  const { agent, role, what } = named;
  return agent === signer
    ? holds(`Its signer is the ${role} that it names`, agent)
    : fails(
        `Its signer is not the ${role} that it names`,
        `It names ${agent}. Anybody can sign such a ${what}.`,
      );
}
