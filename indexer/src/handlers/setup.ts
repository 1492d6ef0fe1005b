import { type Context, ponder } from "ponder:registry";
import { config, operations } from "../../environment.ts";
import { expectStartBeforeContracts } from "../../expectStartBeforeContracts.ts";
import { expectTokenOfEscrows } from "../../expectTokenOfEscrows.ts";
import { hubsWarning } from "../../hubsWarning.ts";
import { token } from "../../ponder.schema.ts";
import { logInfo, logWarning, ponderSchema, shutdownSignal } from "../../ponderProcess.ts";
import { repeatLastBlock } from "../../repeatLastBlock.ts";
import { tryAgain } from "../../tryAgain.ts";
import { logParams } from "../eventLog.ts";

/** Only a few attempts, because Ponder gives a file ten seconds. */
const PAUSES = [250, 1_000];

const repeated = await tryAgain(
  "look at the last block of an earlier process",
  shutdownSignal(),
  () => repeatLastBlock({ ...config, databaseSchema: ponderSchema() ?? config.databaseSchema }),
  PAUSES,
);
if (repeated !== null) logInfo({ msg: "Reading the block of the checkpoint again", block: repeated });

const warning = hubsWarning(config);
if (warning !== null) logWarning({ msg: warning });

/** The log begins with this node's configuration: its parameters, its token, and the first block that it reads. */
ponder.on("AnchoredLedger:setup", async ({ context }: { context: Pick<Context, "db" | "client"> }) => {
  if (ponderSchema() !== undefined) await operations.holdSchema(shutdownSignal());
  const unknown = await expectStartBeforeContracts(config);
  if (unknown.length > 0) {
    const contracts = unknown.join(", ");
    logWarning({
      msg: "The chain's node cannot tell whether these contracts were there before START_BLOCK",
      contracts,
    });
  }
  const missing = await expectTokenOfEscrows(config, { signal: shutdownSignal() });
  if (missing.length > 0)
    logWarning({ msg: "These escrows are not deployed yet", contracts: missing.join(", ") });
  const { startBlock, transfers, params, registries } = config;
  const { timestamp } = await context.client.getBlock({ blockNumber: BigInt(startBlock) });
  const firstBlock = transfers.form === "all" ? startBlock : transfers.firstBlock;
  await context.db.insert(token).values({ id: config.token, firstBlock });
  await logParams(context.db, {
    block: startBlock,
    time: Number(timestamp),
    log: 0,
    kind: "params",
    form: transfers.form,
    params,
    chainId: config.chainId,
    token: { address: config.token, firstBlock },
    ...(registries !== null && { registries }),
  });
});
