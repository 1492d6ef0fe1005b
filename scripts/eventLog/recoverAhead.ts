import { setImmediate as nextTurn } from "node:timers/promises";
import type { RecordEvent } from "tallystick-derive/events";
import type { LogPart } from "tallystick-derive/logParts";
import type { KnownSigners } from "tallystick-protocol/signatures/knownSigners";
import { askSigners } from "tallystick-runtime/signatures/askSigners";
import type { SignatureThreads } from "tallystick-runtime/signatures/signatureThreads";

/** The most parts of a log that are read ahead, and the most characters in their lines. One part is always allowed. */
const PARTS_AHEAD = 12;
const CHARACTERS_AHEAD = 8 << 20;

/** The most parts that one thread works on. If all threads have so many, the main thread recovers the signers of a part. */
const OPEN_PARTS = 8;

/** No thread is started for a log with fewer records, because its start takes longer. */
const FEW = 128;

/**
 * Lets threads recover the signers of a log's records while the main thread applies the events before them. A signer that no
 * thread recovered is recovered when its record is applied, with the same result.
 */
export async function* recoverAhead(
  parts: AsyncIterable<LogPart>,
  threads: Pick<SignatureThreads, "ask" | "start" | "withAtMost">,
  known: KnownSigners,
): AsyncGenerator<LogPart> {
  const waiting: { part: LogPart; isReady: Promise<void> }[] = [];
  let [characters, seen] = [0, 0];
  for await (const part of parts) {
    const records = part.events.filter(isSigned);
    seen += records.length;
    if (seen >= FEW) threads.start();
    const mayAsk = records.length > 0 && threads.withAtMost(OPEN_PARTS - 1) > 0;
    waiting.push({ part, isReady: mayAsk ? askSigners(records, threads, known) : Promise.resolve() });
    characters += part.size;
    while (waiting.length > PARTS_AHEAD || (characters > CHARACTERS_AHEAD && waiting.length > 1)) {
      const first = waiting.shift() as (typeof waiting)[number];
      characters -= first.part.size;
      await first.isReady;
      // Lets the threads' answers arrive. Otherwise the threads would seem to be busy.
      await nextTurn();
      yield first.part;
    }
  }
  for (const { part, isReady } of waiting) {
    await isReady;
    yield part;
  }
}

/** Whether an event is a record whose signature is checked. */
function isSigned(event: LogPart["events"][number]): event is RecordEvent {
  return event?.kind === "record" && event.error === undefined;
}
