import { open } from "node:fs/promises";
import { MAX_FILE_BYTES } from "tallystick-protocol/erc8004/jsonFile";
import { TallystickError } from "tallystick-protocol/errors";
import { startDeadline } from "tallystick-sdk/deadline";
import { createPublicFetch } from "tallystick-sdk/net/publicFetch";
import { readText } from "tallystick-sdk/readText";
import { readAtMost } from "../readAtMost.ts";

/** The time limit for a stranger's server, up to its last byte, in milliseconds. */
const FETCH_MS = 20_000;

/** The form of a data: URL in ERC-8004. */
const DATA = /^data:application\/json;base64,([A-Za-z0-9+/]*={0,2})$/;

/**
 * Reads a file that a registry or a person names: a path, an https:// or data: URL, or ipfs:// through a named
 * gateway. Strangers may have written the URL, so only public servers are asked, and the size is limited.
 *
 * @throws TallystickError `unreadable_file`
 */
export async function readAnyFile(
  source: string,
  { ipfsGateway, fetch }: { ipfsGateway?: string; fetch?: ReturnType<typeof createPublicFetch> } = {},
): Promise<string> {
  try {
    if (source.startsWith("data:")) return fromData(withoutFragment(source));
    if (source.startsWith("ipfs://")) {
      if (ipfsGateway === undefined) throw new Error("ipfs:// needs a gateway (--ipfs-gateway)");
      const content = withoutFragment(source).slice("ipfs://".length);
      if (!/^[A-Za-z0-9][A-Za-z0-9._/-]{0,512}$/.test(content) || content.split("/").includes(".."))
        throw new Error("it names no content of IPFS");
      return await fetchText(`${ipfsGateway.replace(/\/$/, "")}/ipfs/${content}`, fetch);
    }
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(source)) return await fetchText(withoutFragment(source), fetch);
    return await readPath(source);
  } catch (cause) {
    throw new TallystickError({
      code: "unreadable_file",
      message: `${source.slice(0, 200)} cannot be read: ${reasonOf(cause)}`,
      hint: `Give the path of a file, or its https:// address. The file may have at most ${MAX_FILE_BYTES} bytes.`,
      cause,
    });
  }
}

async function fetchText(
  url: string,
  fetch = createPublicFetch({ maxBytes: MAX_FILE_BYTES, timeoutMs: FETCH_MS }),
): Promise<string> {
  const limit = startDeadline(FETCH_MS);
  try {
    const response = await fetch(url, { headers: { accept: "application/json" }, signal: limit.signal });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`the server answered ${response.status}`);
    }
    return await readText(response, MAX_FILE_BYTES, limit.signal);
  } finally {
    limit.end();
  }
}

function fromData(source: string): string {
  const [, content] = DATA.exec(source) ?? [];
  if (content === undefined) throw new Error("it is no data:application/json;base64 address");
  if (content.length > 2 * MAX_FILE_BYTES) throw new Error(`it has more than ${MAX_FILE_BYTES} bytes`);
  return Buffer.from(content, "base64").toString("utf8");
}

async function readPath(file: string): Promise<string> {
  const handle = await open(file, "r");
  try {
    if (!(await handle.stat()).isFile()) throw new Error("it is no file");
    const bytes = await readAtMost(handle, MAX_FILE_BYTES);
    if (bytes === undefined) throw new Error(`it has more than ${MAX_FILE_BYTES} bytes`);
    return bytes.toString("utf8");
  } finally {
    await handle.close();
  }
}

/** Removes the fragment of a URL. In a feedback file the fragment names the receipt. */
function withoutFragment(source: string): string {
  return source.replace(/#.*$/s, "");
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { message?: string } };
  return (cause?.message ?? message ?? String(error)).slice(0, 300);
}
