import { DirectedGraph } from "graphology";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import Sigma from "sigma";
import type { NodeLabelDrawingFunction } from "sigma/rendering";
import { shortHash } from "../design/format.ts";
import { linkTo } from "../router/route.ts";
import { type PlacedWallet, placeGraph } from "./clusterGraph.ts";
import type { Cluster } from "./clusterQuery.ts";

const COLOURS: { [kind in PlacedWallet["kind"]]: string } = {
  member: "--accent",
  wallet: "--claimed",
  hub: "--ink",
  escrow: "--good",
};

const NAMES: { [kind in PlacedWallet["kind"]]: string } = {
  member: "member",
  wallet: "other wallet",
  hub: "hub",
  escrow: "escrow",
};
const KINDS = Object.keys(NAMES) as PlacedWallet["kind"][];

const SIZES: { [kind in PlacedWallet["kind"]]: number } = { member: 8, wallet: 7, hub: 9, escrow: 9 };

/**
 * Draws a cluster's funding graph with WebGL. The mouse wheel or two fingers zoom, and a click on a wallet
 * opens its page. The table has the same data.
 */
export function GraphView({ graph }: { graph: Cluster["graph"] }) {
  const box = useRef<HTMLDivElement>(null);
  const [problem, setProblem] = useState("");
  const began = useMemo(() => performance.now(), [graph]);
  const placed = useMemo(() => placeGraph(graph), [graph]);
  useEffect(() => {
    const { current: element } = box;
    if (element === null) return;
    let sigma: Sigma | undefined;
    try {
      sigma = draw(element, placed);
      element.dataset.drawnMs = String(Math.round(performance.now() - began));
    } catch (error) {
      // A browser may have no WebGL, or lose it. Then only the table is shown.
      setProblem(error instanceof Error ? error.message : String(error));
    }
    return () => sigma?.kill();
  }, [placed, began]);
  if (problem !== "")
    return <p class="soft">This browser does not draw the graph. The table below has the same.</p>;
  const { wallets, links } = placed;
  return (
    <figure class="graph">
      <div
        ref={box}
        class="canvas"
        role="img"
        aria-label={`${wallets.length} wallets and ${links.length} ways of money between them; the table below has the same`}
      />
      <figcaption class="row small">
        {KINDS.filter((it) => wallets.some(({ kind }) => kind === it)).map((it) => (
          <span key={it} class={`key ${it}`}>
            {NAMES[it]}
          </span>
        ))}
        <span class="soft">zoom by the wheel or two fingers; a wallet leads to its page</span>
      </figcaption>
    </figure>
  );
}

function draw(element: HTMLElement, { wallets, links }: ReturnType<typeof placeGraph>): Sigma {
  if (document.createElement("canvas").getContext("webgl2") === null) throw new Error("no WebGL");
  const graph = new DirectedGraph();
  const colourOf = colours(element);
  const many = wallets.length > 400;
  for (const { address, kind, x, y } of wallets)
    graph.addNode(address, {
      x,
      y,
      size: many ? SIZES[kind] / 2 : SIZES[kind],
      color: colourOf(COLOURS[kind]),
      label: shortHash(address),
    });
  const line = colourOf("--ink-soft");
  for (const { from, to, count } of links)
    graph.addEdge(from, to, { size: many ? 1 : count > 1 ? 3 : 2, color: line, type: "arrow" });
  /** Draws an address on a ground of its own, on the outer side of its wallet, so that no line crosses it. */
  const drawLabel =
    (ground: string, border: string): NodeLabelDrawingFunction =>
    (context, { x, y, size, label }, { labelSize, labelFont }) => {
      const text = String(label ?? "");
      context.font = `${labelSize}px ${labelFont}`;
      const width = context.measureText(text).width + 10;
      const beside = x < 0.45 * element.clientWidth ? x - size - 4 - width : x + size + 4;
      const most = element.clientWidth - width - 4;
      // Near the edge of the drawing, the address stands below its wallet.
      const isBelow = beside < 4 || beside > most;
      const left = isBelow ? Math.min(Math.max(x - width / 2, 4), most) : beside;
      const middle = isBelow ? y + size + labelSize : y;
      context.fillStyle = colourOf(ground);
      context.strokeStyle = colourOf(border);
      context.beginPath();
      context.roundRect(left, middle - 0.75 * labelSize, width, 1.5 * labelSize, 4);
      context.fill();
      context.stroke();
      context.fillStyle = colourOf("--ink");
      context.fillText(text, left + 5, middle + labelSize / 3);
    };
  const sigma = new Sigma(graph, element, {
    allowInvalidContainer: true,
    labelColor: { color: colourOf("--ink") },
    labelFont: "monospace",
    labelSize: 12,
    labelRenderedSizeThreshold: many ? 6 : 4,
    defaultDrawNodeLabel: drawLabel("--sunk", "--sunk"),
    // The library's own function always draws on white, so it is replaced.
    defaultDrawNodeHover: drawLabel("--paper", "--ink-soft"),
    minCameraRatio: 0.02,
    maxCameraRatio: 3,
  });
  sigma.on("clickNode", ({ node }) => {
    location.hash = linkTo.agent(node);
  });
  return sigma;
}

/** Reads the present colours of the page, because a canvas cannot use CSS variables. */
function colours(element: HTMLElement): (name: string) => string {
  const probe = document.createElement("span");
  element.append(probe);
  const found = new Map<string, string>();
  const read = (name: string): string => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  for (const name of [...Object.values(COLOURS), "--ink-soft", "--ink", "--paper", "--sunk"])
    found.set(name, read(name));
  probe.remove();
  return (name) => found.get(name) ?? "#888888";
}
