import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** The answer of a demo model to a task. */
type Says = (goal: string) => { answer: unknown; confidence: number } | undefined;

/** Models with the faults of real ones: the small one cannot add, and the sly one invents sums. */
const MODELS: { [id: string]: Says } = {
  small: (goal) => (/currency/.test(goal) ? { answer: "USDC", confidence: 0.97 } : undefined),
  middle: () => ({ answer: { mean: 0.05 }, confidence: 0.95 }),
  sly: () => ({ answer: { mean: 0.5 }, confidence: 0.99 }),
  watch: () => ({ answer: { mean: 0.05 }, confidence: 0.95 }),
};

/** A server of the demo that speaks OpenAI's chat API. Its answers are fixed; everything around it is real. */
export async function openModelServer(): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const { model, messages } = JSON.parse(await text(request)) as {
        model: string;
        messages: { content: unknown }[];
      };
      const said = MODELS[model]?.(JSON.stringify(messages.at(-1)?.content));
      const content = said ? JSON.stringify(said) : "I would rather tell you a story.";
      const usage = { prompt_tokens: 400, completion_tokens: 20, total_tokens: 420 };
      const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
      response.writeHead(200, { "content-type": "application/json" });
      response.end(
        JSON.stringify({ id: "demo", object: "chat.completion", created: 0, model, choices, usage }),
      );
    };
    answer().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
