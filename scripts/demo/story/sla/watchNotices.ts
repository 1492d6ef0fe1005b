import { waitUntil } from "../../../processes/waitUntil.ts";
import type { Scene } from "../scene.ts";

/** The live notices about SLAs. */
export type Notices = {
  /** Waits for the notice of a step. */
  until: (step: string) => Promise<void>;
  close: () => void;
};

/** Follows the node's stream of SLA events, as a buyer does. */
export async function watchNotices({ node, signal }: Scene): Promise<Notices> {
  const url = `${node.url.replace(/^http/, "ws")}/v1/stream?topics=sla`;
  const steps = new Set<string>();
  // A node that has just begun to listen may not take streams yet.
  const open = async () => await openSocket(url);
  const socket = await waitUntil(open, { what: "the node's stream", withinMs: 240_000, signal });
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(String(data)) as { type: string; data?: { step?: string } };
    if (message.type === "sla_step" && message.data?.step !== undefined) steps.add(message.data.step);
  });
  return {
    until: async (step) => {
      const look = async () => {
        if (steps.has(step)) return true;
        throw new Error(`it told of ${[...steps].join(", ") || "nothing"}`);
      };
      await waitUntil(look, { what: `the notice that it is ${step}`, withinMs: 240_000, signal });
    },
    close: () => socket.close(),
  };
}

async function openSocket(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve(), { once: true });
    socket.addEventListener("close", ({ code }) => reject(new Error(`it was closed with ${code}`)), {
      once: true,
    });
    socket.addEventListener("error", () => reject(new Error("it could not be opened")), { once: true });
  });
  return socket;
}
