import type { Params } from "tallystick-protocol/records/params";
import type { ApplyContext } from "../applyContext.ts";
import { emptyRow } from "../emptyRow.ts";
import type { HistoryEvent } from "../events.ts";
import { noteArrival } from "../families/arrivals.ts";
import { inflowOfTransfer, noteLargest } from "../families/inflows.ts";
import { keepFlow } from "../families/keptFlows.ts";
import { isFundingSize } from "../funding/isFundingSize.ts";
import { formatLeg } from "../funding/legs.ts";
import { directHireId } from "../hireId.ts";
import { append } from "../lists.ts";
import { isBefore, type Place, placeOf } from "../place.ts";
import type { Row } from "../tables.ts";
import { isOrdinaryAt, kindAt, mostHubTransfers, paramsAt } from "./asOf.ts";
import { isRelevant } from "./isRelevant.ts";
import { countId } from "./senders.ts";

/**
 * The list of all watched wallets, in the order in which they were added. The maker of a relevant log looks for their
 * transfers.
 */
export const WATCHED = "watched";

/**
 * Whether a relevant log contains the transfer that reaches a wallet at this place. It does if the wallet was watched
 * before. Otherwise the log gives the transfer later, as a `history` event, if a later event needs it.
 */
export function isWatched({ store }: Pick<ApplyContext, "store">, wallet: string, place: Place): boolean {
  const watched = watchedFrom(store.get("inflow", wallet));
  return watched !== null && isBefore(watched, place);
}

/**
 * Watches a wallet: a relevant log contains the transfers that reach it from here on, and now gets the earlier
 * ones too.
 */
export function watch(context: ApplyContext, wallet: string): void {
  if (!isRelevant(context)) return;
  const inflow = inflowOf(context, wallet);
  if (watchedFrom(inflow) !== null) return;
  const at = { block: context.at.block, log: context.at.log ?? 0 };
  askInflow(context, wallet, at);
  const watched = { watchedBlock: at.block, watchedLog: at.log };
  if (inflow === null) context.store.insert("inflow", { ...emptyInflow(wallet), ...watched });
  else context.store.update("inflow", wallet, watched);
  append(context.store, WATCHED, wallet);
}

/**
 * Asks for the transfers that reached a wallet before a position. Only the first `hubTransfers` matter,
 * because later ones fund nobody. For a watched wallet, {@link watch} has already asked. Then this asks again only if
 * the answer was cut at `hubTransfers`, and `hubTransfers` has been raised since.
 */
export function askInflow(context: ApplyContext, wallet: string, before: Place): void {
  const inflow = inflowOf(context, wallet);
  const known = inflow?.incoming ?? 0;
  const limit = mostHubTransfers(context) - known;
  if (limit <= 0) return;
  const watched = watchedFrom(inflow);
  const isCut = context.store.get("transferCount", countId(wallet, "in", known)) !== null;
  if (watched !== null && !isCut) return;
  const end = watched !== null && isBefore(watched, before) ? watched : before;
  const after = inflow?.incoming ? placeOf(inflow) : null;
  if (after !== null && !isBefore(after, end)) return;
  context.ask({ kind: "transfersTo", wallet, known, after, before: placeOf(end), limit });
}

/**
 * Applies an earlier transfer that reached a wallet, by the parameters of that time. It changes nothing if it
 * was given before or is in the log.
 */
export function inflowTold(context: ApplyContext, event: HistoryEvent): void {
  const { to, block, log } = event;
  const known = inflowOf(context, to);
  const { received: before, incoming, fundings, ...last } = known ?? emptyInflow(to);
  if (incoming > 0 && !isBefore(last, event)) return;
  const watched = watchedFrom(known);
  if (watched !== null && !isBefore(event, watched)) return;
  const value = BigInt(event.value);
  const received = before + value;
  const params = paramsAt(context, event);
  const funds =
    incoming < params.hubTransfers &&
    isFundingSize(params, value, received) &&
    isOrdinaryAt(context, event) &&
    context.store.get("hire", directHireId(event.tx, log)) === null;
  noteArrival(context, to, { ...event, value }, incoming + 1 >= params.hubTransfers);
  if (incoming < params.hubTransfers) familyInflowTold(context, event, params);
  const line = formatLeg(event, value >= BigInt(params.minHireAtomic) ? "claimable" : "plain");
  const change = {
    received,
    incoming: incoming + 1,
    block,
    log,
    fundings: !funds ? fundings : fundings === "" ? line : `${fundings}\n${line}`,
  };
  if (known === null) context.store.insert("inflow", { ...emptyInflow(to), ...change });
  else context.store.update("inflow", to, change);
}

/** Notes an earlier transfer for the rules of families, by the parameters, hubs and escrows of its time. */
function familyInflowTold(context: ApplyContext, event: HistoryEvent, params: Params): void {
  const sent = { ...event, value: BigInt(event.value) };
  // Whether the sender had sent too many transfers is not checked here. The rules of families check it when they use
  // this inflow.
  const inflow = inflowOfTransfer(context, sent, kindAt(context, event.from, event), false);
  if (inflow === null) return;
  noteLargest(context, event.to, inflow);
  if (inflow.value >= BigInt(params.minFundingAtomic)) keepFlow(context, event.to, inflow);
}

export function inflowOf(context: ApplyContext, wallet: string): Row<"inflow"> | null {
  return context.store.get("inflow", wallet);
}

function emptyInflow(id: string): Row<"inflow"> {
  return { ...emptyRow("inflow"), id, fundings: "" };
}

function watchedFrom(inflow: Row<"inflow"> | null): Place | null {
  const { watchedBlock = null, watchedLog = null } = inflow ?? {};
  return watchedBlock === null || watchedLog === null ? null : { block: watchedBlock, log: watchedLog };
}
