import type { Address } from "tallystick-protocol/address";
import type { SignedRecord } from "tallystick-protocol/records/record";
import type { NoticeStore } from "./noticeStore.ts";

/** What the routes for notices need. */
export type Notices = {
  store: NoticeStore;
  sender: Address;
  /** Lets buyers name http and private addresses. */
  devMode: boolean;
  /** @throws InvalidInputError `invalid_signature` */
  checkSignature: (record: SignedRecord) => Promise<unknown>;
  /** @throws TallystickError `clock` (503) while the clock cannot be right: it would end subscriptions too early */
  requireClock: () => void;
};
