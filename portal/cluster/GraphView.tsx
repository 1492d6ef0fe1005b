import { DirectedGraph } from "graphology";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import Sigma from "sigma";
import type { NodeLabelDrawingFunction } from "sigma/rendering";
import { countOf } from "../design/countOf.ts";
import { shortHash } from "../design/format.ts";
import { linkTo } from "../router/route.ts";
import { type PlacedWallet, placeGraph } from "./clusterGraph.ts";
import type { Cluster } from "./clusterQuery.ts";
import { type Box, placeLabel } from "./placeLabel.ts";

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
    return <p class="soft">This browser does not draw the graph. The table below has the same data.</p>;
  const { wallets, links } = placed;
  return (
    <figure class="graph">
      <div
        ref={box}
        class="canvas"
        role="img"
        aria-label={`${countOf(wallets.length, "wallet")} and ${countOf(links.length, "way")} of money between them; the table below has the same data`}
      />
      <figcaption class="row small">
        {KINDS.filter((it) => wallets.some(({ kind }) => kind === it)).map((it) => (
          <span key={it} class={`key ${it}`}>
            {NAMES[it]}
          </span>
        ))}
        <span class="soft">zoom with the mouse wheel or two fingers; click a wallet to open its page</span>
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
  /** The labels of the present frame. */
  let taken: Box[] = [];
  /**
   * Draws an address on its own background, so that no line crosses it. An address without a free place is left out.
   * The address of the wallet that the reader points at is always drawn, above all others.
   */
  const drawLabel =
    (ground: string, border: string, isPointedAt: boolean): NodeLabelDrawingFunction =>
    (context, { x, y, size, label }, { labelSize, labelFont }) => {
      const text = String(label ?? "");
      context.font = `${labelSize}px ${labelFont}`;
      const labelled = {
        x,
        y,
        radius: size,
        width: context.measureText(text).width + 10,
        height: 1.5 * labelSize,
      };
      const area = { width: element.clientWidth, height: element.clientHeight };
      const box = placeLabel(labelled, area, isPointedAt ? [] : taken);
      if (box === null) return;
      if (!isPointedAt) taken.push(box);
      context.fillStyle = colourOf(ground);
      context.strokeStyle = colourOf(border);
      context.beginPath();
      context.roundRect(box.left, box.top, box.width, box.height, 4);
      context.fill();
      context.stroke();
      context.fillStyle = colourOf("--ink");
      context.fillText(text, box.left + 5, box.top + 0.75 * labelSize + labelSize / 3);
    };
  const sigma = new Sigma(graph, element, {
    allowInvalidContainer: true,
    labelColor: { color: colourOf("--ink") },
    labelFont: "monospace",
    labelSize: 12,
    labelRenderedSizeThreshold: many ? 6 : 4,
    defaultDrawNodeLabel: drawLabel("--sunk", "--sunk", false),
    // The library's own function always draws on white, so it is replaced.
    defaultDrawNodeHover: drawLabel("--paper", "--ink-soft", true),
    minCameraRatio: 0.02,
    maxCameraRatio: 3,
  });
  sigma.on("beforeRender", () => {
    taken = [];
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
