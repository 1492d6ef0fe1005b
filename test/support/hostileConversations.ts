import fc from "fast-check";
import type { RawConversation } from "./rawConnection.ts";

const METHODS = [
  "GET",
  "POST",
  "HEAD",
  "PUT",
  "DELETE",
  "OPTIONS",
  "PATCH",
  "TRACE",
  "CONNECT",
  "PROPFIND",
  "get",
  "G\tET",
];
const TARGETS = [
  "/",
  "//",
  "///",
  "//v1/stream",
  "/v1/stream",
  "/v1/stream?from=0",
  "/v1/stream?topics=%",
  "/v1/stream?agent=0x",
  "/v1/stream#x",
  "/v1/stream/",
  "http://",
  "http://[",
  "http://[::1",
  "http://a/v1/stream",
  "https://u:p@h:99999/",
  "*",
  "a",
  "a:b",
  "/%",
  "/%00",
  "/%ff%fe",
  "/..%2f..%2fetc/passwd",
  "/docs/../../package.json",
  "/\\",
  "/?%",
  "/graphql?query=%7B",
  "/graphql?query={meta{block}}&variables=x",
  "/v1/agents/%2e%2e/reputation",
  "/v1/ledger/entries?from=-1&to=1e9",
  "/v1/ledger/proof?index=9999999999999999",
  "/v1/status/%F0%9F",
  "/metrics",
  "/health",
  "/ready",
  "/status",
  `/${"a".repeat(9_000)}`,
  `/${"a".repeat(40_000)}`,
];
const HEADERS = [
  "Host: a",
  "Host:",
  "Host: [",
  "Host: a b",
  "Host: a, b",
  "Host: ../..",
  "Host: a\r\nHost: b",
  "Connection: Upgrade",
  "Connection: upgrade, keep-alive",
  "Connection: close",
  "Upgrade: websocket",
  "Upgrade: h2c",
  "Upgrade:",
  "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Version: 99",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  "Sec-WebSocket-Key: x",
  "Sec-WebSocket-Protocol: a, a",
  "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=99",
  "Content-Length: 5",
  "Content-Length: -1",
  "Content-Length: 99999999999999999999",
  "Content-Length: 5\r\nContent-Length: 6",
  "Transfer-Encoding: chunked",
  "Transfer-Encoding: chunked, chunked",
  "Transfer-Encoding: gzip",
  "Transfer-Encoding : chunked",
  "Expect: 100-continue",
  "Expect: 200-ok",
  "X-Forwarded-For: ,,,",
  "X-Forwarded-For: 1.2.3.4, ::ffff:1.2.3.4, fe80::1%eth0, unknown",
  "X-Forwarded-Proto: javascript",
  "Forwarded: for=;proto=;host=",
  "Accept-Encoding: gzip;q=x, *;q=",
  'If-None-Match: W/"',
  "Authorization: Bearer",
  `Authorization: Bearer ${"a".repeat(5_000)}`,
  "Content-Type: application/json",
  "Content-Type: ;charset=",
  "Content-Encoding: gzip",
  "Accept: text/event-stream",
  "Cookie: a=b; __proto__=c",
  "__proto__: x",
  ": x",
  "no colon",
  "X: \0",
  "X: a\r b",
  `X: ${"a".repeat(20_000)}`,
];
const BODIES = [
  "",
  "5\r\nhello\r\n0\r\n\r\n",
  "ffffffffffffffff\r\n",
  "-5\r\n",
  "0\r\nX: y\r\n\r\n",
  "hello",
  "{",
  "[]",
  "null",
  '{"query":"{meta{block}}","variables":[1]}',
  '{"header":{}}',
  "\x81\x85\x00\x00\x00\x00hello",
  "\x88\x80\x00\x00\x00\x00",
  "\xff\xff\xff\xff",
];

/** Generates hostile input for a server: requests with wrong parts, upgrades, pipelined requests, incomplete requests. */
export const hostileConversation: fc.Arbitrary<RawConversation> = fc
  .record({
    requests: fc.array(
      fc.record({
        method: fc.oneof({ weight: 6, arbitrary: fc.constant("GET") }, fc.constantFrom(...METHODS)),
        target: fc.oneof(
          { weight: 6, arbitrary: fc.constantFrom(...TARGETS) },
          { weight: 1, arbitrary: fc.string({ unit: "binary-ascii", maxLength: 40 }) },
        ),
        version: fc.oneof(
          { weight: 9, arbitrary: fc.constant("HTTP/1.1") },
          fc.constantFrom("HTTP/1.0", "HTTP/2.0", "HTTP/9", "http/1.1", ""),
        ),
        hasHost: fc.oneof({ weight: 5, arbitrary: fc.constant(true) }, fc.constant(false)),
        isUpgrade: fc.boolean(),
        headers: fc.array(fc.constantFrom(...HEADERS), { maxLength: 5 }),
        body: fc.constantFrom(...BODIES),
      }),
      { minLength: 1, maxLength: 4 },
    ),
    cutAt: fc.option(fc.nat({ max: 400 }), { freq: 4 }),
    pieces: fc.integer({ min: 1, max: 3 }),
    ending: fc.constantFrom("wait", "end", "reset"),
  })
  .map(({ requests, cutAt, pieces, ending }) => {
    const text = requests
      .map(({ method, target, version, hasHost, isUpgrade, headers, body }) => {
        const lines = [`${method} ${target} ${version}`];
        if (hasHost) lines.push("Host: 127.0.0.1");
        if (isUpgrade) lines.push("Connection: Upgrade", "Upgrade: websocket");
        return `${[...lines, ...headers].join("\r\n")}\r\n\r\n${body}`;
      })
      .join("");
    const bytes = Buffer.from(text, "latin1").subarray(0, cutAt ?? text.length);
    const size = Math.max(1, Math.ceil(bytes.length / pieces));
    const parts: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size) parts.push(bytes.subarray(at, at + size));
    return { parts, ending, listenMs: 150 } as RawConversation;
  });
