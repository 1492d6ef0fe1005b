import { styleText } from "node:util";
import { printable } from "tallystick-sdk/openLog/printable";

const coloured = (colour: "green" | "yellow" | "red", text: string): string =>
  styleText(colour, text, { stream: process.stdout });

/** Mark a line as good, at risk or bad. The sign shows it even without colours. */
export const signed = (text: string): string => `${coloured("green", "✅")} ${text}`;
export const warned = (text: string): string => `${coloured("yellow", "⚠️ ")} ${text}`;
export const failed = (text: string): string => `${coloured("red", "❌")} ${text}`;

/** Text from an agent, made safe to print: it cannot control the terminal. */
export const quoted = (value: unknown): string => printable(String(value), 200);
