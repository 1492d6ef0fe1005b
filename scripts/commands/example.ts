import type { Command } from "commander";
import { TallystickError } from "tallystick-protocol/errors";

/** The examples of the SDK, each a program by itself. */
const EXAMPLES: { [name: string]: () => Promise<unknown> } = {
  seller: () => import("tallystick-sdk/examples/seller"),
  "buy-direct": () => import("tallystick-sdk/examples/buyDirect"),
  "buy-by-escrow": () => import("tallystick-sdk/examples/buyByEscrow"),
  auditor: () => import("tallystick-sdk/examples/auditor"),
};

/** `tallystick example`: runs one of packages/sdk/examples, under a Node that can. */
export function registerExample(program: Command): void {
  const names = Object.keys(EXAMPLES).join(", ");
  program
    .command("example")
    .description(`Run an example of the SDK against a node: ${names}.`)
    .argument("<name>", names)
    .action(async (name: string) => {
      const example = Object.hasOwn(EXAMPLES, name) ? EXAMPLES[name] : undefined;
      if (!example) {
        throw new TallystickError({
          code: "unknown_example",
          message: `There is no example ${name}.`,
          hint: `The examples are ${names}.`,
        });
      }
      await example();
    });
}
