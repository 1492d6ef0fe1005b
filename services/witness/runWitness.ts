import path from "node:path";
import { getRequestListener } from "@hono/node-server";
import { fromHex } from "tallystick-protocol/hex";
import { limitsPerAddress } from "tallystick-runtime/http/limitsPerAddress";
import { listen } from "tallystick-runtime/http/listen";
import { closeOnError, type OnOpened } from "tallystick-runtime/processes/closeOnError";
import { createWitnessApp } from "./app.ts";
import type { WitnessConfig } from "./config.ts";
import { Witness } from "./witness.ts";
import { witnessSeed } from "./witnessKey.ts";
import { WitnessStore } from "./witnessStore.ts";

export type RunningWitness = {
  url: string;
  verifierKey: string;
  origins: string[];
  close: () => Promise<void>;
};

export type RunWitnessParameters = {
  config: WitnessConfig;
  /** Unix seconds. */
  now: () => number;
  /** Called with internal errors of requests. */
  onFault: (error: unknown) => void;
};

/** Runs a witness until it is closed. Resolves when it listens. */
export async function runWitness(parameters: RunWitnessParameters): Promise<RunningWitness> {
  return await closeOnError((opened) => startWitness(parameters, opened));
}

async function startWitness(
  { config, now, onFault }: RunWitnessParameters,
  opened: OnOpened,
): Promise<RunningWitness> {
  const { name, logs } = config;
  const folder = path.resolve(config.folder);
  const store = new WitnessStore(folder);
  opened(() => store.close());
  const seed = config.privateKey
    ? fromHex(config.privateKey, 32)
    : witnessSeed(folder, { isNew: store.isEmpty });
  const witness = new Witness({ name, seed, logs, store, now });
  const app = createWitnessApp(witness, onFault);
  const settings = "WITNESS_HOST and WITNESS_PORT";
  const server = await listen(getRequestListener(app.fetch), {
    ...config,
    settings,
    limits: limitsPerAddress(config),
    onFault,
  });
  return {
    url: server.url,
    verifierKey: witness.verifierKey,
    origins: witness.origins,
    close: async () => {
      await server.close();
      store.close();
    },
  };
}
