import { Hono } from "hono";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { addressProblem } from "tallystick-protocol/net/publicAddress";
import {
  noticeSubscriptionId,
  parseNoticeSubscription,
  SUBSCRIPTION_TYPE,
} from "tallystick-protocol/notices/noticeSubscription";
import { checkBinding } from "tallystick-protocol/records/binding";
import { boundForm } from "tallystick-protocol/records/boundForm";
import type { SignedRecord } from "tallystick-protocol/records/record";
import { z } from "zod";
import type { AppDependencies } from "../appDependencies.ts";
import { readSignedRecord } from "../engine/readSignedRecord.ts";
import { readJson } from "../http/readJson.ts";
import type { Notices } from "../notices/notices.ts";

/** How far a signed message may be from the present, in seconds, so that a stolen old message is useless. */
const FRESH_SECONDS = 600;

/** The number of subscriptions in one answer to the sender. */
const PAGE = 500;

/** The most subscriptions that the sender confirms in one request. */
const MAX_CONFIRMED = 200;

const parseList = boundForm({
  after: z.string().max(64),
  confirmed: z
    .array(z.strictObject({ id: z.string().max(64), since: z.int().min(0) }))
    .max(MAX_CONFIRMED, `must have at most ${MAX_CONFIRMED} subscriptions`)
    .optional(),
  issued_at: z.int().min(0, "must be unix seconds"),
});

/**
 * Notices to buyers (STEWARD): a buyer gives an address, and the sender that the operator named reports there
 * what happens to SLAs.
 *
 * - `POST /v1/notices` takes `{body, signature, signer?}`. The buyer signs `body = {type: "notice_subscription",
 *   ledger, buyer, url, agents, issued_at}`. The answer is `{id, sender, expires_at}`, 201. Without agents the
 *   subscription is cancelled: `{id, sender, removed: true}`, 200. A subscription is private: it is not in a ledger,
 *   and only the sender can read it.
 * - `GET /v1/notices` answers `{sender, ledger}`.
 * - `POST /v1/notices/list` takes `{body: {type: "notice_list", ledger, after, confirmed?, issued_at}, signature}` of
 *   the sender, and answers `{subscriptions, next}`. `confirmed` lists subscriptions, `{id, since}`, whose addresses
 *   want notices.
 */
export function noticeRoutes(dependencies: AppDependencies): Hono {
  const { now, notices, ledgerName } = dependencies;
  const app = new Hono();
  const check = async (
    record: SignedRecord,
    issuedAt: number,
    { checkSignature }: Notices,
  ): Promise<void> => {
    checkBinding(record, ledgerName.ledger);
    if (Math.abs(now() - issuedAt) > FRESH_SECONDS)
      throw wrong("body.issued_at", `must be within ${FRESH_SECONDS} seconds of now`);
    // This comes last, because it may ask the chain.
    await checkSignature(record);
  };

  app.get("/v1/notices", (c) => {
    const { sender } = openNotices(notices);
    return c.json({ sender, ledger: ledgerName.ledger });
  });

  app.post("/v1/notices", async (c) => {
    const open = openNotices(notices);
    const { store, sender, devMode } = open;
    const { record } = readSignedRecord(
      await readJson(c.req.raw),
      SUBSCRIPTION_TYPE,
      [],
      dependencies.recover,
    );
    const word = parseNoticeSubscription(record.body);
    if (word.buyer !== record.signer) throw wrong("signer", "must be the buyer");
    const problem = devMode ? undefined : addressProblem(word.url);
    if (problem !== undefined) throw wrong("body.url", problem);
    open.requireClock();
    await check(record, word.issued_at, open);
    const kept = store.keep(noticeSubscriptionId(word), word, Math.floor(now()));
    const isKept = word.agents.length > 0;
    return c.json(
      { id: kept.id, sender, ...(isKept ? { expires_at: kept.expiresAt } : { removed: true }) },
      isKept ? 201 : 200,
    );
  });

  app.post("/v1/notices/list", async (c) => {
    const open = openNotices(notices);
    const { record } = readSignedRecord(await readJson(c.req.raw), "notice_list", [], dependencies.recover);
    const { after, confirmed = [], issued_at } = parseList(record.body);
    if (record.signer !== open.sender) {
      throw new TallystickError({
        code: "unauthorized",
        message: "Only the sender of notices may read them.",
        hint: "The operator names its address: NOTIFIER.",
      });
    }
    await check(record, issued_at, open);
    try {
      open.store.confirm(confirmed);
    } catch (error) {
      // The sender repeats a confirmation until the list shows it. So a full disk must not stop the notices.
      if (!(error instanceof TallystickError) || error.code !== "disk_unavailable") throw error;
      dependencies.log("Confirmed notice addresses could not be stored.", { error });
    }
    const page = open.store.list(after, PAGE, now());
    return c.json({ subscriptions: page, next: page.length === PAGE ? page.at(-1)?.id : null });
  });
  return app;
}

function openNotices(notices: Notices | undefined): Notices {
  if (notices) return notices;
  throw new TallystickError({
    code: "notices_unavailable",
    message: "This node sends no notices.",
    hint: "Its operator can run tallystick notifier and set NOTIFIER. Until then follow the stream (GET /v1/stream?topics=sla).",
  });
}

function wrong(field: string, message: string): InvalidInputError {
  return new InvalidInputError({ issues: [{ field, message }] });
}
