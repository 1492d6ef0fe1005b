import { feedbackRows } from "./rowsOfFeedback.ts";
import { proofRows } from "./rowsOfProofs.ts";
import { recordRows } from "./rowsOfRecords.ts";
import { wordRows } from "./rowsOfWords.ts";
import { holdToEveryField } from "./verifier.ts";

/** A new verifier is a row in one of the lists. */
describe("with any field of its input changed, it refuses and names what does not hold:", () => {
  for (const row of [...feedbackRows, ...proofRows, ...recordRows, ...wordRows])
    it(row.name, () => holdToEveryField(row));
});
