import { nodeUrl } from "./nodeUrl.ts";

/**
 * An event of the node's stream. Its data is not checked yet and may come from a stranger. A `reorg` has no data: it takes back
 * everything after its position.
 */
export type StreamEvent = { type: string; position: string; data: { [name: string]: unknown } };

/**
 * The shortest and the longest wait between two attempts, in milliseconds. Each wait is twice the previous
 * one.
 */
const [MIN_WAIT_MS, MAX_WAIT_MS] = [1_000, 60_000];

/** The most characters of a position, which becomes a part of an address. */
const MAX_POSITION = 200;

/** The most characters of a message. A longer message is ignored. */
const MAX_CHARACTERS = 64_000;

/**
 * Follows the events of the node. After a disconnect it connects again and continues from the last position.
 * While the page is hidden, there is no connection.
 *
 * @returns a function that stops the following
 */
export function followStream(
  topics: string,
  on: { event: (event: StreamEvent) => void; live: (isLive: boolean) => void },
): () => void {
  let socket: WebSocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let wait = MIN_WAIT_MS;
  let position: string | undefined;
  let isOver = false;

  const open = () => {
    if (isOver || socket !== undefined || document.hidden) return;
    const from = position === undefined ? "" : `&from=${encodeURIComponent(position)}`;
    const opened = new WebSocket(`${nodeUrl.replace(/^http/, "ws")}/v1/stream?topics=${topics}${from}`);
    socket = opened;
    opened.onopen = () => on.live(true);
    opened.onmessage = ({ data }) => {
      const message = readMessage(data);
      if (message === undefined) return;
      wait = MIN_WAIT_MS;
      if (message.position !== "" && message.position.length <= MAX_POSITION) position = message.position;
      if (message.type === "reorg" || Object.keys(message.data).length > 0) on.event(message);
    };
    opened.onclose = () => {
      if (socket !== opened) return;
      socket = undefined;
      on.live(false);
      timer = setTimeout(open, wait);
      wait = Math.min(2 * wait, MAX_WAIT_MS);
    };
  };
  const close = () => {
    clearTimeout(timer);
    const open = socket;
    socket = undefined;
    open?.close();
    on.live(false);
  };
  const onVisible = () => (document.hidden ? close() : open());
  document.addEventListener("visibilitychange", onVisible);
  open();
  return () => {
    isOver = true;
    document.removeEventListener("visibilitychange", onVisible);
    close();
  };
}

function readMessage(text: unknown): StreamEvent | undefined {
  if (typeof text !== "string" || text.length > MAX_CHARACTERS) return undefined;
  try {
    const { type, position = "", data = {} } = Object(JSON.parse(text));
    if (typeof type !== "string" || typeof position !== "string" || typeof data !== "object")
      return undefined;
    return { type, position, data: data ?? {} };
  } catch {
    return undefined;
  }
}
