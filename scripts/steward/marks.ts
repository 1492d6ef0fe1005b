import { styleText } from "node:util";
import { printable } from "tallystick-sdk/openLog/printable";

const coloured = (colour: "green" | "yellow" | "red", text: string): string =>
  styleText(colour, text, { stream: process.stdout });

/** A line that is well, at risk, or bad: the sign says it where there are no colours. */
export const signed = (text: string): string => `${coloured("green", "✅")} ${text}`;
export const warned = (text: string): string => `${coloured("yellow", "⚠️ ")} ${text}`;
export const failed = (text: string): string => `${coloured("red", "❌")} ${text}`;

/** A word of an agent's own: in a terminal it can do nothing but be read. */
export const quoted = (value: unknown): string => printable(String(value), 200);
