import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A fault of a store. */
export type Fault =
  /** Answers 200 to every write and overwrites the object, even if the condition of the write is not true. */
  | "overwrites"
  /** Refuses correctly, but overwrites the object. */
  | "lies"
  /** Ignores `If-Match`. */
  | "knows no If-Match"
  /** Sends no ETag. */
  | "no ETag"
  /** Sends another ETag each time. */
  | "changes its ETags"
  /** Two of three requests get 503 SlowDown, or the connection breaks after the work was done. */
  | "tired"
  /** Begins an answer and never ends it. */
  | "stalls"
  | undefined;

/** A fault between a request and its answer. */
export type Interference = "lost" | { status: number; headers?: { [name: string]: string } } | undefined;

/** An S3-compatible store for tests. */
export type ObjectStore = {
  url: string;
  objects: Map<string, Buffer>;
  /** `METHOD key status` of each request, in order. */
  asked: string[];
  fault: Fault;
  /** Called before each answer. For "lost" the store does the work and sends no answer. For a status it sends only this. */
  interfere: (method: string, key: string) => Interference;
  close: () => Promise<void>;
};

export const CREDENTIALS = { region: "test-1", accessKeyId: "AKTEST", secretAccessKey: "a/secret+of=tests" };

/**
 * A strict subset of S3, written from its published documentation. It has GetObject and PutObject in path style, conditional
 * writes (If-None-Match: *, If-Match), Signature Version 4 with the body's hash, and errors as XML. It refuses the rest.
 */
export async function startObjectStore(): Promise<ObjectStore> {
  const objects = new Map<string, Buffer>();
  const asked: string[] = [];
  let count = 0;
  const store: ObjectStore = {
    ...{ url: "", objects, asked, fault: undefined },
    interfere: () => undefined,
    close: async () => {},
  };
  const server: Server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      const key = decodeURIComponent(new URL(request.url ?? "", "http://store").pathname.slice(1));
      const between = store.interfere(request.method ?? "", key);
      const tell = (status: number, code = "", bytes?: Buffer) => {
        asked.push(`${request.method} ${key} ${status}`);
        const found = objects.get(key);
        const isTold = found !== undefined && status === 200 && store.fault !== "no ETag";
        if (between === "lost") return response.destroy();
        const etag = found && (store.fault === "changes its ETags" ? `"${asked.length}"` : etagOf(found));
        response.writeHead(status, isTold ? { etag } : {});
        if (store.fault === "stalls") return response.write("<");
        if (store.fault === "tired" && count++ % 3 !== 2 && count % 2 === 0) return response.destroy();
        return response.end(bytes ?? (code && `<Error><Code>${code}</Code></Error>`));
      };
      if (store.fault === "tired" && count++ % 3 !== 2 && count % 2 === 1) return tell(503, "SlowDown");
      if (between !== undefined && between !== "lost")
        return response.writeHead(between.status, between.headers).end();
      if (!isSigned(request, body)) return tell(403, "SignatureDoesNotMatch");
      return answer(store, request, key, body, tell);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  store.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  store.close = () =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return store;
}

function answer(
  { objects, fault }: ObjectStore,
  { method, headers }: IncomingMessage,
  key: string,
  body: Buffer,
  tell: (status: number, code?: string, bytes?: Buffer) => unknown,
): unknown {
  const found = objects.get(key);
  if (method === "GET") return found ? tell(200, "", found) : tell(404, "NoSuchKey");
  if (method !== "PUT") return tell(501, "NotImplemented");
  const [ifNone, ifMatch] = [headers["if-none-match"], headers["if-match"]];
  if (fault !== "overwrites") {
    if (ifNone !== undefined && ifNone !== "*") return tell(501, "NotImplemented");
    const isRefused =
      (ifNone === "*" && found !== undefined) ||
      (ifMatch !== undefined &&
        fault !== "knows no If-Match" &&
        found !== undefined &&
        ifMatch !== etagOf(found));
    if (ifMatch !== undefined && found === undefined) return tell(404, "NoSuchKey");
    if (isRefused) {
      if (fault === "lies") objects.set(key, body);
      return tell(412, "PreconditionFailed");
    }
  }
  objects.set(key, body);
  return tell(200);
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}

function etagOf(bytes: Buffer): string {
  return `"${createHash("md5").update(bytes).digest("hex")}"`;
}

/** Whether the header `authorization` has a valid signature (Signature Version 4). */
function isSigned({ method, url, headers }: IncomingMessage, body: Buffer): boolean {
  const match =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? "",
    );
  const sha256 = (data: Buffer | string) => createHash("sha256").update(data).digest("hex");
  if (!match || headers["x-amz-content-sha256"] !== sha256(body)) return false;
  const [, id, day = "", region = "", signed = "", signature] = match;
  const canonical = [
    method,
    new URL(url ?? "", "http://store").pathname,
    "",
    ...signed.split(";").map((name) => `${name}:${headers[name]}`),
    "",
    signed,
    headers["x-amz-content-sha256"],
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, sha256(canonical)].join("\n");
  const hmac = (key: Buffer | string, data: string) => createHmac("sha256", key).update(data).digest();
  const key = [day, region, "s3", "aws4_request"].reduce<Buffer | string>(
    hmac,
    `AWS4${CREDENTIALS.secretAccessKey}`,
  );
  const isOurs = id === CREDENTIALS.accessKeyId && region === CREDENTIALS.region;
  return (
    isOurs &&
    ["host", "x-amz-date", "x-amz-content-sha256"].every((name) => signed.split(";").includes(name)) &&
    createHmac("sha256", key).update(text).digest("hex") === signature
  );
}
