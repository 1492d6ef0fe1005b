import { DirectedGraph } from "graphology";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import Sigma from "sigma";
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

const SIZES: { [kind in PlacedWallet["kind"]]: number } = { member: 7, wallet: 5, hub: 8, escrow: 8 };

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
        <span class="key member">member</span>
        <span class="key wallet">other wallet</span>
        <span class="key hub">hub</span>
        <span class="key escrow">escrow</span>
        <span class="soft">zoom by the wheel; a wallet leads to its page</span>
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
    graph.addEdge(from, to, { size: count > 1 ? 2 : 1, color: line, type: "arrow" });
  const sigma = new Sigma(graph, element, {
    allowInvalidContainer: true,
    labelColor: { color: colourOf("--ink") },
    labelFont: "monospace",
    labelSize: 12,
    labelRenderedSizeThreshold: many ? 6 : 4,
    // The library's own function always draws on white, so it is replaced.
    defaultDrawNodeHover: (context, { x, y, size, label }, { labelSize, labelFont }) => {
      const text = String(label ?? "");
      context.font = `${labelSize}px ${labelFont}`;
      const width = context.measureText(text).width + 16;
      context.fillStyle = colourOf("--paper");
      context.strokeStyle = line;
      context.beginPath();
      context.rect(x + size + 4, y - labelSize, width, 2 * labelSize);
      context.fill();
      context.stroke();
      context.fillStyle = colourOf("--ink");
      context.fillText(text, x + size + 12, y + labelSize / 3);
    },
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
  for (const name of [...Object.values(COLOURS), "--ink-soft", "--ink", "--paper"])
    found.set(name, read(name));
  probe.remove();
  return (name) => found.get(name) ?? "#888888";
}
