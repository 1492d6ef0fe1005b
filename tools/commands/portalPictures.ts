import type { Command } from "commander";
import { runDevPortal } from "../dev/runDevPortal.ts";

type Options = { node?: string; out: string; only?: string; docs?: boolean };

/** `npm run pictures:portal`: each page of the portal, at three widths, in both colours. */
export function registerPortalPictures(program: Command): void {
  program
    .command("portal-pictures")
    .description(
      "Take a picture of every page of the portal, in front of a running node, at three widths in both colours.",
    )
    .option("--node <url>", "another node than the demo's")
    .option("--out <folder>", "where the pictures go", ".tallystick/pictures")
    .option("--only <names>", "only these pages, such as agent,ledger")
    .option("--docs", "take the pictures of docs/portal.md instead")
    .action(async ({ node, out, only, docs }: Options) => {
      const { takeDocumented, takePictures } = await import("../portal/takePictures.ts");
      const portal = await runDevPortal(node === undefined ? {} : { node });
      try {
        const of = { portal: portal.url, node: portal.node };
        const files = docs
          ? await takeDocumented({ ...of, folder: "docs/pictures" })
          : await takePictures({ ...of, folder: out, only: only?.split(",") ?? [] });
        process.stdout.write(`${files.join("\n")}\n`);
      } finally {
        await portal.close();
      }
    });
}
