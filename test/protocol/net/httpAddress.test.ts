import { expect } from "chai";
import fc from "fast-check";
import { type HttpAddress, readHttpAddress } from "tallystick-protocol/net/httpAddress";

/** What the platform's `URL` says. Only for hosts of which all versions say the same. */
function byUrl(text: string): HttpAddress | undefined {
  const url = URL.parse(text);
  return url === null
    ? undefined
    : { isHttps: url.protocol === "https:", hostname: url.hostname, host: url.host };
}

const scheme = fc.constantFrom("https", "http");
const port = fc.oneof(
  fc.constantFrom("", ":", ":443", ":80", ":0443", ":65535", ":65536", ":0"),
  fc.nat(99_999).map((it) => `:${it}`),
);
const rest = fc.constantFrom("", "/", "/hire", "?a=b", "#a", "/\u6f22/\u3164?\u6f22", "/a@b:c");
const letter = fc.constantFrom(..."abcxyzABCXYZ019-_");
const label = fc.string({ unit: letter, maxLength: 8 });
const isPlain = (name: string) => name !== "" && !/xn--/i.test(name);
const isNumber = (name: string) => /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)\.?$/i.test(name);
const IPV4 = /^(?:(?:0|[1-9][0-9]*)(?:\.(?!$)|$)){4}$/;

const text = (host: fc.Arbitrary<string>) =>
  fc
    .tuple(scheme, host, port, rest)
    .map((parts) => [`${parts[0]}://${parts[1]}${parts[2]}${parts[3]}`, parts[1]] as const);

describe("http addresses", () => {
  it("have the host that URL gives for a name in ASCII, with or without a port", () => {
    const names = fc.array(label, { minLength: 1, maxLength: 4 }).map((it) => it.join("."));
    fc.assert(
      fc.property(text(names.filter(isPlain)), ([address, name]) => {
        const wanted = isNumber(name) && !IPV4.test(name) ? undefined : byUrl(address);
        expect(readHttpAddress(address)).to.deep.equal(wanted);
      }),
      { numRuns: 5_000 },
    );
  });

  it("have the host that URL gives for an IPv4 address of four decimal parts", () => {
    const parts = fc.array(fc.oneof(fc.nat(260), fc.constantFrom(0, 255)), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(text(parts.map((it) => it.join("."))), ([address]) => {
        expect(readHttpAddress(address)).to.deep.equal(byUrl(address));
      }),
      { numRuns: 2_000 },
    );
  });

  it("have the host that URL gives for an IPv6 address, also in odd forms", () => {
    const word = fc.oneof(
      fc.constantFrom(
        "0",
        "0",
        "0000",
        "1",
        "FfFf",
        "",
        "00001",
        "g",
        "1.2.3.4",
        "01.2.3.4",
        "1.2.3",
        "256.1.1.1",
      ),
      fc.nat(0xffff).map((it) => it.toString(16)),
    );
    const separator = fc.constantFrom(":", ":", ":", ":", ":", "::");
    const odd = fc
      .array(fc.tuple(word, separator), { maxLength: 9 })
      .map((parts) => parts.map(([it, between], n) => (n === parts.length - 1 ? it : it + between)).join(""));
    const full = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 });
    const cut = fc.tuple(full, fc.nat(8), fc.nat(8)).map(([words, a, b]) => {
      const hex = words.map((it) => it.toString(16));
      return `${hex.slice(0, Math.min(a, b)).join(":")}::${hex.slice(Math.max(a, b)).join(":")}`;
    });
    const plain = full.map((words) => words.map((it) => it.toString(16)).join(":"));
    fc.assert(
      fc.property(text(fc.oneof(odd, cut, plain).map((it) => `[${it}]`)), ([address]) => {
        expect(readHttpAddress(address)).to.deep.equal(byUrl(address));
      }),
      { numRuns: 10_000 },
    );
  });

  it("keep a xn-- label as it is, whatever stands in it", () => {
    for (const name of ["xn--p8s", "xn--a", "xn--", "xn--ab-7j70c", "a.xn--zzzzzz9999"])
      expect(readHttpAddress(`https://${name.toUpperCase()}.Example:8443/x`)).to.deep.equal({
        isHttps: true,
        hostname: `${name}.example`,
        host: `${name}.example:8443`,
      });
  });

  it("have no host outside of ASCII, no escape, user, password, space or backslash", () => {
    const strange = fc.integer({ min: 0x80, max: 0xffff }).map((code) => String.fromCharCode(code));
    const signs = fc.constantFrom(..."%@!$&'()*+,;=~^|<>{}`\"\\ \t\n\0\u007f");
    fc.assert(
      fc.property(fc.oneof(strange, signs), label, label, (sign, before, after) => {
        expect(readHttpAddress(`https://${before}${sign}${after}.example/`)).to.equal(undefined);
      }),
      { numRuns: 2_000 },
    );
    for (const address of [
      "https:///a.example",
      "https://",
      "HTTPS://a.example",
      "ftp://a.example",
      "https:a.example",
    ])
      expect(readHttpAddress(address), address).to.equal(undefined);
  });
});
