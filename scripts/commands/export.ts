import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Command } from "commander";
import { openNodeSnapshot } from "../../indexer/nodeDatabase.ts";
import { addNodeOptions, type NodeOptions } from "../cli/nodeOptions.ts";

/** `tallystick export`: a running node's event log, from which anyone can compute its numbers again. */
export function registerExport(program: Command): void {
  const command = program
    .command("export")
    .description("Write the event log of a running node at one moment, one JSON object on each line.")
    .option("-o, --output <file>", "write to a file instead of standard output");
  addNodeOptions(command).action(async ({ output, ...node }: NodeOptions & { output?: string }) => {
    const snapshot = await openNodeSnapshot(node);
    let events = 0;
    const lines = new Transform({
      objectMode: true,
      transform: (json: string, _encoding, done) => {
        events++;
        done(null, `${json}\n`);
      },
    });
    // An incomplete log looks complete and gives other numbers. So the file gets its name only when it is
    // complete, and on the disk.
    const unfinished = `${output}.${process.pid}.part`;
    try {
      const target =
        output === undefined ? process.stdout : createWriteStream(unfinished, { flags: "wx", flush: true });
      await pipeline(Readable.from(snapshot.eventLog()), lines, target, { end: output !== undefined });
      if (output !== undefined) await rename(unfinished, output);
    } catch (error) {
      if (output !== undefined) await rm(unfinished, { force: true });
      throw error;
    } finally {
      await snapshot.close();
    }
    process.stderr.write(`exported ${events} events\n`);
  });
}
