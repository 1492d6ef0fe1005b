import { dumpsPythonJson, type PyJson } from "tallystick-protocol/json/pythonJson";

/** A JSON answer whose ints and floats stay as they are in the ledger. */
export function pyJsonResponse(value: PyJson, headers: { [name: string]: string } = {}): Response {
  return new Response(dumpsPythonJson(value), {
    headers: { "content-type": "application/json", ...headers },
  });
}
