import type { Command } from "commander";
import { wholeNumber } from "../../scripts/cli/parseOption.ts";

/** The most that memory may grow from the second day to the last, in MB. Garbage collection explains this much. */
const GROWTH_MB = 20;

type Options = { hosts: number; hourHosts: number; weekHosts: number; days: number };

/** `npm run soak:prober`: the long form of the prober among local hosts that runs with the tests. */
export function registerSoakProber(program: Command): void {
  program
    .command("soak-prober")
    .description(
      "Let a prober look at local hosts over TLS, in one slot of real time. Seven in a hundred hosts are bad: they hang, drip,\n" +
        "never end, redirect, fail, break or lie. Then run the slots of an hour without pauses. Some hosts fail for exactly two or\n" +
        "three slots, the prober is killed once, and its network fails once. Then simulate a week without a network, and print\n" +
        "the memory of each day.",
    )
    .option("--hosts <count>", "how many hosts in the slot (0: no slot)", wholeNumber("--hosts"), 10_000)
    .option(
      "--hour-hosts <count>",
      "how many hosts in the hour (0: no hour)",
      wholeNumber("--hour-hosts"),
      2_000,
    )
    .option("--week-hosts <count>", "how many hosts in the week", wholeNumber("--week-hosts"), 1_000)
    .option("--days <count>", "how many days the week has (0: none)", wholeNumber("--days"), 7)
    .action(async ({ hosts, hourHosts, weekHosts, days }: Options) => {
      const { soakSlot, soakWeek } = await import("../bench/prober/soakProber.ts");
      const stop = new AbortController();
      for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop.abort());
      const say = (line: string): void => void process.stdout.write(`${line}\n`);
      if (hosts > 0) {
        const it = await soakSlot(hosts, stop.signal);
        say(`hosts             ${it.hosts}, ${it.looked} looked at in ${it.seconds.toFixed(0)} s`);
        say(
          `processor         ${it.cpuSeconds.toFixed(1)} s, ${((100 * it.cpuSeconds) / it.seconds).toFixed(0)} % of a core`,
        );
        say(`memory            ${it.residentMb} MB`);
        say(
          `requests          at most ${it.mostPerSecond} within a second, ${it.mostAtOnce} at once at an address`,
        );
        say(`wrong             ${it.wrong.length}`);
        for (const line of it.wrong.slice(0, 20)) say(`  ${line}`);
        if (it.wrong.length > 0 || it.mostAtOnce > 1) process.exitCode = 1;
      }
      if (hourHosts > 0) {
        const { soakHour } = await import("../bench/prober/soakHour.ts");
        const it = await soakHour(hourHosts, stop.signal);
        say(
          `an hour           of ${it.hosts} hosts in ${it.seconds.toFixed(0)} s, ${it.residentMb} MB; ${it.underWay} were being asked when the prober was killed`,
        );
        say(`wrong             ${it.wrong.length}`);
        for (const line of it.wrong.slice(0, 20)) say(`  ${line}`);
        if (it.wrong.length > 0 || it.underWay > it.hosts / 2) process.exitCode = 1;
      }
      if (days > 0) {
        const all = await soakWeek(weekHosts, days, stop.signal, (it) =>
          say(
            `day ${it.day}: heap ${it.heapMb} MB, resident ${it.residentMb} MB, disk ${it.diskMb} MB, ${it.reports} reports`,
          ),
        );
        const growth = (all.at(-1)?.heapMb ?? 0) - (all.at(1)?.heapMb ?? 0);
        if (growth > GROWTH_MB) process.exitCode = 1;
      }
    });
}
