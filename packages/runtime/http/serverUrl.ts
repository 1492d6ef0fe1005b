/** The URL of a server, made from the host and port at which it listens. An IPv6 address stands in brackets. */
export function serverUrl(host: string, port: number | string): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
