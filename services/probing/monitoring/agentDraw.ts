import { hostOf } from "tallystick-protocol/net/publicAddress";
import { registeredNameOf } from "tallystick-runtime/http/registeredNameOf";

/** The most agents that are asked in a round. At one agent per second a round takes about three hours. */
const MAX_AGENTS = 10_000;

/**
 * The most agents of one host that are asked in a round. Anybody may name a stranger's host. If more agents named a host in
 * the last round, this round draws some of them, so that none is always left out.
 */
const MAX_OF_HOST = 100;

/** The most agents of all hosts with one registered name. One entry in the DNS makes any number of hosts below a name. */
const MAX_OF_NAME = 1_000;

/**
 * One of this many places is for hosts whose registered name has never given figures, if the others need the rest. Anybody
 * can invent names, and an invented name costs nothing.
 */
const NEW_SHARE = 10;

type AgentDraw = (endpoint: string) => boolean;

/**
 * Draws the agents that a round asks. Anybody can make many agents, and they may come before all others. So the draw gives
 * every agent the same chance at its host. Every host gets as many places as it has agents, up to {@link MAX_OF_HOST}, and
 * all hosts with one registered name get at most {@link MAX_OF_NAME}.
 *
 * @param before the endpoints that could have been asked in the last round
 * @param options.random gives a number from 0 to below 1
 * @param options.most the most agents that are drawn
 * @param options.answered the registered names of hosts that have given figures
 * @returns a function that is called for each endpoint, in turn, and says whether it is asked
 */
export function createAgentDraw(
  before: readonly string[],
  {
    random,
    most = MAX_AGENTS,
    answered = new Set(),
  }: { random: () => number; most?: number; answered?: ReadonlySet<string> },
): AgentDraw {
  const hasAnswered = (endpoint: string) => answered.has(registeredNameOf(hostNamed(endpoint)));
  const { known = [], others = [] } = Object.groupBy(before, (it) => (hasAnswered(it) ? "known" : "others"));
  const [ofKnown, ofOthers] = [wantedBy(known), wantedBy(others)];
  const share = most / NEW_SHARE;
  const drawKnown = drawOf(ofKnown, random, most - Math.min(ofOthers.places, share));
  const drawOthers = drawOf(ofOthers, random, most - Math.min(ofKnown.places, most - share));
  return (endpoint) => (hasAnswered(endpoint) ? drawKnown : drawOthers)(endpoint);
}

/** The numbers of agents at each host, the places that each registered name wants, and the sum of the places. */
type Wanted = { named: Map<string, number>; wanted: Map<string, number>; places: number };

function wantedBy(endpoints: readonly string[]): Wanted {
  const named = new Map<string, number>();
  for (const endpoint of endpoints) named.set(hostNamed(endpoint), (named.get(hostNamed(endpoint)) ?? 0) + 1);
  const wanted = new Map<string, number>();
  for (const [host, ofHost] of named) {
    const name = registeredNameOf(host);
    wanted.set(name, (wanted.get(name) ?? 0) + Math.min(ofHost, MAX_OF_HOST));
  }
  const places = [...wanted.values()].reduce((sum, ofName) => sum + Math.min(ofName, MAX_OF_NAME), 0);
  return { named, wanted, places };
}

function drawOf({ named, wanted, places }: Wanted, random: () => number, most: number): AgentDraw {
  const chanceOfPlace = Math.min(1, most / places);
  const asked = new Map<string, number>();
  const askedOfName = new Map<string, number>();
  let agents = 0;

  return (endpoint) => {
    const host = hostNamed(endpoint);
    const name = registeredNameOf(host);
    const [ofHost, ofName] = [asked.get(host) ?? 0, askedOfName.get(name) ?? 0];
    const chanceOfHost = Math.min(1, MAX_OF_NAME / (wanted.get(name) ?? 1));
    const chance = chanceOfPlace * chanceOfHost * Math.min(1, MAX_OF_HOST / (named.get(host) ?? 1));
    const isFree = ofHost < MAX_OF_HOST && ofName < MAX_OF_NAME && agents < most;
    if (!(random() < chance && isFree)) return false;
    asked.set(host, ofHost + 1);
    askedOfName.set(name, ofName + 1);
    agents++;
    return true;
  };
}

/** The host of an endpoint; empty if the endpoint is no URL. */
function hostNamed(endpoint: string): string {
  const url = URL.parse(endpoint);
  return url === null ? "" : hostOf(url);
}
