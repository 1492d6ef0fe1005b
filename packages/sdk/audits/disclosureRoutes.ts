import { Hono } from "hono";
import type { Address } from "tallystick-protocol/address";
import { DISCLOSURE_HEADER, readDisclosureRequest } from "tallystick-protocol/audits/disclosureRequest";
import { HireRefusedError } from "../seller/sellerErrors.ts";
import type { Assignment } from "./assignment.ts";
import type { KeptDisclosures } from "./keptDisclosures.ts";

export type DisclosureRoutesParameters = {
  /** The agent that shows the work: the seller of the hire, or its buyer. */
  holder: Address;
  /**
   * The open assignment with this name, and its hire. `signer` recovers who asks, which is slow.
   * @throws ServiceError when the node cannot be asked
   */
  findAssignment: (name: string, hire: string, signer: () => Address) => Promise<Assignment | undefined>;
  kept: Pick<KeptDisclosures, "find">;
  /** Milliseconds since 1970. */
  now: () => number;
  log: (sentence: string, details?: { [key: string]: unknown }) => void;
};

/**
 * `GET /audits/{hire}` (SHP §8.3.1): shows the work of a hire to the auditor that is assigned to it now, and
 * to nobody else. The auditor asks with the header {@link DISCLOSURE_HEADER}. Answers `{request, result}`,
 * each as JSON text.
 *
 * Answers 400 to a malformed request, or to a request whose signed time is too far from this clock; 401 without the
 * header; 403 to everybody except the auditor; 404 if the work is not assigned or not kept; 503 while the
 * node does not answer.
 */
export function disclosureRoutes(parameters: DisclosureRoutesParameters): Hono {
  const { holder, findAssignment, kept, now, log } = parameters;
  const app = new Hono();
  app.get("/audits/:hire", async (c) => {
    const hire = c.req.param("hire");
    const header = c.req.header(DISCLOSURE_HEADER);
    if (header === undefined) {
      throw refused(401, "unauthorized", "Only the hire's auditor may see its work.", {
        hint: `Send the auditor's signed request in the header ${DISCLOSURE_HEADER}.`,
      });
    }
    const { request, signer } = readDisclosureRequest(header, { hire, now: Math.floor(now() / 1000) });
    const assignment = await findAssignment(request.assignment, hire, signer).catch((error: unknown) => {
      log("The node could not be asked who audits a hire.", { hire, error: String(error) });
      throw refused(503, "node_unreachable", "The node cannot be asked at the moment who audits this hire.");
    });
    // Checking the signature costs most, so it is done for real assignments only.
    if (assignment === undefined || ![assignment.seller, assignment.buyer].includes(holder)) {
      throw refused(404, "not_assigned", "No such audit of a hire of this agent is open.");
    }
    if (request.seller !== assignment.seller || signer() !== assignment.auditor) {
      throw refused(403, "not_the_auditor", `Only ${assignment.auditor} may see this.`);
    }
    const found = assignment.hireId === null ? undefined : await kept.find(assignment.hireId);
    if (found === undefined) throw refused(404, "not_kept", "The work of this hire is not kept here.");
    log("Work was shown to its auditor.", { hire, auditor: assignment.auditor });
    return c.json(found, 200, { "cache-control": "no-store" });
  });
  return app;
}

function refused(
  status: number,
  code: string,
  message: string,
  more: { hint?: string } = {},
): HireRefusedError {
  return new HireRefusedError({ status, code, message, ...more });
}
