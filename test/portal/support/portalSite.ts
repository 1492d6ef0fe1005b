import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { servePortal } from "../../../indexer/api/portal/servePortal.ts";
import { buildPortal } from "../../../portal/build.mjs";
import { type ApiStory, openApiStory } from "../../indexer/support/apiStory.ts";

export type PortalSite = Awaited<ReturnType<typeof openPortalSite>>;

/** A fresh build of the portal, in front of the API of a story in a real Postgres. This is a node without its chain. */
export async function openPortalSite() {
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-portal-"));
  const build = await buildPortal(folder);
  const story: ApiStory = await openApiStory();
  const app = new Hono();
  app.route("/", servePortal(folder));
  app.route("/", story.app);
  const server = createAdaptorServer({ fetch: app.fetch });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    build,
    folder,
    story,
    close: async () => {
      rmSync(folder, { recursive: true, force: true });
      await new Promise<void>((closed) => {
        server.close(() => closed());
        if ("closeAllConnections" in server) server.closeAllConnections();
      });
    },
  };
}
