import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { parse } from "yaml";
import { ponderProgram, ponderSettings } from "../../scripts/processes/ponderProgram.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";

const read = (file: string) => readFileSync(path.join(repositoryRoot, file), "utf8");

type Service = {
  image?: string;
  build?: string;
  command?: string[];
  environment?: Record<string, string>;
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
  read_only?: boolean;
  cap_drop?: string[];
  ports?: string[];
};

describe("docs/operators.md", () => {
  it("names figures that Ponder and we measure, and settings that are there", () => {
    const text = read("docs/operators.md");
    const measured = [
      read("node_modules/ponder/dist/esm/internal/metrics.js"),
      read("indexer/src/api/metrics.ts"),
      read("settlement/metrics.ts"),
    ].join("\n");
    for (const [name] of text.matchAll(/(?:ponder|tallystick)_[a-z]+_[a-z_]*[a-z]/g)) {
      if (name.startsWith("tallystick_live") || name.startsWith("tallystick_v")) continue;
      expect(measured, name).to.contain(name.replace(/^tallystick_/, ""));
    }
    const settings = read(".env.example");
    for (const [, name = ""] of text.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g)) {
      expect(settings, name).to.match(new RegExp(`^#?${name}=`, "m"));
    }
  });
});

describe("the container files", () => {
  const compose = parse(read("compose.yaml"), { merge: true }) as { services: Record<string, Service> };
  const services = Object.entries(compose.services);
  const ours = services.filter(([, service]) => service.build !== undefined);
  /** What the image holds besides packages. */
  const copied = [...read("Dockerfile").matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = ""]) =>
    names.split(" "),
  );

  it("start settlement, one indexer and API replicas as the tests do without containers", () => {
    expect(ours.map(([name]) => name)).to.deep.equal(["settlement", "indexer", "api"]);
    const listens = { hostname: "0.0.0.0", port: 42_069 };
    const command = (name: string) => compose.services[name]?.command ?? [];
    expect(command("postgres")).to.deep.equal(["postgres", "-c", "random_page_cost=1.1"]);
    expect(command("settlement")).to.deep.equal(["node", "settlement/main.ts"]);
    expect(command("indexer")).to.deep.equal(["node", ...ponderProgram("start", listens)]);
    expect(command("api")).to.deep.equal(["node", ...ponderProgram("serve", listens)]);
    for (const [name, value] of Object.entries(ponderSettings)) {
      expect(read("Dockerfile")).to.match(new RegExp(`^ENV .*\\b${name}=${value}\\b`, "m"));
    }
    for (const [, { command: words = [] }] of ours) {
      const folder = words.find((it) => it.includes("/"))?.split("/")[0];
      expect(copied).to.include(folder === "node_modules" ? "package.json" : folder);
    }
  });

  it("run nothing of ours as root, and nothing without a health check", () => {
    expect(read("Dockerfile")).to.match(/^USER node$/m);
    for (const [name, service] of services) {
      expect(service.healthcheck?.test, name).to.have.length.above(1);
      if (name === "postgres") continue;
      expect(service, name).to.deep.include({ read_only: true, cap_drop: ["ALL"] });
    }
    for (const port of services.flatMap(([, it]) => it.ports ?? [])) expect(port).to.match(/^127\.0\.0\.1:/);
  });

  it("set only what the processes read", () => {
    const known = ["settlement/config.ts", "indexer/config.ts"].map(read).join("\n");
    for (const [name, { environment = {} }] of ours) {
      for (const variable of Object.keys(environment)) {
        expect(known, `${name} ${variable}`).to.match(new RegExp(`^ {2}${variable}: `, "m"));
      }
    }
  });

  it("copy everything that the processes import, and install every package", () => {
    const { dependencies } = JSON.parse(read("package.json")) as { dependencies: Record<string, string> };
    const folders = copied.filter((name) => !name.includes("."));
    expect(folders).to.deep.equal(["protocol", "settlement", "indexer"]);
    const files = folders.flatMap((folder) =>
      readdirSync(path.join(repositoryRoot, folder), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts") && !file.includes("node_modules"))
        .map((file) => path.join(folder, file)),
    );
    for (const file of [...files, "ponder.config.ts"]) {
      for (const [, from = ""] of read(file).matchAll(/^(?:import|export)\b[^"';]*?\bfrom "([^"]+)";$/gm)) {
        if (from.startsWith("node:") || from.startsWith("ponder:")) continue;
        if (from.startsWith(".")) {
          const [top = ""] = path
            .relative(repositoryRoot, path.resolve(repositoryRoot, path.dirname(file), from))
            .split("/");
          expect([...folders, "ponder.config.ts"], `${file} imports ${from}`).to.include(top);
          continue;
        }
        const name = from
          .split("/")
          .slice(0, from.startsWith("@") ? 2 : 1)
          .join("/");
        expect(Object.keys(dependencies), `${file} imports ${from}`).to.include(name);
      }
    }
  });
});
