import { indexerVariables } from "../../indexer/config.ts";
import { settlementVariables } from "../../services/settlement/config.ts";
import { childEnvironment } from "../processes/childEnvironment.ts";
import { ponderSettings } from "../processes/ponderProgram.ts";

/** Settings by their names. */
export type Environment = { [name: string]: string };

/** Variables for proxies and certificates of this machine. */
const NETWORK = /^((HTTPS?|NO|ALL)_PROXY|SSL_CERT_(FILE|DIR))$/i;
/** Variables that Ponder and the Postgres client read directly. */
const INDEXER = /^(PONDER|PG)[A-Z_]*$/;

/**
 * The part of a node's settings for settlement: the settings that it reads, and no key of another process.
 */
export function settlementEnvironment(set: Environment): Environment {
  return childEnvironment(pick(set, (name) => settlementVariables.includes(name) || NETWORK.test(name)));
}

/** The part of a node's settings for the indexer and for each replica. It contains no wallet's key. */
export function indexerEnvironment(set: Environment): Environment {
  const own = (name: string) => indexerVariables.includes(name) || INDEXER.test(name) || NETWORK.test(name);
  return childEnvironment({ ...ponderSettings, DATABASE_SCHEMA: "tallystick", ...pick(set, own) });
}

/** The settings of these names. */
export function pick(set: Environment, wanted: (name: string) => boolean): Environment {
  return Object.fromEntries(Object.entries(set).filter(([name]) => wanted(name)));
}
