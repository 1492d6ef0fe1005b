import type { Address } from "tallystick-protocol/address";
import { type Hire, refundTypedData, releaseTypedData } from "tallystick-protocol/escrow/hire";
import { type HireJson, readHireJson, toHireJson } from "tallystick-protocol/escrow/hireJson";
import type { Hex } from "tallystick-protocol/hex";
import { hashTypedData } from "viem";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { orderedWrites } from "../store/orderedWrites.ts";
import type { EscrowCalls } from "./escrowCalls.ts";
import { encodeEscrowCall } from "./escrowCalls.ts";
import { isByKey } from "./escrowSignature.ts";
import { type GasAccounts, type Reservation, signaturesOf } from "./gasAccounts.ts";

export type InstructionKind = "release" | "refund";

/**
 * What somebody signed about an escrow, and its progress. If a contract wallet signs the same again, the new signature
 * takes the place of the old one in the same object. So work that began with the old signature has to compare the
 * signatures when it ends.
 */
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
   * When the chain showed its end, in unix milliseconds. It is looked at once more, because a reorganization may
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
  /** Stores the progress of an instruction, unless it is no longer in the book. */
  update: (instruction: Instruction) => Promise<void>;
  /** Resolves when an instruction of the book is on the disk as it is now. Writes nothing if it already is. */
  stored: (instruction: Instruction) => Promise<void>;
  /** Removes an instruction, unless it is no longer in the book. */
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
  const disk = orderedWrites(store, (key) => {
    const it = book.get(key);
    return it && asStored(it);
  });

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

  const isIn = (it: Instruction): boolean => book.get(it.key) === it;

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
    put: async (it) => {
      book.set(it.key, it);
      await disk.save(it.key);
    },
    update: async (it) => {
      if (isIn(it)) await disk.save(it.key);
    },
    stored: ({ key }) => disk.saved(key),
    remove: async (it) => {
      if (!isIn(it)) return;
      book.delete(it.key);
      await disk.save(it.key);
    },
  };
}

function asStored(it: Instruction): Stored {
  return {
    hire: toHireJson(it.hire),
    signature: it.signature,
    signer: it.signer,
    tries: it.tries,
    ...(it.reservation !== undefined && { atRisk: it.reservation.gas }),
    ...(it.owed > 0 && { owed: it.owed }),
    ...(it.settledAt !== undefined && { settledAt: it.settledAt }),
    ...(it.hasPaid && { hasPaid: true }),
  };
}
