/**
 * Records what the control plane must know of a Kubernetes version, from a running kube-apiserver
 * of that version and from the Go modules it was built of. The next version is one run away:
 *
 * node packages/control-plane/scripts/generate.ts --kubeconfig FILE [--output DIRECTORY]
 *
 * The server should run with its default feature gates and API groups; custom resources in it are
 * ignored. `go` must be on the path: module sources come through `go mod download`, so GOPROXY and
 * GOFLAGS apply. The same server gives the same bytes, so a run that changes nothing leaves no
 * difference behind.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import type { RecordedGoPackage, RecordedGoTypes } from "@windlass/kinds/go-types";
import { openCluster } from "./generate/cluster.ts";
import { recordColumns } from "./generate/columns.ts";
import { recordDescriptions } from "./generate/descriptions.ts";
import { checkAgainstProto, packageId, readGoPackage } from "./generate/go-source.ts";
import { recordKinds } from "./generate/kinds.ts";
import { recordSchemas } from "./generate/schemas.ts";

const usage = `usage: generate.ts --kubeconfig FILE [--output DIRECTORY]

Records discovery, schemas, printer columns, Go shapes and protobuf numbers of a running kube-apiserver.

  --kubeconfig FILE    how to reach it (default: $KUBECONFIG)
  --output DIRECTORY   where the data goes (default: the package's own data folder)
  --help               print this
`;

const { values } = parseArgs({
  options: {
    kubeconfig: { type: "string" },
    output: { type: "string" },
    help: { type: "boolean" },
  },
});
const kubeconfig = values.kubeconfig ?? process.env.KUBECONFIG;
if (values.help || !kubeconfig) {
  process.stdout.write(usage);
  process.exit(values.help ? 0 : 1);
}
const output = values.output ?? join(import.meta.dirname, "../data");
const goTypesFile = values.output
  ? join(values.output, "go-types.json")
  : join(import.meta.dirname, "../../kinds/src/generated/go-types.json");

using cluster = openCluster(kubeconfig);
const version = (await cluster.get("/version")) as {
  readonly gitVersion: string;
  readonly major: string;
  readonly minor: string;
  readonly minCompatibilityMajor: string;
  readonly minCompatibilityMinor: string;
};
const groups = await recordKinds(cluster);
const schemas = await recordSchemas(cluster, groups);
const columns = await recordColumns(cluster, groups);

const schemaFolder = join(output, "schemas");
mkdirSync(schemaFolder, { recursive: true });
for (const file of readdirSync(schemaFolder)) rmSync(join(schemaFolder, file));
write("kinds.json.gz", {
  version: {
    gitVersion: version.gitVersion,
    major: version.major,
    minor: version.minor,
    minCompatibilityMajor: version.minCompatibilityMajor,
    minCompatibilityMinor: version.minCompatibilityMinor,
  },
  groups,
});
write("columns.json.gz", columns);
write("descriptions.json.gz", await recordDescriptions(cluster));
// Not read by the server: what its own documents are compared with in a test.
write("discovery-golden.json.gz", await recordDiscovery());
for (const [id, recorded] of schemas) {
  write(`schemas/${id}.json.gz`, { prefix: recorded.prefix, types: sorted(recorded.types) });
}
const packages: { [id: string]: RecordedGoPackage } = {};
for (const { directory, path } of goPackages(version.gitVersion)) {
  const read = readGoPackage(directory, path);
  checkAgainstProto(directory, path, read.types);
  packages[packageId(path)] = { types: sorted(read.types), wrapped: read.wrapped };
}
const goTypes: RecordedGoTypes = {
  major: Number(version.major),
  minor: Number(version.minor),
  groups: Object.fromEntries(
    groups.map(({ name }) => [name, name === "" ? "core" : (name.split(".", 1)[0] ?? name)]),
  ),
  packages: sorted(packages),
};
// One type to a line: a new version shows what it changed.
writeFileSync(goTypesFile, `${JSON.stringify(goTypes, null, 1).replaceAll(/\n {5,}/g, " ")}\n`);

/** The real server's aggregated documents, without groups that are not its own. */
async function recordDiscovery(): Promise<{ [root: string]: unknown }> {
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const recorded: { [root: string]: unknown } = {};
  for (const root of ["/api", "/apis"]) {
    const document = (await cluster.get(root, accept)) as { items: { metadata: { name?: string } }[] };
    const items = document.items.filter(({ metadata }) => {
      return groups.some((group) => group.name === (metadata.name ?? ""));
    });
    recorded[root] = { ...document, items };
  }
  return recorded;
}

/** The Go packages whose types appear in what the server serves, with where their sources lie. */
function goPackages(gitVersion: string): { directory: string; path: string }[] {
  const moduleVersion = gitVersion.replace(/^v1\./, "v0.").replace(/[-+].*$/, "");
  const modules = ["api", "apimachinery", "apiextensions-apiserver", "kube-aggregator"].map(
    (name) => `k8s.io/${name}`,
  );
  const downloaded = execFileSync(
    "go",
    ["mod", "download", "-json", ...modules.map((name) => `${name}@${moduleVersion}`)],
    { cwd: tmpdir(), encoding: "utf8" },
  );
  const roots = new Map(
    [...downloaded.matchAll(/"Path": "([^"]+)"[\s\S]*?"Dir": "([^"]+)"/g)].map((match) => [
      match[1],
      match[2] ?? "",
    ]),
  );
  // Quantity, IntOrString and RawExtension marshal themselves: their packages hold nothing else of
  // use.
  const paths = [...schemas]
    .filter(([id]) => !["resource", "intstr", "runtime"].includes(id))
    .map(([, { prefix }]) => goPath(prefix, modules));
  return [...new Set(paths)].sort().flatMap((path) => {
    const module = modules.find((name) => path.startsWith(`${name}/`));
    const directory = join(roots.get(module) ?? "", path.slice(module?.length ?? 0));
    return module && existsSync(directory) ? [{ directory, path }] : [];
  });
}

/**
 * `io.k8s.kube-aggregator.pkg.apis.apiregistration.v1` is published by
 * `k8s.io/kube-aggregator/pkg/apis/apiregistration/v1`.
 */
function goPath(prefix: string, modules: readonly string[]): string {
  const path = prefix
    .replace(/^io\.k8s\./, "k8s.io/")
    .replaceAll(".", "/")
    .replace("k8s/io", "k8s.io");
  return modules.some((name) => path.startsWith(name)) ? path : prefix;
}

function sorted<T>(record: { readonly [name: string]: T }): { [name: string]: T } {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function write(name: string, content: unknown): void {
  const zipped = gzipSync(JSON.stringify(content), { level: 9 });
  // The header's operating system byte is the only one that depends on the machine.
  zipped[9] = 255;
  writeFileSync(join(output, name), zipped);
}
