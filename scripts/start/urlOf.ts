import { serverUrl } from "tallystick-runtime/http/serverUrl";

/** The URL by which this machine reaches a server that listens at `host`. */
export function urlOf(host: string, port: number | string): string {
  return serverUrl(["0.0.0.0", "::"].includes(host) ? "127.0.0.1" : host, port);
}
