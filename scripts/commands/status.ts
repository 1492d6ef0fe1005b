import type { Command } from "commander";
import {
  addQueryOptions,
  answer,
  facts,
  moment,
  nodeAt,
  type QueryOptions,
  table,
} from "../query/nodeQuery.ts";

/**
 * `tallystick status`: the state of a node. Exits with 1 when it waits for a segment of a ledger, or for
 * transfers.
 */
export function registerStatus(program: Command): void {
  addQueryOptions(
    program
      .command("status")
      .description("Show the state of a node. Exits with 1 when it waits for entries that it cannot get."),
  ).action(async (options: QueryOptions) => {
    const { meta } = await nodeAt(options).graphql.status();
    const blocked = meta.blockedAtSegment;
    const late = meta.blockedAtTransfers;
    if (blocked !== null || late !== null) process.exitCode = 1;
    answer(options, meta, () =>
      [
        facts([
          ["node", options.url],
          ["chain", `${meta.chainId}, token ${meta.token.address}`],
          ["indexed to block", meta.indexedBlock],
          ["derived as of", meta.block === 0 ? "nothing yet" : `block ${meta.block}, ${moment(meta.time)}`],
          ["digest", meta.digest],
          ["parameters", meta.paramsVersion === null ? null : `version ${meta.paramsVersion}`],
          [
            "waiting",
            blocked &&
              `for entries ${blocked.from} to ${blocked.to} of ${blocked.ledger} since ${moment(blocked.since)}, ` +
                `${blocked.attempts} attempts: ${blocked.reason}`,
          ],
          [
            "transfers",
            late &&
              `waiting at block ${late.block} since ${moment(late.since)}, ${late.attempts} attempts: ${late.reason}`,
          ],
        ]),
        table(
          ["ledger", "origin", "entries", "root"],
          meta.ledgers.map((it) => [it.id, it.origin ?? "–", it.size, it.root]),
          "It follows no ledger that was anchored yet.",
        ),
      ].join("\n"),
    );
  });
}
