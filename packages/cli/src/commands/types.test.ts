import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@windlass/client";
import { ControlPlane } from "@windlass/control-plane";
import { defineResource } from "@windlass/runtime";
import { CustomResourceDefinition } from "@windlass/runtime/kinds";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { windlass } from "../program.ts";
import { runProgram } from "../run.ts";
import { recordingTerminal } from "../terminal.fixture.ts";

const kindNamed = (kind: string) =>
  defineResource({
    group: "acme.io",
    version: "v1",
    kind,
    spec: z.object({ size: z.int32().default(3), owner: z.string() }),
  });
const Ticket = kindNamed("Ticket");
const Queue = kindNamed("Queue");

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "windlass-types-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function types(options: Parameters<typeof recordingTerminal>[0], ...args: readonly string[]) {
  const terminal = recordingTerminal({ folder, ...options });
  const code = await runProgram(windlass, ["types", ...args], terminal);
  return { code, said: terminal.said(), complained: terminal.complained() };
}

test("a CRD in a file becomes TypeScript that imports from the runtime", async () => {
  await writeFile(join(folder, "crd.json"), JSON.stringify(Ticket.crd()));
  const { code, said } = await types({}, "crd.json");
  expect(code).toBe(0);
  expect(said).toMatch(/^import type \{ [\w, ]+ \} from "@windlass\/runtime";$/m);
  expect(said).toContain('export const Ticket: ResourceKind<Ticket, TicketInput, "Namespaced"> = ');
  expect(said).toContain("readonly size?: number | undefined;");
});

test("several CRDs, be they documents or items of a list, become a file each", async () => {
  const list = {
    apiVersion: "v1",
    kind: "List",
    items: [Ticket.crd(), { apiVersion: "v1", kind: "Secret" }],
  };
  const piped = `${JSON.stringify(list)}\n---\n${JSON.stringify(Queue.crd())}\n`;
  const { code, said } = await types({ piped }, "-", "--output", "kinds");
  expect({ code, said }).toEqual({ code: 0, said: "kinds/ticket.ts\nkinds/queue.ts\n" });
  expect((await readdir(join(folder, "kinds"))).toSorted()).toEqual(["queue.ts", "ticket.ts"]);
  expect(await readFile(join(folder, "kinds", "queue.ts"), "utf8")).toContain("export const Queue");
});

test("kinds of one name go into files of their own, with their groups", async () => {
  const other = defineResource({ group: "other.io", version: "v1", kind: "Ticket", spec: z.object({}) });
  const piped = [Ticket.crd(), other.crd(), Queue.crd()].map((one) => JSON.stringify(one)).join("\n---\n");
  const { said } = await types({ piped }, "-", "--output", "kinds");
  expect(said).toBe("kinds/ticket.acme.io.ts\nkinds/ticket.other.io.ts\nkinds/queue.ts\n");
  expect(await readFile(join(folder, "kinds", "ticket.other.io.ts"), "utf8")).toContain('"other.io"');
});

test("the CRDs of a cluster are found by name", async () => {
  await using plane = await ControlPlane.start();
  await plane.listen();
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, await plane.kubeconfig());
  await new Client({ transport: plane.connect() }).create(CustomResourceDefinition, Ticket.crd());
  const env = { KUBECONFIG: kubeconfig };

  const { code, said } = await types({ env }, "--cluster", "tickets.acme.io");
  expect(code).toBe(0);
  expect(said).toContain("export const Ticket: ");

  const missing = await types({ env }, "--cluster", "queues.acme.io");
  expect(missing.code).toBe(1);
  expect(missing.complained).toContain("the cluster has no CustomResourceDefinition queues.acme.io");
});

test.for([
  [[], 2, "say from where"],
  [["nowhere.yaml"], 1, "there is no "],
  [["."], 1, /windlass-types-\w+ is a folder, not a file/],
  [["crd.json", "--output", "C:\\kinds"], 2, "with slashes"],
  [["empty.yaml"], 1, "empty.yaml: there is no CustomResourceDefinition"],
  [["crd.json", "--version", "v7"], 1, "Ticket has no version v7: there are v1"],
  [["crd.json", "crd.json"], 2, "there are 2 kinds"],
] as const)("what cannot be read is explained: %j", async ([args, expected, words]) => {
  await writeFile(join(folder, "crd.json"), JSON.stringify(Ticket.crd()));
  await writeFile(join(folder, "empty.yaml"), "kind: Secret\n");
  const { code, said, complained } = await types({}, ...args);
  expect({ code, said }).toEqual({ code: expected, said: "" });
  expect(complained).toMatch(words);
  expect(complained).not.toContain("    at ");
});

test("a definition from elsewhere is written into the folder or not at all", async () => {
  const definition = Ticket.crd();
  for (const kind of ["../../ticket", "/ticket", "a/b"]) {
    const names = { ...definition.spec.names, kind };
    const piped = JSON.stringify({ ...definition, spec: { ...definition.spec, names } });
    const { code, complained } = await types({ piped }, "-", "--output", "kinds/deep");
    expect(code).toBe(1);
    expect(complained).toContain("spec.names.kind: must be letters, digits and dashes");
  }
  expect(await readdir(folder)).toEqual([]);
});

const definition = "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\n";
test.for([
  ["a: [", "neither YAML nor JSON"],
  [`${definition}spec: {names: {kind: X}, versions: [null]}`, "spec.versions[0].name: must be"],
  [`${definition}spec: {names: {kind: X}, versions: []}`, "spec.versions: must list at least one version"],
  [
    `${definition}spec: {names: {kind: X}, versions: [{name: v1, schema: {openAPIV3Schema: {items: [1]}}}]}`,
    "spec.versions[0].schema.openAPIV3Schema.items: must be a schema",
  ],
  ["kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\n", "has no spec.names.kind"],
] as const)("what is no definition is refused in words: %j", async ([piped, words]) => {
  const terminal = recordingTerminal({ piped });
  expect(await runProgram(windlass, ["types", "-"], terminal)).toBe(1);
  expect(terminal.complained()).toContain(words);
  expect(terminal.complained()).not.toContain("    at ");
});
