import { expect } from "chai";
import fc from "fast-check";
import ipaddr from "ipaddr.js";
import {
  addressProblem,
  hostOf,
  isAddressLiteral,
  isPublicAddress,
  isPublicHost,
} from "tallystick-protocol/net/publicAddress";

/** Hosts that a stranger may write into a URL, and that are not public. */
const PRIVATE_HOSTS = [
  ...[
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "0",
    "0.0.0.0",
    "00000",
  ],
  ...[
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "100.127.255.255",
    "169.254.169.254",
  ],
  ...[
    "192.0.0.1",
    "192.0.0.192",
    "192.0.2.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "255.255.255.255",
  ],
  ...["168.63.129.16", "100.100.100.200", "127.0.0.1.", "１２７.0.0.1", "127。0。0。1", "127%2e0.0.1"],
  ...["[::]", "[::1]", "[::127.0.0.1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:0:127.0.0.1]"],
  ...[
    "[64:ff9b::7f00:1]",
    "[64:ff9b::10.0.0.1]",
    "[64:ff9b:1::1]",
    "[2002:7f00:1::]",
    "[2002:a00:1::1]",
    "[2001::1]",
  ],
  ...[
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[100::1]",
    "[2001:db8::1]",
    "[4000::1]",
  ],
  ...[
    "localhost",
    "localhost.",
    "localhost..",
    "LOCALHOST",
    "a.localhost",
    "db",
    "db.",
    "db.internal",
    "x.local",
  ],
  ...[
    "x.lan",
    "printer.home",
    "x.home.arpa",
    "a..example",
    ".example",
    "metadata.google.internal",
    "metadata.google.internal.",
  ],
];

describe("the policy for addresses that strangers give", () => {
  for (const host of PRIVATE_HOSTS) {
    it(`refuses https://${host}/`, () => {
      expect(addressProblem(`https://${host}/`)).to.be.a("string");
    });
  }

  const refused: [string, string][] = [
    ["http://agent.example/", "must begin with https://"],
    ["ftp://agent.example/", "must begin with https://"],
    ["file:///etc/passwd", "must begin with https://"],
    ["https://user@agent.example/", "must not have a user or a password"],
    ["https://agent.example@127.0.0.1/", "must not have a user or a password"],
    ["https://:secret@agent.example/", "must not have a user or a password"],
    ["https://agent.example:22/", "must use port 443, or one from 1024 on"],
    ["https://agent.example:25/", "must use port 443, or one from 1024 on"],
    ["https://agent.example:0/", "must use port 443, or one from 1024 on"],
    ["https://agent.example:1023/", "must use port 443, or one from 1024 on"],
    ["https://10.0.0.1/", "must not be a loopback, private or link-local address"],
    ["https://db.internal/", "must not be a loopback, private or link-local address"],
    ["no address", "must be an absolute address"],
    ["", "must be an absolute address"],
  ];
  for (const [url, problem] of refused) {
    it(`reports for ${url || "nothing"}: ${problem}`, () => expect(addressProblem(url)).to.equal(problem));
  }

  for (const url of [
    "https://agent.example/v1",
    "https://agent.example./v1",
    "https://agent.example:443/",
    "https://agent.example:8443/",
    "https://agent.example:1024/",
    "https://notlocal.example/",
    "https://local.example/",
    "https://8.8.8.8/",
    "https://[2606:4700::1111]/",
    "https://bücher.example/",
    "https://127.0.0.1.nip.io/", // An ordinary name. Its IP address is checked at each call.
  ]) {
    it(`accepts ${url}`, () => expect(addressProblem(url)).to.equal(undefined));
  }

  it("refuses every IPv4 address, public or private, in an IPv6 form", () => {
    fc.assert(
      fc.property(fc.ipV4(), (ip) => {
        const [a = 0, b = 0, c = 0, d = 0] = ip.split(".").map(Number);
        const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
        for (const form of [
          `::ffff:${hex}`,
          `::ffff:0:${hex}`,
          `64:ff9b::${hex}`,
          `2002:${hex}::`,
          `::${hex}`,
        ]) {
          expect(isPublicAddress(form), form).to.equal(false);
        }
      }),
      { numRuns: 200, seed: 20261122 },
    );
  });

  it("looks up a host in lower case, without brackets and without its final dot", () => {
    for (const [url, host] of [
      ["https://Agent.Example./v1", "agent.example"],
      ["https://[2606:4700::ABCD]:8443/", "2606:4700::abcd"],
      ["https://8.8.8.8/", "8.8.8.8"],
      ["other://Agent.Example/", "agent.example"],
    ] as const)
      expect(hostOf(new URL(url)), url).to.equal(host);
    expect(["8.8.8.8", "::1", "agent.example"].map(isAddressLiteral)).to.deep.equal([true, true, false]);
    expect(["agent.example", "8.8.8.8", "::1", "db", "x.local"].map(isPublicHost)).to.deep.equal([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it("asks the library of addresses about no name, because the library is slow with names", () => {
    const { isValid } = ipaddr;
    const asked: string[] = [];
    const counted = (host: string) => {
      asked.push(host);
      return isValid(host);
    };
    const literals = ["8.8.8.8", "127.1", "0x7f.1", "2130706433", "::1", "::ffff:8.8.8.8"];
    try {
      Object.assign(ipaddr, { isValid: counted });
      const hosts = ["agent.example", "1.example", "db", "", ...literals, "agent.1"];
      expect(hosts.filter((host) => isAddressLiteral(host))).to.deep.equal(literals);
    } finally {
      Object.assign(ipaddr, { isValid });
    }
    expect(asked).to.deep.equal([...literals, "agent.1"]);
  });

  it("refuses text that is not an IP address", () => {
    for (const text of ["", "localhost", "1.2.3", "::g", "fe80::1%eth0"]) {
      expect(isPublicAddress(text), text).to.equal(false);
    }
  });
});
