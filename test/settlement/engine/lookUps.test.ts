import { DatabaseSync } from "node:sqlite";
import { expect } from "chai";
import { HELD_INDEX_FILE, HeldIndex } from "../../../services/settlement/engine/heldIndex.ts";
import { INDEX_FILE } from "../../../services/settlement/engine/indexDatabase.ts";
import { openTables } from "../../../services/settlement/engine/indexTables.ts";
import { temporaryFolder } from "../support/temporaryFolder.ts";

/** The steps of statements that run only at a start. The second sorts what was spent within the longest budget. */
const AT_A_START = [
  ["SELECT count(*) AS size, coalesce(sum(waits), 0) AS waiting FROM held", "SCAN held"],
  ["UPDATE held SET waits = 1 WHERE waits = 0", "SCAN held"],
  ["SELECT at FROM action WHERE time", "USE TEMP B-TREE FOR ORDER BY"],
] as const;

/** These indexes have only the rows that wait for something, or only the first row is read. */
const SHORT = /^SCAN .* USING (COVERING )?INDEX (release_open|held_waiting|held_order)$/;

/** What SQLite does for each statement that is prepared while `work` runs and reads or changes rows. */
function plansOf(file: string, work: () => void): { sql: string; steps: string[] }[] {
  const { prepare } = DatabaseSync.prototype;
  const statements = new Set<string>();
  DatabaseSync.prototype.prepare = function (sql: string) {
    statements.add(sql);
    return prepare.call(this, sql);
  };
  try {
    work();
  } finally {
    DatabaseSync.prototype.prepare = prepare;
  }
  const database = new DatabaseSync(file, { readOnly: true });
  const plans = [...statements]
    .filter((sql) => /^(SELECT|UPDATE|DELETE|INSERT)/.test(sql) && !/\bmeta\b/.test(sql))
    .map((sql) => {
      const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
      return { sql, steps: steps.map(({ detail }) => detail as string) };
    });
  database.close();
  return plans;
}

describe("what a stranger makes the service look up", () => {
  const folder = temporaryFolder();

  /** The steps that read or sort every row, or every row of a task. */
  const dear = (plans: { sql: string; steps: string[] }[]) =>
    plans.flatMap(({ sql, steps }) =>
      steps
        .filter((step) => /^SCAN |TEMP B-TREE/.test(step) && !SHORT.test(step))
        .filter((step) => !AT_A_START.some(([start, at]) => sql.startsWith(start) && step.startsWith(at)))
        .map((step) => `${step}: ${sql}`),
    );

  it("has an index in the tables of the ledger", () => {
    const plans = plansOf(`${folder.path}/${INDEX_FILE}`, () => {
      openTables(folder.path, {}).database.close({ size: 0, end: 0, head: "" });
    });
    expect(plans).to.have.length.above(25);
    expect(dear(plans)).to.deep.equal([]);
  });

  it("has an index in the table of held proposals", () => {
    const plans = plansOf(`${folder.path}/${HELD_INDEX_FILE}`, () => new HeldIndex(folder.path).close());
    expect(plans).to.have.length.above(10);
    expect(dear(plans)).to.deep.equal([]);
  });
});
