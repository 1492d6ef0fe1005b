import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import type { Reputation } from "tallystick-derive/reputation";
import { buyingAttacks } from "./buying.ts";
import { contractAttacks } from "./contracts.ts";
import { harmAttacks } from "./harm.ts";
import { furtherAttacks } from "./more.ts";
import { ringAttacks } from "./rings.ts";
import type { Attack } from "./scene.ts";
import { attackTable } from "./table.ts";

const PAGE = new URL("../../../docs/independence.md", import.meta.url);
const [BEGIN, END] = ["<!-- attacks: test/derive/attacks, UPDATE_ATTACKS=1 -->", "<!-- end of attacks -->"];

describe("the results of attacks on a reputation", () => {
  const rows: { attack: Attack; figures: Reputation }[] = [];

  const attacks = [
    ...buyingAttacks(),
    ...ringAttacks(),
    ...harmAttacks(),
    ...furtherAttacks(),
    ...contractAttacks(),
  ];
  for (const attack of attacks) {
    it(attack.name, async () => {
      const { agents, store } = await attack.log.derive();
      const figures = agents[attack.seller];
      if (figures === undefined) throw new Error("The seller is no agent.");
      rows.push({ attack, figures });
      if (attack.breaches !== undefined) expect(store.rows("breach").size).to.equal(attack.breaches);
      for (const [name, value] of Object.entries(attack.expected))
        expect(figures[name as keyof Reputation], name).to.deep.equal(value);
    });
  }

  it("are in docs/independence.md as they were derived", () => {
    const page = readFileSync(PAGE, "utf8");
    const [before = "", rest = ""] = page.split(BEGIN);
    const after = rest.split(END)[1] ?? "";
    const made = `${before}${BEGIN}\n\n${attackTable(rows)}\n\n${END}${after}`;
    if (process.env.UPDATE_ATTACKS !== undefined) writeFileSync(PAGE, made);
    expect(readFileSync(PAGE, "utf8")).to.equal(made);
  });
});
