import http from "node:http";
import https from "node:https";
import { isIPv6 } from "node:net";
import { hostOf, isAddressLiteral } from "tallystick-protocol/net/publicAddress";

/** The most bytes that are read of a body, and of the headers before it. */
export const MAX_BODY_BYTES = 65_536;
const MAX_HEADER_BYTES = 32_768;

/** One request. */
export type Question = {
  url: string;
  /** The IP address to connect to. The name in the URL is not looked up again. */
  address: string;
  headers: { [name: string]: string };
  /** The body of a POST request; without it the request is a GET. */
  body?: string;
  /** The time limit from connecting to the last byte, in milliseconds. */
  timeoutMs: number;
  /** Tells whether the headers are enough. Then the body is not read. */
  isEnough?: (answer: Omit<Answer, "text" | "isCut">) => boolean;
  signal: AbortSignal;
  /** Certificates that are trusted in addition to those of the system. */
  ca?: string | undefined;
};

/** The answer. A redirect is an answer like any other. */
export type Answer = {
  status: number;
  headers: { get: (name: string) => string | null };
  text: string;
  /** Whether the body was longer than {@link MAX_BODY_BYTES}. */
  isCut: boolean;
};

/** There is no answer: no connection, a timeout, or a broken or invalid HTTP answer. */
export class NoAnswer extends Error {
  readonly reason: "unreachable" | "late" | "broken";

  constructor(reason: NoAnswer["reason"], cause?: unknown) {
    super(reason, { cause });
    this.reason = reason;
  }
}

/**
 * Sends one request on a new connection, which is closed afterwards. TLS is verified. Redirects are not
 * followed, and compressed bodies are not unpacked.
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
    // A URL with an IP address needs no look-up, so only its host is replaced.
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
  // The error listener stays, because a released socket may still fail later.
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
    // The connection closed before the end of the answer.
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
