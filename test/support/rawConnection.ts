import { connect, type Socket } from "node:net";

/** The bytes that a raw connection received, and whether the server closed the connection. */
export type RawAnswer = { text: string; closed: boolean };

export type RawConversation = {
  /** The parts to send, each in its own packet if possible. */
  parts: (string | Uint8Array)[];
  /** The action after everything is sent: wait for an answer, half-close, or reset the connection. */
  ending?: "wait" | "end" | "reset";
  /** The longest time to listen, in milliseconds. */
  listenMs?: number;
  /**
   * If the received text has this, listening ends a second later. So a slow server has much time, and a quick one costs
   * little.
   */
  enough?: RegExp;
};

/** Sends exactly these bytes to a server, and listens. It never rejects, because a broken connection is an answer too. */
export function converse(
  port: number,
  { parts, ending = "wait", listenMs = 1_000, enough }: RawConversation,
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    let text = "";
    const socket: Socket = connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
    const finish = (closed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, closed });
    };
    let timer = setTimeout(() => finish(false), listenMs);
    let hasEnough = false;
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      if (hasEnough || !enough?.test(text)) return;
      hasEnough = true;
      clearTimeout(timer);
      timer = setTimeout(() => finish(false), Math.min(listenMs, 1_000));
    });
    socket.on("error", () => finish(true));
    socket.on("end", () => finish(true));
    socket.on("connect", async () => {
      for (const part of parts) {
        if (!socket.writable) return;
        await new Promise((sent) => socket.write(part, sent));
      }
      if (ending === "end") socket.end();
      if (ending === "reset") {
        socket.resetAndDestroy();
        finish(true);
      }
    });
  });
}

/** The status of every answer in the received bytes. */
export function statusesOf({ text }: RawAnswer): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}
