import { connect, type Socket } from "node:net";

/** What came back on a raw connection, and whether the other side closed it. */
export type RawAnswer = { text: string; closed: boolean };

export type RawConversation = {
  /** Bytes to send, each part in a packet of its own where the network lets us. */
  parts: (string | Uint8Array)[];
  /** What to do when all is sent: wait for an answer, say that nothing more comes, or tear the connection down. */
  ending?: "wait" | "end" | "reset";
  /** How long to listen, in milliseconds, unless the other side closes before. */
  listenMs?: number;
};

/** Says something to a server, byte by byte as given, and listens. Never rejects: a broken connection is an answer too. */
export function converse(
  port: number,
  { parts, ending = "wait", listenMs = 1_000 }: RawConversation,
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    let text = "";
    const socket: Socket = connect({ port, host: "127.0.0.1", noDelay: true, allowHalfOpen: true });
    const finish = (closed: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ text, closed });
    };
    const timer = setTimeout(() => finish(false), listenMs);
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
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

/** The status lines in what came back, pipelined answers too. */
export function statusesOf({ text }: RawAnswer): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}
