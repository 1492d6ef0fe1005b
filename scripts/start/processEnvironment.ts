import { indexerVariables } from "../../indexer/config.ts";
import { settlementVariables } from "../../services/settlement/config.ts";
import { childEnvironment } from "../processes/childEnvironment.ts";
import { ponderSettings } from "../processes/ponderProgram.ts";

/** Settings by their names. */
export type Environment = { [name: string]: string };

/** How this machine reaches others. */
const NETWORK = /^((HTTPS?|NO|ALL)_PROXY|SSL_CERT_(FILE|DIR))$/i;
/** What Ponder and the Postgres client read by themselves. */
const INDEXER = /^(PONDER|PG)[A-Z_]*$/;

/** What settlement is given of a node's settings: what it reads, and no key of another. */
export function settlementEnvironment(set: Environment): Environment {
  return childEnvironment(pick(set, (name) => settlementVariables.includes(name) || NETWORK.test(name)));
}

/** What the indexer, and each replica of it, is given of a node's settings. There is no key among it. */
export function indexerEnvironment(set: Environment): Environment {
  const own = (name: string) => indexerVariables.includes(name) || INDEXER.test(name) || NETWORK.test(name);
  return childEnvironment({ ...ponderSettings, DATABASE_SCHEMA: "tallystick", ...pick(set, own) });
}

/** The settings of these names. */
export function pick(set: Environment, wanted: (name: string) => boolean): Environment {
  return Object.fromEntries(Object.entries(set).filter(([name]) => wanted(name)));
}
