import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import { servePortal } from "../../../indexer/api/portal/servePortal.ts";
import { type ApiStory, openApiStory } from "../../indexer/support/apiStory.ts";
import { builtPortal } from "./builtPortal.ts";

export type PortalSite = Awaited<ReturnType<typeof openPortalSite>>;

/** The portal with the API of a story in a real Postgres. It is a node without its chain. */
export async function openPortalSite() {
  const { folder, build } = await builtPortal();
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
      await new Promise<void>((closed) => {
        server.close(() => closed());
        if ("closeAllConnections" in server) server.closeAllConnections();
      });
    },
  };
}
