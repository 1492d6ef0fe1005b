import { expect } from "chai";
import { inTurnsOfSites } from "tallystick-runtime/http/inTurnsOfSites";
import { registeredNameOf } from "tallystick-runtime/http/registeredNameOf";
import { siteOf } from "tallystick-runtime/http/siteOf";

describe("the site of a host", () => {
  it("is the name that one owner has, also below a suffix of a country or of a hosting service", () => {
    for (const [host, site, registered] of [
      ["hooks.agent.example", "agent.example", "agent.example"],
      ["agent.example", "agent.example", "agent.example"],
      ["a.b.agent.co.uk", "agent.co.uk", "agent.co.uk"],
      ["api.shop.vercel.app", "shop.vercel.app", "vercel.app"],
      ["vercel.app", "vercel.app", "vercel.app"],
      ["co.uk", "co.uk", "co.uk"],
      ["db", "db", "db"],
      ["8.8.8.8", "8.8.8.8", "8.8.8.8"],
      ["2606:4700::1111", "2606:4700::1111", "2606:4700::1111"],
    ] as const)
      expect([siteOf(host), registeredNameOf(host)], host).to.deep.equal([site, registered]);
  });

  it("takes turns with others below its suffix, and all of them together take turns with everybody else", () => {
    const flood = [1, 2, 3].map((n) => `h${n}.flood.vercel.app`);
    const hosts = [...flood, "shop.vercel.app", "more.vercel.app", "agent.example"];
    expect(inTurnsOfSites(hosts, (host) => host)).to.deep.equal([
      "h1.flood.vercel.app",
      "agent.example",
      "shop.vercel.app",
      "more.vercel.app",
      "h2.flood.vercel.app",
      "h3.flood.vercel.app",
    ]);
  });
});
