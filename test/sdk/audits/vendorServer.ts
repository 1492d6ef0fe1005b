import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import type { JudgingModel } from "tallystick-sdk/modelJudge/askModel";

/** The wire formats of the models. */
export const FORMATS = ["openai chat", "openai responses", "anthropic messages", "anthropic tool"] as const;
export type Format = (typeof FORMATS)[number];

/** A request to a vendor: its texts by their roles, its whole body and its headers. */
export type Asked = {
  format: Format;
  rules: string[];
  users: string[];
  raw: string;
  headers: IncomingMessage["headers"];
};

/** The scripted model's reaction: an answer as JSON or as text, or a way to fail. */
export type Said =
  | { answer: unknown }
  | { text: string }
  | { refusal: string }
  | { cut: true; text: string }
  | { fault: (response: ServerResponse) => void };

export type VendorServer = {
  asked: Asked[];
  /** The scripted model. A test replaces it. */
  say: (asked: Asked) => Said | Promise<Said>;
  model: (format: Format) => JudgingModel;
  close: () => Promise<void>;
};

/** A server on a real socket. It answers like OpenAI's chat and responses APIs and like Anthropic's messages API. */
export async function openVendorServer(): Promise<VendorServer> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  const vendor: VendorServer = {
    asked: [],
    say: () => ({ text: "" }),
    model: () => {
      throw new Error("not open");
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await text(request);
    const asked = readAsked(request, raw);
    vendor.asked.push(asked);
    const said = await vendor.say(asked);
    if ("fault" in said) return said.fault(response);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(bodyOf(asked.format, said)));
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const openai = createOpenAI({ baseURL, apiKey: "sk-test" });
  const anthropic = createAnthropic({ baseURL, apiKey: "sk-test" });
  const models = {
    "openai chat": () => openai.chat("gpt-5.4"),
    "openai responses": () => openai.responses("gpt-5.4"),
    "anthropic messages": () => anthropic("claude-sonnet-4-6"),
    // This model has no structured output. The SDK uses a tool call with it.
    "anthropic tool": () => anthropic("claude-3-5-haiku-latest"),
  };
  vendor.model = (format) => models[format]();
  return vendor;
}

function readAsked(request: IncomingMessage, raw: string): Asked {
  const body = JSON.parse(raw);
  const { url = "", headers } = request;
  // biome-ignore lint/suspicious/noExplicitAny: vendors' messages
  const textsOf = (content: any): string[] =>
    typeof content === "string" ? [content] : (content ?? []).map((part: { text: string }) => part.text);
  const messages: { role: string; content: unknown }[] = body.messages ?? body.input;
  const rules = messages.filter(({ role }) => role !== "user").flatMap(({ content }) => textsOf(content));
  const users = messages.filter(({ role }) => role === "user").flatMap(({ content }) => textsOf(content));
  if (url.endsWith("/chat/completions")) return { format: "openai chat", rules, users, raw, headers };
  if (url.endsWith("/responses")) return { format: "openai responses", rules, users, raw, headers };
  const format = body.tools === undefined ? "anthropic messages" : "anthropic tool";
  return { format, rules: [...textsOf(body.system), ...rules], users, raw, headers };
}

const USAGE = { input: 900, output: 100 };

function bodyOf(format: Format, said: Exclude<Said, { fault: unknown }>): object {
  const refusal = "refusal" in said ? said.refusal : undefined;
  const isCut = "cut" in said;
  const words = "answer" in said ? JSON.stringify(said.answer) : "text" in said ? said.text : "";
  if (format === "openai chat") {
    const finish_reason = isCut ? "length" : refusal === undefined ? "stop" : "content_filter";
    const message = {
      role: "assistant",
      content: refusal === undefined ? words : null,
      refusal: refusal ?? null,
    };
    return {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1_767_225_600,
      model: "gpt-5.4",
      choices: [{ index: 0, message, finish_reason }],
      usage: { prompt_tokens: USAGE.input, completion_tokens: USAGE.output, total_tokens: 1_000 },
    };
  }
  if (format === "openai responses") {
    const part =
      refusal === undefined
        ? { type: "output_text", text: words, annotations: [] }
        : { type: "refusal", refusal };
    return {
      id: "resp_1",
      object: "response",
      created_at: 1_767_225_600,
      model: "gpt-5.4",
      status: isCut ? "incomplete" : "completed",
      incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
      error: null,
      output: [{ type: "message", id: "msg_1", status: "completed", role: "assistant", content: [part] }],
      usage: { input_tokens: USAGE.input, output_tokens: USAGE.output, total_tokens: 1_000 },
    };
  }
  const asTool = format === "anthropic tool" && refusal === undefined && "answer" in said;
  const content = asTool
    ? [{ type: "tool_use", id: "toolu_1", name: "json", input: said.answer }]
    : refusal === undefined
      ? [{ type: "text", text: words }]
      : [];
  const ended = asTool ? "tool_use" : "end_turn";
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-4-6",
    content,
    stop_reason: isCut ? "max_tokens" : refusal === undefined ? ended : "refusal",
    stop_sequence: null,
    usage: { input_tokens: USAGE.input, output_tokens: USAGE.output },
  };
}

/** The nonce in the model's rules. It is nowhere else. */
export function nonceIn({ rules }: Asked): string {
  return /In `nonce` write ([0-9a-f]{32})\./.exec(rules.join("\n"))?.[1] ?? "";
}

/** An error with this status, in the vendors' form. */
export function vendorError(status: number, headers: { [name: string]: string } = {}): Said {
  const type = status === 529 ? "overloaded_error" : status === 429 ? "rate_limit_error" : "api_error";
  return {
    fault: (response) => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(
        JSON.stringify({ type: "error", error: { type, message: "Try again.", code: null, param: null } }),
      );
    },
  };
}
