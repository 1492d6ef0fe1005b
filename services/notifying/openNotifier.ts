import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import type { Log } from "tallystick-runtime/stderrLog";
import { knownLedger } from "tallystick-sdk/knownLedger";
import type { PublicFetchParameters } from "tallystick-sdk/net/publicFetch";
import { fileStore } from "tallystick-sdk/store/fileStore";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import { privateKeyToAccount } from "viem/accounts";
import { createChainClock } from "./chainClock.ts";
import type { NotifierConfig } from "./config.ts";
import { createConfirmations } from "./confirmations.ts";
import { createHttpNode } from "./httpNode.ts";
import { createNotifier, type Notifier } from "./notifier.ts";
import type { NotifierNode } from "./notifierNode.ts";
import { createOutbox } from "./outbox.ts";
import { createPost, type Post } from "./post.ts";

export type OpenNotifierParameters = {
  config: NotifierConfig;
  log: Log;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Tests replace these: the node's API, the folder, the connections to strangers, and the ledger's name. */
  node?: NotifierNode;
  store?: KeyValueStore;
  post?: Post;
  ledger?: LedgerName;
};

/** The policy for private networks: it allows plain http and every address. */
const ANYWHERE: NonNullable<PublicFetchParameters["policy"]> = {
  isPublic: () => true,
  problemOf: () => undefined,
};

/** Opens a notifier on its folder. */
export function openNotifier(parameters: OpenNotifierParameters): Notifier {
  const { config, log, now } = parameters;
  const store = parameters.store ?? fileStore(config.folder);
  const account = privateKeyToAccount(config.privateKey);
  const baseUrl = config.nodeUrl;
  const ledger = knownLedger({ baseUrl, ledger: parameters.ledger, store });
  const seconds = (): number => now() / 1_000;
  const clock = createChainClock(seconds);
  const post = parameters.post ?? createPost(config.devMode ? { policy: ANYWHERE } : {});
  return createNotifier({
    node: parameters.node ?? createHttpNode({ baseUrl, account, ledger, now: seconds }),
    outbox: createOutbox({ store, account, ledger, clock, log }),
    confirmations: createConfirmations({ store, account, ledger, post, now: seconds, log }),
    ...{ post, store, clock, now, log, roundMs: config.roundMs },
  });
}
