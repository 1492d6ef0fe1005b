/**
 * What the portal's pages may do: run its own files, and ask nodes and chains over HTTPS, or on this machine. Styles are files
 * of its own, pictures too. `frame-ancestors` only counts as a header: the node adds it.
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
