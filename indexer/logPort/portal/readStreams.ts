import type { Address } from "tallystick-protocol/address";
import { checkLogs } from "../checkLogs.ts";
import { SourceBehindError, SourceUnavailableError } from "../errors.ts";
import type { BlockRange, HistoryRead, LogQuery, RequestOutcome } from "../logPort.ts";
import { openWallets } from "../openWallets.ts";
import { attemptsOf, type Retries } from "../retries.ts";
import { KINDS, topicOf } from "../tokenLogs.ts";
import { openStream, type PortalEndpoint, type StreamQuery } from "./openStream.ts";
import { FIELDS } from "./parseBlock.ts";
import { type AnswerLimits, type Progress, readAnswer } from "./readAnswer.ts";

export type StreamReading = {
  endpoint: PortalEndpoint;
  token: Address;
  retries: Retries;
  limits: AnswerLimits;
  timeoutMs: number;
  count: (method: string, outcome: RequestOutcome) => void;
};

/** Reads a range for wallets that fit into one request, with as many streams as necessary. */
export async function readStreams(
  reading: StreamReading,
  query: LogQuery,
  range: BlockRange,
  limit: number | undefined,
  signal: AbortSignal,
): Promise<HistoryRead> {
  const { endpoint, token, count } = reading;
  const { source } = endpoint;
  const open = openWallets(query, source, limit);
  const attempts = attemptsOf(reading.retries);
  const progress: Progress = { next: range.from, last: null };

  const again = async (outcome: RequestOutcome, error: Error, wait?: number) => {
    count("finalized-stream", outcome);
    if (!(await attempts.again(signal, wait))) throw error;
  };

  while (progress.next <= range.to && open.wallets.length > 0) {
    const { next } = progress;
    const asked = { ...query, wallets: open.wallets };
    const attempt = AbortSignal.any([signal, AbortSignal.timeout(reading.timeoutMs)]);
    const answer = await openStream(endpoint, streamQuery(token, asked, range, progress), attempt);
    signal.throwIfAborted();
    if (answer.kind === "nothing") {
      await again("stale", new SourceBehindError(source, next));
      continue;
    }
    if (answer.kind === "failed") {
      const answered = answer.status === undefined ? undefined : { status: answer.status };
      await again(
        answer.outcome,
        new SourceUnavailableError(source, answer.message, answer.cause, answered),
        answer.waitMs,
      );
      continue;
    }
    const against = { source, token, query: asked, range };
    const add = (logs: Parameters<typeof open.add>[0]) => {
      open.add(logs);
      // When a wallet has enough logs, the rest of this answer is not read. The next request leaves the wallet out.
      return open.wallets.length === asked.wallets.length;
    };
    const end = await readAnswer(answer.body, against, progress, add, reading.limits);
    signal.throwIfAborted();
    if (progress.next > next) attempts.reset();
    if (progress.next > next && end !== "cut") count("finalized-stream", "ok");
    else await again("failed", new SourceUnavailableError(source, "its stream ended too early"));
  }
  return { logs: open.end((logs) => checkLogs(logs, { source, query, range })), end: progress.last };
}

function streamQuery(
  token: Address,
  { kind, wallets }: LogQuery,
  { to }: BlockRange,
  { next, last }: Progress,
): StreamQuery {
  const { event, position } = KINDS[kind];
  const logs = [{ address: [token], topic0: [event], [`topic${position}`]: wallets.map(topicOf) }];
  const query: StreamQuery = { type: "evm", fromBlock: next, toBlock: to, fields: FIELDS, logs };
  return last === null ? query : { ...query, parentBlockHash: last.hash };
}
