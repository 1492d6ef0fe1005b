import { checkFeedbackFile } from "tallystick-protocol/erc8004/checkFeedbackFile";
import { fileHash } from "tallystick-protocol/erc8004/jsonFile";
import { feedbackOf, key } from "../erc8004/support/feedbackOf.ts";
import type { Verifier } from "./verifier.ts";

/** The words in the error for changes in a proof or in an entry. A changed entry has another hash. */
const OF_PROOFS = /proof|entry|checkpoint|signed|hash|origin|receipt|rating/;

export const feedbackRows: Verifier[] = [
  {
    name: "checkFeedbackFile, of which every field follows from receipt and rating",
    input: () => feedbackOf(),
    judge: (content: object) => {
      const { findings } = checkFeedbackFile(canonical(content), { keys: [key] });
      const wrong = findings.filter(({ holds }) => holds === false);
      return wrong.length === 0
        ? undefined
        : wrong.map(({ field, detail }) => `${field} ${detail}`).join("; ");
    },
    says: [
      { at: /^tallystick\.(?:receipt|rating)_proof/, words: OF_PROOFS },
      { at: /^agentRegistry/, words: /^clientAddress/ },
      { at: /^$|./, words: /canonical|must be|Unrecognized/ },
    ],
    taken: [
      { at: /^agentId /, why: "the event of the registry has the identity, not the file" },
      { at: /^agentRegistry /, why: "the event of the registry has the identity, not the file" },
      {
        at: /^tallystick\.receipt_proof\.verifier_key (?:other|cut|empty|longer)/,
        why: "the verifier uses the known key",
      },
    ],
  },
  {
    name: "checkFeedbackFile with the registry's hash",
    input: async () => {
      const text = canonical(await feedbackOf());
      return { text, hash: fileHash(text) };
    },
    judge: ({ text, hash }: { text: string; hash: string }) => {
      const { findings } = checkFeedbackFile(text, { hash, keys: [key] });
      const wrong = findings.filter(({ holds }) => holds === false);
      return wrong.length === 0
        ? undefined
        : wrong.map(({ field, detail }) => `${field} ${detail}`).join("; ");
    },
    given: /^(?:text|hash)?$/,
    says: [{ at: /^(?:text|hash)$/, words: /^file/ }],
  },
];

/** JSON with sorted keys at every level. It does not check whether every value can be signed. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, it) =>
    it !== null && typeof it === "object" && !Array.isArray(it)
      ? Object.fromEntries(Object.entries(it).sort(([a], [b]) => (a < b ? -1 : 1)))
      : it,
  );
}
