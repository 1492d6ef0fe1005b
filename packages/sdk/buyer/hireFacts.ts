import type { Hex } from "tallystick-protocol/hex";
import type { EscrowOfHire, MoneyState, SellerWords } from "../errors.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import type { HireResult } from "./hireResult.ts";

/** Where the money of a hire ended, and the transaction that put it there. */
export type SettledMoney = { money: HireResult["money"]; tx?: Hex };

/** A `HireFailedError` as JSON. */
export type KeptFailure = {
  hireId: Hex;
  jobId: string;
  seller: string;
  code: string;
  message: string;
  hint?: string;
  money: MoneyState;
  escrow?: EscrowOfHire;
  words?: SellerWords;
};

/**
 * What becomes known of a hire besides its result: the end of its money, the entry of its receipt, its failure. `name` is that
 * of the hire, with the characters of a store's keys.
 */
export type HireFacts = {
  end: (name: string) => Promise<SettledMoney | undefined>;
  /** Stores the end of the money. An end is final, so the first one stays. */
  addEnd: (name: string, end: SettledMoney) => Promise<void>;
  receipt: (name: string) => Promise<string | undefined>;
  /** Stores the entry hash of the receipt. The first one stays. */
  addReceipt: (name: string, receiptHash: string) => Promise<void>;
  failure: (name: string) => Promise<KeptFailure | undefined>;
  putFailure: (name: string, failure: KeptFailure) => Promise<void>;
  forgetFailure: (name: string) => Promise<void>;
  forgetAll: (name: string) => Promise<void>;
  /** The names of the hires with a failure. */
  failed: () => Promise<Set<string>>;
};

/**
 * The facts of hires in a store. Two processes may end one hire at the same moment. Each fact is a value of its own, which is
 * written without a look at the others. So neither process undoes what the other one has stored.
 */
export function hireFacts(store: KeyValueStore): HireFacts {
  const [end, receipt, failure] = ["end", "receipt", "failure"].map(
    (folder) => (name: string) => `${folder}/${name}`,
  ) as [Place, Place, Place];
  return {
    end: (name) => store.get<SettledMoney>(end(name)),
    addEnd: async (name, { money, tx }) => {
      await store.putNew(end(name), { money, ...(tx !== undefined && { tx }) });
    },
    receipt: (name) => store.get<string>(receipt(name)),
    addReceipt: async (name, receiptHash) => {
      await store.putNew(receipt(name), receiptHash);
    },
    failure: (name) => store.get<KeptFailure>(failure(name)),
    putFailure: (name, value) => store.put(failure(name), value),
    forgetFailure: (name) => store.delete(failure(name)),
    forgetAll: async (name) => {
      for (const place of [end, receipt, failure]) await store.delete(place(name));
    },
    failed: async () => new Set((await store.keys("failure")).map((key) => key.slice("failure/".length))),
  };
}

type Place = (name: string) => string;
