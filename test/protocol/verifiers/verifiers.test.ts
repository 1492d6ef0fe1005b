import { feedbackRows } from "./rowsOfFeedback.ts";
import { proofRows } from "./rowsOfProofs.ts";
import { recordRows } from "./rowsOfRecords.ts";
import { wordRows } from "./rowsOfWords.ts";
import { holdToEveryField } from "./verifier.ts";

/** Add a new verifier as a row of one of the lists. */
describe("every verifier refuses an input with any changed field, and names the wrong part:", () => {
  for (const row of [...feedbackRows, ...proofRows, ...recordRows, ...wordRows])
    it(row.name, () => holdToEveryField(row));
});
