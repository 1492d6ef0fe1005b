import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { type Browser, chromium } from "playwright-core";
import { servePortal } from "../../indexer/api/portal/servePortal.ts";
import { buildPortal } from "../../portal/build.mjs";
import { verifyRate, writeLedger } from "../bench/ledger/largeLedger.ts";
import { CHROMIUM_FLAGS, findChromium } from "./findChromium.ts";

/** The longest time for one file in the browser, in milliseconds. */
const PATIENCE_MS = 600_000;

/** Seconds by the clock, and of processor time; null if the system does not report it. */
export type Took = { seconds: number; cpuSeconds: number | null };

/** The time of each round, here and in Chromium; and the highest memory of the page's process, in MB. */
export type LedgerFileFigures = {
  entries: number;
  bytes: number;
  commandLine: Took[];
  browser: Took[];
  /** Highest memory of the process until the file is given, and until the check ends; null if it is not reported. */
  memoryMb: { before: number; most: number } | null;
};

/**
 * Verifies one generated ledger file in turn: as `tallystick verify-ledger` does, and on the portal's page
 * in Chromium.
 *
 * @param say called with the next step
 */
export async function measureLedgerFile(
  { entries, rounds }: { entries: number; rounds: number },
  say: (what: string) => void,
): Promise<LedgerFileFigures> {
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-portal-"));
  const site = path.join(folder, "site");
  let browser: Browser | undefined;
  let close = () => {};
  try {
    say(`writing ${entries.toLocaleString("en")} entries`);
    const file = await writeLedger(folder, entries);
    await buildPortal(site);
    const server = createAdaptorServer({ fetch: servePortal(site).fetch });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    close = () => server.close();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    browser = await chromium.launch({
      executablePath: await findChromium(),
      args: [...CHROMIUM_FLAGS, "--disable-gpu"],
    });
    const figures: LedgerFileFigures = {
      entries,
      bytes: statSync(file).size,
      commandLine: [],
      browser: [],
      memoryMb: null,
    };
    for (let round = 0; round < rounds; round++) {
      say("by the command line");
      const cpu = process.cpuUsage();
      const seconds = entries / (await verifyRate(file, entries));
      const { user, system } = process.cpuUsage(cpu);
      figures.commandLine.push({ seconds, cpuSeconds: (user + system) / 1e6 });
      say("in the browser");
      const { took, memoryMb } = await verifyInBrowser(browser, url, file, entries);
      figures.browser.push(took);
      if (memoryMb !== null && memoryMb.most > (figures.memoryMb?.most ?? 0)) figures.memoryMb = memoryMb;
    }
    return figures;
  } finally {
    await browser?.close();
    close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A new page, in which no code is compiled yet. */
async function verifyInBrowser(browser: Browser, url: string, file: string, entries: number) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(`${url}#/verify`);
    await page.getByRole("heading", { name: "Check it yourself" }).waitFor();
    const before = await pageProcess(browser);
    const start = performance.now();
    await page.getByLabel("A file to verify").setInputFiles(file);
    const checks = page.locator("section", { has: page.locator("#file") }).locator(".checks");
    await checks.waitFor({ timeout: PATIENCE_MS });
    const seconds = (performance.now() - start) / 1_000;
    const said = await checks.innerText();
    if (!said.includes(`All ${entries.toLocaleString("en")} entries verify`)) throw new Error(said);
    const after = await pageProcess(browser);
    const isKnown = before !== null && after !== null;
    return {
      took: { seconds, cpuSeconds: isKnown ? after.cpuSeconds - before.cpuSeconds : null },
      memoryMb: isKnown ? { before: before.mostMb, most: after.mostMb } : null,
    };
  } finally {
    await context.close();
  }
}

/** Linux counts the time of processes in ticks. This is the number of ticks in a second. */
const TICKS = 100;

/** Processor time and highest memory of the page's process so far; null where there is no /proc. */
async function pageProcess(browser: Browser): Promise<{ cpuSeconds: number; mostMb: number } | null> {
  const session = await browser.newBrowserCDPSession();
  try {
    const { processInfo } = await session.send("SystemInfo.getProcessInfo");
    const found = processInfo.flatMap(({ type, id }) => {
      if (type !== "renderer") return [];
      const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1];
      // After the name in brackets: the twelfth and the thirteenth field are ticks in user and in kernel mode.
      const fields = readFileSync(`/proc/${id}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ");
      return [
        { cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS, mostMb: Number(peak) / 1_024 },
      ];
    });
    return found.sort((a, b) => b.cpuSeconds - a.cpuSeconds)[0] ?? null;
  } catch {
    return null;
  } finally {
    await session.detach();
  }
}
