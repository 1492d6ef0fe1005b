/**
 * The content policy of the portal's pages. They may run only the portal's own files, also for styles and
 * pictures. They may send requests to nodes and chains over HTTPS or on this machine. `frame-ancestors` works
 * only as a header, which the node adds.
 */
export const POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self'",
  "worker-src 'self'",
  "connect-src 'self' https: wss: http://localhost:* http://127.0.0.1:* ws://localhost:* ws://127.0.0.1:*",
  "form-action 'none'",
  "base-uri 'none'",
].join("; ");
