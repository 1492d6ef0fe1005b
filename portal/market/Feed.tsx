import { useEffect, useMemo, useState } from "preact/hooks";
import { Address } from "../design/Address.tsx";
import { announce } from "../design/announce.ts";
import { Outcome, Tier } from "../design/Badges.tsx";
import { plainText } from "../design/format.ts";
import { Empty } from "../design/States.tsx";
import { Time } from "../design/Time.tsx";
import { Usdc } from "../design/Usdc.tsx";
import { followStream } from "../node/followStream.ts";
import { linkTo } from "../router/route.ts";
import { feedItemOf, feedOf, mergeFeed, type ToldItem, toldAfter } from "./feed.ts";
import type { MarketHire, MarketTierChange } from "./marketQuery.ts";
import { createSpokenFeed } from "./spokenFeed.ts";

/** Shows live events: hires, ratings and tier changes. */
export function Feed(props: { hires: MarketHire[]; tierChanges: MarketTierChange[] }) {
  const { hires, tierChanges } = props;
  const begun = useMemo(() => feedOf(hires, tierChanges), [hires, tierChanges]);
  const [told, setTold] = useState<ToldItem[]>([]);
  const [isLive, setLive] = useState(false);
  useEffect(() => {
    const spoken = createSpokenFeed(announce);
    const stopFollowing = followStream("hires,ratings,tiers", {
      live: setLive,
      event: (event) => {
        const item = feedItemOf(event);
        setTold((before) => toldAfter(before, event, item));
        if (item !== undefined) spoken.add(item);
      },
    });
    return () => {
      stopFollowing();
      spoken.stop();
    };
  }, []);
  const items = mergeFeed([...begun, ...told.map(({ item }) => item)]);
  return (
    <section class="card" aria-labelledby="now">
      <div class="head">
        <h2 id="now">Latest</h2>
        <span class={`soft live ${isLive ? "on" : ""}`}>{isLive ? "live" : "not live"}</span>
      </div>
      {items.length === 0 ? (
        <Empty>Nothing has happened yet.</Empty>
      ) : (
        <ul class="feed wide-feed">
          {items.map((item) => (
            <li key={item.key}>
              <Line item={item} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Line({ item }: { item: ToldItem["item"] }) {
  if (item.kind === "hire") {
    const { capability } = item;
    return (
      <>
        <span class="head">
          <span class="what">
            <a href={linkTo.hire(item.id)} class="quiet-link">
              {plainText(capability ?? "A hire", 128)}
            </a>
          </span>
          <Outcome outcome={item.outcome} />
        </span>
        <span class="row small soft">
          <Address address={item.seller} /> <Usdc amount={item.price} /> <Time at={item.time} />
        </span>
      </>
    );
  }
  if (item.kind === "rating") {
    return (
      <>
        <span class="what">{item.stars} of 5 stars</span>
        <span class="row small soft">
          <Address address={item.ratee} /> <Time at={item.time} />
        </span>
      </>
    );
  }
  return (
    <>
      <span class="head">
        <span class="what">{item.to > item.from ? "Promoted" : "Demoted"}</span>
        <Tier tier={item.to} />
      </span>
      <span class="row small soft">
        <Address address={item.agent} /> <Time at={item.time} />
      </span>
    </>
  );
}
