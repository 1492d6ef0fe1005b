/** A node of solc's syntax tree, as far as it is read here. `src` is `start:length:file`, in bytes. */
export type AstNode = { nodeType: string; src?: string; nativeSrc?: string } & Record<string, unknown>;
