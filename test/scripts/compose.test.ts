import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { KEYS } from "tallystick-protocol/keysOfOthers";
import { parse } from "yaml";
import { indexerVariables } from "../../indexer/config.ts";
import { ponderProgram, ponderSettings } from "../../scripts/processes/ponderProgram.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { auditingVariables } from "../../services/auditing/config.ts";
import { dispatchVariables, vendorKeys } from "../../services/dispatch/config.ts";
import { notifierVariables } from "../../services/notifying/config.ts";
import { proberVariables } from "../../services/probing/config.ts";
import { settlementVariables } from "../../services/settlement/config.ts";
import { mirrorVariables } from "../../services/settlement/mirror/mirrorConfig.ts";
import { witnessVariables } from "../../services/witness/config.ts";

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
  volumes?: string[];
  profiles?: string[];
};

describe("docs/operators.md", () => {
  it("names only existing metrics and settings", () => {
    const text = read("docs/operators.md");
    const measured = [
      read("node_modules/ponder/dist/esm/internal/metrics.js"),
      read("indexer/api/metrics.ts"),
      read("indexer/relevant/transferMetrics.ts"),
      read("services/settlement/metrics.ts"),
      read("services/probing/metrics.ts"),
      read("services/auditing/metrics.ts"),
      read("services/notifying/metrics.ts"),
      read("services/settlement/mirror/mirrorMetrics.ts"),
      read("packages/runtime/http/measureRoutes.ts"),
    ].join("\n");
    for (const [name] of text.matchAll(/(?:ponder|tallystick)_[a-z]+_[a-z_]*[a-z]/g)) {
      if (name.startsWith("tallystick_live") || name.startsWith("tallystick_v")) continue;
      expect(measured, name).to.contain(name.replace(/^tallystick_((prober|mirror)_)?/, ""));
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
  /** The files of the image besides packages. */
  const copied = [...read("Dockerfile").matchAll(/^COPY (?!--from|packages\/)(.+) \S+$/gm)].flatMap(
    ([, names = ""]) => names.split(" "),
  );

  it("start every process with the command that the tests use without containers", () => {
    expect(ours.map(([name]) => name)).to.deep.equal([
      ...["settlement", "indexer", "api", "prober", "dispatch", "auditing", "notifying", "mirror", "witness"],
    ]);
    const listens = { hostname: "0.0.0.0", port: 42_069 };
    const command = (name: string) => compose.services[name]?.command ?? [];
    expect(command("postgres")).to.deep.equal(["postgres", "-c", "random_page_cost=1.1"]);
    expect(command("settlement")).to.deep.equal(["node", "services/settlement/main.ts"]);
    expect(command("prober")).to.deep.equal(["node", "services/probing/main.ts"]);
    expect(compose.services.prober).to.deep.include({ profiles: ["prober"] });
    expect(command("auditing")).to.deep.equal(["node", "services/auditing/main.ts"]);
    expect(command("dispatch")).to.deep.equal(["node", "services/dispatch/main.ts"]);
    expect(command("notifying")).to.deep.equal(["node", "services/notifying/main.ts"]);
    expect(command("witness")).to.deep.equal(["node", "services/witness/main.ts"]);
    const [program, file, source, ...rest] = command("mirror");
    expect([program, file, rest]).to.deep.equal(["node", "services/settlement/mirror/main.ts", []]);
    expect(source).to.match(/^\$\{MIRROR_SOURCE:-http:\/\/settlement:42070\}$/);
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

  it("run no process of ours as root, and none without a health check", () => {
    expect(read("Dockerfile")).to.match(/^USER node$/m);
    for (const [name, service] of services) {
      expect(service.healthcheck?.test, name).to.have.length.above(1);
      if (name === "postgres") continue;
      expect(service, name).to.deep.include({ read_only: true, cap_drop: ["ALL"] });
    }
    for (const port of services.flatMap(([, it]) => it.ports ?? [])) expect(port).to.match(/^127\.0\.0\.1:/);
  });

  it("can write into all their volumes", () => {
    const [, made = ""] = /^RUN mkdir -p (.+) && chown -R node:node \/data /m.exec(read("Dockerfile")) ?? [];
    // Docker gives a new volume to the owner of the folder in the image, or to root if the image has no such
    // folder.
    const written = ours.flatMap(([, { volumes = [] }]) => volumes.filter((it) => /^[a-z]+:/.test(it)));
    expect(written).to.have.length.above(6);
    for (const volume of written) expect(made.split(" ")).to.include(volume.split(":")[1]);
  });

  it("give each process the settings that it reads, and no others", () => {
    const reads: Record<string, readonly string[]> = {
      settlement: settlementVariables,
      indexer: indexerVariables,
      api: indexerVariables,
      prober: proberVariables,
      auditing: auditingVariables,
      notifying: notifierVariables,
      mirror: mirrorVariables,
      witness: witnessVariables,
      dispatch: [...dispatchVariables, ...vendorKeys],
    };
    // The default of KEYS_FILE is a file beside the ledger, in the ledger's volume. Ponder gets its port by --port.
    const leftOut = ["KEYS_FILE", "INDEXER_PORT"];
    for (const [name, service] of ours) {
      expect(service, `${name} would be given every key in .env`).to.not.have.property("env_file");
      const wanted = reads[name]?.filter((it) => !leftOut.includes(it)) ?? [];
      expect(Object.keys(service.environment ?? {}), name).to.have.members(wanted);
      // A variable without a value here is taken from .env. No variable here may be a key of another process. A replica
      // gets the indexer's key, because it answers as the indexer does.
      for (const variable of Object.keys(service.environment ?? {}).filter((it) => it in KEYS))
        expect(`${KEYS[variable]} ${variable}`).to.equal(`${name === "api" ? "indexer" : name} ${variable}`);
    }
    expect(JSON.stringify(compose.services.balancer)).to.not.match(/env_file|environment/);
    expect(Object.keys(compose.services.postgres?.environment ?? {})).to.not.include("DATABASE_URL");
  });

  it("let the operator, and nobody else, scrape the metrics of every process, also of replicas", () => {
    type Scrape = { dns_sd_configs: { names: string[]; type: string; port: number }[] };
    const { scrape_configs: jobs } = parse(read("deploy/prometheus.yml")) as { scrape_configs: Scrape[] };
    const targets = jobs.flatMap((job) => job.dns_sd_configs.flatMap(({ names, port }) => [...names, port]));
    expect(targets).to.deep.equal([
      ...["settlement", 42_070, "indexer", 42_069, "api", 42_069],
      ...["prober", 42_074, "auditing", 42_073, "notifying", 42_075, "dispatch", 42_076],
      ...["mirror", 42_077, "witness", 42_072],
    ]);
    expect(compose.services.prometheus).to.deep.include({ profiles: ["metrics"] });
    const mounted = (compose.services.prometheus?.volumes ?? []).map((it) => it.split(":")[0]);
    expect(mounted).to.include.members(["./deploy/prometheus.yml", "./deploy/alerts.yml"]);
    // nginx refuses access from outside.
    expect(read("deploy/nginx.conf")).to.match(/location = \/metrics \{\s+deny all;/);
  });

  it("copy all files that the processes import, and install every package", () => {
    const packages = readdirSync(path.join(repositoryRoot, "packages"));
    /** The names that a file may import: those in its own manifest, and the packages of the workspace. */
    const namesFor = (file: string): string[] => {
      const own = file.startsWith("packages/") ? `${file.split("/").slice(0, 2).join("/")}/` : "";
      const {
        dependencies,
        peerDependencies = {},
        imports = {},
      } = JSON.parse(read(`${own}package.json`)) as {
        [kind: string]: Record<string, string>;
      };
      // The root installs peer dependencies. A name that begins with # is a file of the same package.
      const names = Object.keys({ ...dependencies, ...peerDependencies, ...imports });
      return [...names, ...(own === "" ? packages.map((it) => `tallystick-${it}`) : [])];
    };
    // Without its manifest npm does not link a package.
    const manifests = [
      ...read("Dockerfile").matchAll(/^COPY packages\/(\w+)\/package\.json \.\/packages\/\1\/$/gm),
    ];
    expect(manifests.map(([, name]) => name)).to.have.members(packages);
    const folders = [...new Set(copied.filter((name) => !name.includes(".")))];
    expect(folders).to.have.members(["packages", "portal", "services", "indexer", "scripts", "docs"]);
    // A file outside of the build's context cannot be copied.
    for (const name of copied) expect(read(".dockerignore").split("\n")).to.include(`!${name}`);
    /** Left out of the build's context. */
    const leftOut = read(".dockerignore")
      .split("\n")
      .filter((line) => /^[a-z]/.test(line));
    const files = folders.flatMap((folder) =>
      readdirSync(path.join(repositoryRoot, folder), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts") && !file.includes("node_modules"))
        .map((file) => path.join(folder, file))
        .filter((file) => !leftOut.some((it) => file === it || file.startsWith(`${it}/`))),
    );
    expect(leftOut).to.include.members(["packages/sdk/examples", "scripts/ignition"]);
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
        expect(namesFor(file), `${file} imports ${from}`).to.include(name);
      }
    }
  });

  it("limit the open requests of one client, its requests in a second, and the time of one request to half a minute", () => {
    const text = read("deploy/nginx.conf");
    const server = text.slice(text.indexOf("server {"), text.indexOf("location "));
    expect(server).to.match(/limit_conn clients 256;\s+limit_conn_status 429;/);
    expect(server).to.match(/limit_req zone=requests burst=1000 nodelay;\s+limit_req_status 429;/);
    const rate = Number(/limit_req_zone \$client zone=requests:10m rate=(\d+)r\/s;/.exec(text)?.[1]);
    // The two shipped replicas serve a client at most this many requests in a second. nginx must allow as many.
    const replicas = 2;
    expect(rate).to.be.at.least((replicas * 6_000) / 60);
    expect(server).to.match(/client_header_timeout 30s;\s+client_body_timeout 30s;/);
    expect(text).to.contain("limit_conn_zone $client zone=clients:").and.to.contain("add_header Retry-After");
    const patterns = [...text.matchAll(/^ {2}"~(\*?)(.+)" \$(\w+);$/gm)].map(
      ([, any, source = "", name = ""]) => ({ pattern: new RegExp(source, any ? "i" : ""), name }),
    );
    expect(patterns).to.have.length(2);
    const clientOf = (forwardedFor: string) => {
      for (const { pattern, name } of patterns) {
        const found = pattern.exec(forwardedFor)?.groups?.[name];
        if (found !== undefined) return found;
      }
      return "the peer";
    };
    // The values that a client sends come before those that the proxy adds.
    expect(clientOf("1.1.1.1, 203.0.113.7")).to.equal("203.0.113.7");
    expect(clientOf("203.0.113.7")).to.equal("203.0.113.7");
    expect(clientOf("1.1.1.1,2001:DB8:1:2:3:4:5:6")).to.equal("2001:DB8:1:2");
    expect(clientOf("2001:db8:1:2::6")).to.equal("2001:db8:1:2");
    expect(clientOf("2001:db8::6")).to.equal("2001:db8");
    for (const odd of ["", "unknown", "1.1.1.1, unknown"]) expect(clientOf(odd)).to.equal("the peer");
  });

  it("send an upgrade to only one replica, and any other request to at most two", () => {
    const text = read("deploy/nginx.conf").replaceAll(/#.*$/gm, "");
    const locations = [...text.matchAll(/location\s+([^{]+?)\s*\{([^}]*)\}/g)].map(([, name, body]) => ({
      name,
      body: body ?? "",
    }));
    const server = locations.reduce((rest, { body }) => rest.replace(body, ""), text);
    const passing = locations.filter(({ body }) => body.includes("proxy_pass"));
    expect(passing.map(({ name }) => name)).to.deep.equal(["/", "= /v1/stream"]);
    for (const { name, body } of passing) {
      // A location with its own headers inherits none from the server.
      const headers = body.includes("proxy_set_header") ? body : server;
      const upgrades = !/proxy_set_header Upgrade "";/.test(headers);
      expect(upgrades, name).to.equal(name === "= /v1/stream");
      expect(body).to.match(
        upgrades
          ? /proxy_next_upstream off;/
          : /proxy_next_upstream error timeout;\s+proxy_next_upstream_tries 2;/,
      );
      expect(headers).to.contain("proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;");
    }
  });
});
