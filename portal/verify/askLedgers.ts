import { askGraphql } from "../node/askGraphql.ts";
import { NodeError } from "../node/nodeError.ts";
import { request } from "../node/request.ts";
import type { ToldLedger, Tree } from "./verifyHead.ts";

export const HEADS = `query Heads {
  meta {
    chainId indexedBlock contracts { anchoredLedger }
    ledgers { id origin size root firstWriter guardian }
    blockedAtSegment { ledger }
  }
}`;

/** The answer to {@link HEADS}. */
export type HeadsAnswer = {
  meta: {
    chainId: number;
    indexedBlock: number;
    contracts: { anchoredLedger: string | null };
    ledgers: {
      id: string;
      origin: string | null;
      size: number;
      root: string;
      firstWriter: string | null;
      guardian: string | null;
    }[];
    blockedAtSegment: { ledger: string } | null;
  };
};

/** The most ledgers that are read. A real node follows only a few. */
const MAX_LEDGERS = 8;

/**
 * Reads the ledgers that the node follows, or only one of them, with their present heads. Gives an empty list if the
 * node does not follow that ledger, or names no contract of ledgers.
 */
export async function askLedgers(
  only: string | undefined,
  signal: AbortSignal,
): Promise<(ToldLedger & { tree: Tree })[]> {
  const { data } = await askGraphql<HeadsAnswer>({ query: HEADS, variables: {} }, signal);
  const { chainId, indexedBlock, contracts, ledgers, blockedAtSegment } = data.meta;
  const { anchoredLedger: contract } = contracts;
  const found = ledgers.filter(({ id }) => only === undefined || id === only).slice(0, MAX_LEDGERS);
  if (contract === null) return [];
  return found.map(({ id, origin, size, root, firstWriter, guardian }) => ({
    place: { chainId, contract, ledger: id },
    named:
      firstWriter === null || guardian === null || origin === null ? null : { firstWriter, guardian, origin },
    indexedBlock,
    isBlocked: blockedAtSegment?.ledger === id,
    tree: { size, root },
  }));
}

/**
 * A consistency proof between two sizes of a ledger (RFC 9162 §2.1.4), from the settlement behind the node;
 * null if settlement has another ledger, does not answer, or gives no proof.
 */
export async function askConsistency(
  ledger: string,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<Uint8Array[] | null> {
  try {
    const [latest, answer] = await Promise.all([
      request("/v1/ledger/latest", { signal }),
      request(`/v1/ledger/consistency?from=${from}&to=${to}`, { signal }),
    ]);
    if ((latest.json as { ledger?: unknown }).ledger !== ledger) return null;
    const { proof } = answer.json as { proof?: unknown };
    if (!Array.isArray(proof) || proof.length > 64) return null;
    return proof.map(bytesOf);
  } catch (error) {
    if (error instanceof NodeError) return null;
    throw error;
  }
}

/** The bytes of a hash; an empty result if the text is not a hash. */
function bytesOf(hex: unknown): Uint8Array {
  const digits = typeof hex === "string" ? hex.replace(/^0x/, "") : "";
  if (!/^[0-9a-f]{64}$/.test(digits)) return new Uint8Array(0);
  return Uint8Array.from(digits.match(/../g) ?? [], (it) => Number.parseInt(it, 16));
}
