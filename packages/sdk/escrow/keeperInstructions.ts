import type { Address } from "tallystick-protocol/address";
import { type Hire, refundTypedData, releaseTypedData } from "tallystick-protocol/escrow/hire";
import { type HireJson, readHireJson, toHireJson } from "tallystick-protocol/escrow/hireJson";
import type { Hex } from "tallystick-protocol/hex";
import { hashTypedData } from "viem";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import type { EscrowCalls } from "./escrowCalls.ts";
import { encodeEscrowCall } from "./escrowCalls.ts";
import { isByKey } from "./escrowSignature.ts";
import { type GasAccounts, type Reservation, signaturesOf } from "./gasAccounts.ts";

export type InstructionKind = "release" | "refund";

/** What somebody signed about an escrow, and its progress. */
export type Instruction = {
  key: string;
  kind: InstructionKind;
  hire: Hire;
  id: Hex;
  signer: Address;
  signature: Hex;
  /** Whether the signer's key signed it. Then no contract wallet is asked. */
  byKey: boolean;
  /** The call that carries it out. */
  call: Hex;
  /** The gas that it used when it was tried off the chain. */
  gasUsed: number;
  /** How often it failed on the chain. */
  tries: number;
  /** How often it was not yet valid when it was looked at. */
  looks: number;
  /** Nobody looks at it before this time, in unix milliseconds. */
  notBefore: number;
  /** Gas set aside for the next attempt, or for the running one. */
  reservation: Reservation | undefined;
  /** Gas of attempts whose result nobody knows. Its wallet pays for them only when its signature fails. */
  owed: number;
  /**
   * When the chain showed its end, in unix milliseconds. It is looked at once more, because a reorganisation may
   * undo it.
   */
  settledAt: number | undefined;
  /** Whether the hire's fee was added to its gas accounts. It is added only once. */
  hasPaid: boolean;
};

/** How long a settled instruction is kept until the chain is asked again, in milliseconds. */
export const SURE_MS = 120_000;

/** As it is on disk. `atRisk` is the gas of a running attempt. */
type Stored = {
  hire: HireJson;
  signature: Hex;
  signer?: Address;
  tries?: number;
  atRisk?: number;
  owed?: number;
  settledAt?: number;
  hasPaid?: boolean;
};

export type InstructionBook = {
  all: () => Instruction[];
  find: (key: string) => Instruction | undefined;
  /** Makes an instruction, and does not put it into the book. */
  read: (kind: InstructionKind, hire: Hire, signer: Address, signature: Hex) => Instruction;
  /** The instruction is on the disk when the promise resolves. */
  put: (instruction: Instruction) => Promise<void>;
  remove: (instruction: Instruction) => Promise<void>;
};

/** Opens the instructions on disk, also those of a keeper that was killed. */
export async function openInstructionBook(parameters: {
  calls: Pick<EscrowCalls, "deployment" | "idOf">;
  store: KeyValueStore;
  accounts: GasAccounts;
  log: (sentence: string, details?: { [key: string]: unknown }) => void;
}): Promise<InstructionBook> {
  const { calls, store, accounts, log } = parameters;
  const { deployment } = calls;
  const book = new Map<string, Instruction>();

  function read(kind: InstructionKind, hire: Hire, signer: Address, signature: Hex): Instruction {
    const id = calls.idOf(hire);
    const digest =
      kind === "release"
        ? hashTypedData(releaseTypedData(id, deployment))
        : hashTypedData(refundTypedData(id, signer, deployment));
    return {
      // Each party's refund has its own key, so a party whose wallet changes its answer cannot block another
      // party's refund.
      key: kind === "release" ? `release/${id}` : `refund/${id}.${signer}`,
      kind,
      hire,
      id,
      signer,
      signature,
      byKey: isByKey({ signer, digest, signature }),
      call:
        kind === "release"
          ? encodeEscrowCall("release", [hire, signature])
          : encodeEscrowCall("refund", [hire, signer, signature]),
      gasUsed: 0,
      tries: 0,
      looks: 0,
      notBefore: 0,
      reservation: undefined,
      owed: 0,
      settledAt: undefined,
      hasPaid: false,
    };
  }

  async function put(it: Instruction): Promise<void> {
    book.set(it.key, it);
    const stored: Stored = {
      hire: toHireJson(it.hire),
      signature: it.signature,
      signer: it.signer,
      tries: it.tries,
      ...(it.reservation !== undefined && { atRisk: it.reservation.gas }),
      ...(it.owed > 0 && { owed: it.owed }),
      ...(it.settledAt !== undefined && { settledAt: it.settledAt }),
      ...(it.hasPaid && { hasPaid: true }),
    };
    await store.put(it.key, stored);
  }

  for (const kind of ["release", "refund"] as const) {
    for (const key of await store.keys(kind)) {
      try {
        const stored = await store.get<Stored>(key);
        if (!stored) continue;
        const hire = readHireJson(stored.hire);
        const it = { ...read(kind, hire, stored.signer ?? hire.buyer, stored.signature), key };
        it.tries = stored.tries ?? 0;
        it.settledAt = stored.settledAt;
        it.hasPaid = stored.hasPaid ?? false;
        it.notBefore = stored.settledAt === undefined ? 0 : stored.settledAt + SURE_MS;
        it.owed = (stored.owed ?? 0) + (stored.atRisk ?? 0);
        if (stored.atRisk !== undefined) {
          it.reservation = accounts.reserve(signaturesOf(it.signer), stored.atRisk, Number.POSITIVE_INFINITY);
        }
        book.set(key, it);
      } catch (error) {
        // One file that cannot be read must not stop the others.
        log("An instruction cannot be read and is left where it is.", { key, error: String(error) });
      }
    }
  }

  return {
    all: () => [...book.values()],
    find: (key) => book.get(key),
    read,
    put,
    remove: async ({ key }) => {
      book.delete(key);
      await store.delete(key);
    },
  };
}
