import http from "node:http";
import https from "node:https";
import { isIPv6 } from "node:net";
import { hostOf, isAddressLiteral } from "tallystick-protocol/net/publicAddress";

/** Most bytes of a body that are read, and of the headers before it. */
export const MAX_BODY_BYTES = 65_536;
const MAX_HEADER_BYTES = 32_768;

/** One request. */
export type Question = {
  url: string;
  /** To connect to, whatever the name in the address leads to now. */
  address: string;
  headers: { [name: string]: string };
  /** Sent by POST as it is; without it, GET. */
  body?: string;
  /** How long it may take, connecting and the last byte included, in milliseconds. */
  timeoutMs: number;
  /** Whether the headers say enough, so that no body is read. */
  isEnough?: (answer: Omit<Answer, "text" | "isCut">) => boolean;
  signal: AbortSignal;
  /** Certificates that are believed besides those of the system. */
  ca?: string | undefined;
};

/** What came back. Redirects are answers like others. */
export type Answer = {
  status: number;
  headers: { get: (name: string) => string | null };
  text: string;
  /** Whether the body went on beyond {@link MAX_BODY_BYTES}. */
  isCut: boolean;
};

/** Why there is no answer: nothing connected, it took too long, or what came was no HTTP or broke off. */
export class NoAnswer extends Error {
  readonly reason: "unreachable" | "late" | "broken";

  constructor(reason: NoAnswer["reason"], cause?: unknown) {
    super(reason, { cause });
    this.reason = reason;
  }
}

/**
 * Asks once, on a connection of its own that is closed afterwards. TLS is verified; nothing is followed, unpacked or kept.
 *
 * @throws NoAnswer; the signal's reason
 */
export function ask(question: Question): Promise<Answer> {
  const { url, address, headers, body, timeoutMs, isEnough, signal, ca } = question;
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const target = new URL(url);
  const host = hostOf(target);
  let isConnected = false;
  const request = (target.protocol === "https:" ? https : http).request(target, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      host: target.host,
      ...headers,
      ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) }),
    },
    agent: false,
    maxHeaderSize: MAX_HEADER_BYTES,
    lookup: (_host, { all }, found) => {
      const family = isIPv6(address) ? 6 : 4;
      if (all) found(null, [{ address, family }]);
      else found(null, address, family);
    },
    // An address is never looked up, so it takes the place of the one that is written.
    ...(isAddressLiteral(host) ? { hostname: address } : { servername: host }),
    ...(ca !== undefined && { ca }),
  });
  const end = (): void => {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    request.destroy();
  };
  const fail = (error: Error): void => {
    reject(error);
    end();
  };
  const stop = (): void => fail(signal.reason);
  const timer = setTimeout(() => fail(new NoAnswer("late")), timeoutMs);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  request.on("socket", (socket) => {
    socket.once("connect", () => {
      isConnected = true;
    });
  });
  // An error listener stays: a socket that was let go may break later.
  request.on("error", (cause) => fail(new NoAnswer(isConnected ? "broken" : "unreachable", cause)));
  request.on("response", (response) => {
    const about = { status: response.statusCode ?? 0, headers: headersOf(response) };
    const done = (text: string, isCut: boolean): void => {
      resolve({ ...about, text, isCut });
      end();
    };
    if (isEnough?.(about)) return done("", false);
    const pieces: Buffer[] = [];
    let size = 0;
    response.on("data", (piece: Buffer) => {
      size += piece.length;
      pieces.push(piece);
      if (size > MAX_BODY_BYTES) done(textOf(pieces), true);
    });
    response.on("end", () => done(textOf(pieces), false));
    response.on("error", (cause) => fail(new NoAnswer("broken", cause)));
    // Closed before its end.
    response.on("close", () => fail(new NoAnswer("broken")));
  });
  request.on("upgrade", () => fail(new NoAnswer("broken")));
  request.end(body);
  return promise;
}

function headersOf({ headers }: http.IncomingMessage): Answer["headers"] {
  return {
    get: (name) => {
      const value = headers[name.toLowerCase()];
      return (Array.isArray(value) ? value.join(", ") : value) ?? null;
    },
  };
}

function textOf(pieces: Buffer[]): string {
  return Buffer.concat(pieces).subarray(0, MAX_BODY_BYTES).toString("utf8");
}
