import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A request that the server got. */
export type Asked = {
  /** The model's id. */
  model: string;
  rules: string;
  user: string;
  raw: string;
  isStream: boolean;
  headers: IncomingMessage["headers"];
};

/** What the model answers. */
export type Said =
  | { answer: unknown; confidence?: number; usage?: object | null }
  | { text: string; ended?: string; usage?: object | null }
  | { tool: string }
  | { cut: string }
  | { status: number; headers?: { [name: string]: string } }
  | { fault: (response: ServerResponse) => void };

export type ModelServer = {
  url: string;
  asked: Asked[];
  say: (asked: Asked) => Said | Promise<Said>;
  close: () => Promise<void>;
};

export const USAGE = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };

/**
 * A server of models on a real socket. It has OpenAI's chat completions, streamed or whole, and Anthropic's streamed
 * messages.
 */
export async function openModelServer(): Promise<ModelServer> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const models: ModelServer = {
    url: "",
    asked: [],
    say: () => ({ text: "" }),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await text(request);
    const body = JSON.parse(raw);
    const isAnthropic = request.url?.endsWith("/messages") ?? false;
    const asked: Asked = {
      model: body.model,
      rules: rulesOf(body),
      user: textOf(body.messages.findLast((it: { role: string }) => it.role === "user").content),
      raw,
      isStream: body.stream === true,
      headers: request.headers,
    };
    models.asked.push(asked);
    const said = await models.say(asked);
    if ("fault" in said) return said.fault(response);
    if ("status" in said) {
      response.writeHead(said.status, { "content-type": "application/json", ...said.headers });
      response.end(JSON.stringify({ error: { message: "no", type: "error", code: "no" } }));
      return;
    }
    if (isAnthropic) return anthropic(said, asked, response);
    if (!asked.isStream) return whole(said, asked, response);
    stream(said, asked, response);
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  models.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return models;
}

// biome-ignore lint/suspicious/noExplicitAny: vendors' messages
function textOf(content: any): string {
  return typeof content === "string" ? content : content.map((it: { text: string }) => it.text).join("");
}

// biome-ignore lint/suspicious/noExplicitAny: vendors' messages
function rulesOf(body: any): string {
  if (body.system !== undefined) return textOf(body.system);
  return textOf(body.messages[0].content);
}

type Words = Exclude<Said, { status: number } | { fault: unknown }>;

const wordsOf = (said: Words): string =>
  "answer" in said
    ? JSON.stringify({ answer: said.answer, confidence: said.confidence ?? 0.95 })
    : "text" in said
      ? said.text
      : "cut" in said
        ? said.cut
        : "";
const endOf = (said: Words): string =>
  "tool" in said ? "tool_calls" : "text" in said ? (said.ended ?? "stop") : "stop";
const usageOf = (said: Words): object | null =>
  "usage" in said && said.usage !== undefined ? said.usage : USAGE;

function whole(said: Words, asked: Asked, response: ServerResponse): void {
  const message = { role: "assistant", content: wordsOf(said) };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(
    JSON.stringify({
      id: "c-1",
      object: "chat.completion",
      created: 1_767_225_600,
      model: `${asked.model}-2026`,
      choices: [{ index: 0, message, finish_reason: endOf(said) }],
      usage: usageOf(said),
    }),
  );
}

function stream(said: Words, asked: Asked, response: ServerResponse): void {
  const send = (choice: object | undefined, usage?: object | null): void => {
    const chunk = {
      id: "c-1",
      object: "chat.completion.chunk",
      created: 1_767_225_600,
      model: `${asked.model}-2026`,
      choices: choice ? [{ index: 0, ...choice }] : [],
      ...(usage !== undefined && { usage }),
    };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  response.writeHead(200, { "content-type": "text/event-stream" });
  const words = wordsOf(said);
  for (let at = 0; at < words.length; at += 7) send({ delta: { content: words.slice(at, at + 7) } });
  if ("cut" in said) {
    // A pause, so that the written bytes are sent before the connection ends.
    setTimeout(() => response.destroy(), 20);
    return;
  }
  if ("tool" in said) {
    const call = { index: 0, id: "t-1", type: "function", function: { name: said.tool, arguments: "{}" } };
    send({ delta: { tool_calls: [call] } });
  }
  send({ delta: {}, finish_reason: endOf(said) });
  if (usageOf(said)) send(undefined, usageOf(said));
  response.end("data: [DONE]\n\n");
}

function anthropic(said: Words, asked: Asked, response: ServerResponse): void {
  const send = (type: string, more: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
  };
  response.writeHead(200, { "content-type": "text/event-stream" });
  const usage = {
    input_tokens: 100,
    output_tokens: 20,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  };
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: `${asked.model}-2026`,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  send("message_start", { message });
  send("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
  const words = wordsOf(said);
  for (let at = 0; at < words.length; at += 7)
    send("content_block_delta", { index: 0, delta: { type: "text_delta", text: words.slice(at, at + 7) } });
  send("content_block_stop", { index: 0 });
  const stop_reason = "text" in said && said.ended !== undefined ? said.ended : "end_turn";
  send("message_delta", { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } });
  send("message_stop", {});
  response.end();
}
