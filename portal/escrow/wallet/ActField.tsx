import type { Hire } from "tallystick-protocol/escrow/hire";
import { isHex, ZERO_HASH } from "tallystick-protocol/hex";
import type { ActName } from "../acts.ts";
import { atomicOf, decimalOf } from "../usdc.ts";
import type { Wish } from "./prepareAct.ts";

/** The reader's input for an action: the seller's part of a split, or the hash of the delivered work. */
export type Written = Pick<Wish, "toSeller" | "resultHash">;

/** The initial text of an action's field. */
export function beginningOf(name: ActName, { amount }: Hire): string {
  return name === "split" ? decimalOf(amount / 2n) : "";
}

/** Reads the field of an action; null when the text is not valid. An action without a field gives an empty object. */
export function readField(name: ActName, text: string, { amount }: Hire): Written | null {
  if (name === "split") {
    const toSeller = atomicOf(text);
    return toSeller !== null && toSeller > 0n && toSeller < amount ? { toSeller } : null;
  }
  if (name !== "markDelivered") return {};
  const word = text.trim().toLowerCase();
  if (word === "") return { resultHash: ZERO_HASH };
  return isHex(word, 32) ? { resultHash: word } : null;
}

type Props = {
  name: ActName;
  hire: Hire;
  text: string;
  isBad: boolean;
  isDisabled: boolean;
  onInput: (text: string) => void;
};

/** The field of an action that has one. */
export function ActField({ name, hire, text, isBad, isDisabled, onInput }: Props) {
  if (name !== "split" && name !== "markDelivered") return null;
  const isSplit = name === "split";
  const whole = decimalOf(hire.amount);
  return (
    <label class="field">
      {isSplit ? `To the seller, of ${whole} USDC` : "Hash of the result, if you want it on the chain"}
      <input
        type="text"
        inputMode={isSplit ? "decimal" : "text"}
        class={isSplit ? undefined : "mono"}
        placeholder={isSplit ? undefined : "0x and 64 digits, or nothing"}
        value={text}
        autocomplete="off"
        spellcheck={false}
        aria-invalid={isBad}
        disabled={isDisabled}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
      {isBad && (
        <span role="alert" class="bad-word">
          {isSplit
            ? `An amount above 0 and below ${whole}, with at most six decimals.`
            : "32 bytes: 0x and 64 digits of 0–9 and a–f. Or nothing."}
        </span>
      )}
    </label>
  );
}
