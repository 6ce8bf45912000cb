import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AnyKind,
  type AnyObject,
  Client,
  findAccess,
  isNotFound,
  openTransport,
} from "@windlass/client";
import {
  CustomResourceDefinition,
  MutatingWebhookConfiguration,
  Namespace,
  ValidatingWebhookConfiguration,
} from "@windlass/runtime/kinds";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadIntoLab } from "../../scripts/packaging/operator-image.ts";
import { root } from "../../scripts/packaging/source-packages.ts";

/** Where the lab's API server reaches this machine. */
const host = process.env.WINDLASS_LAB_HOST ?? "198.18.254.1";
/** An image that has Node. */
const image = "windlass/tunnel:dev";
const namespace = "newcomer-windlass-dev";
const program = join(root, "packages", "cli", "bin", "windlass.js");
const Shop: AnyKind = {
  group: "dev.windlass.dev",
  version: "v1",
  kind: "Shop",
  plural: "shops",
  scope: "Namespaced",
};

let home: string;
let client: Client;

beforeAll(async () => {
  client = new Client({ transport: openTransport(await findAccess()), fieldManager: "dev-lab" });
  await loadIntoLab("webapp", image);
  home = await mkdtemp(join(tmpdir(), "windlass-lab-dev-"));
  await symlink(join(root, "node_modules"), join(home, "node_modules"));
  const created = start(home, "create", "shop", "--yes", "--group", Shop.group);
  await once(created.process, "exit");
  const folder = join(home, "shop");
  await rm(join(folder, "config", "samples"), { recursive: true });
  await writeFile(
    join(folder, "src", "webhooks.ts"),
    `import { invalid, webhookServer } from "@windlass/runtime";
     import { Shop } from "./kind.ts";
     export const webhooks = webhookServer({ name: "windlass-lab-dev" })
       .default(Shop, (shop) => ({ ...shop, spec: { ...shop.spec, replicas: 3 } }))
       .validate(Shop, ({ spec }) => (spec.image.includes(":") ? [] : invalid("spec.image", "must have a tag")));`,
  );
  const main = join(folder, "src", "main.ts");
  const text = await readFile(main, "utf8");
  await writeFile(
    main,
    `import { webhooks } from "./webhooks.ts";\n${text.replace(".run()", ".add(webhooks).run()")}`,
  );
  await mkdir(join(folder, ".windlass"), { recursive: true });
  await client.create(Namespace, { metadata: { name: namespace } });
}, 120_000);

afterAll(async () => {
  const gone = (error: unknown) => {
    if (!isNotFound(error)) throw error;
  };
  await client.delete(Namespace, { name: namespace }).catch(gone);
  await client.delete(CustomResourceDefinition, { name: `${Shop.plural}.${Shop.group}` }).catch(gone);
  await client.close();
  await rm(home, { recursive: true, force: true });
}, 60_000);

/** A command, and what it says. */
function start(
  folder: string,
  ...args: readonly string[]
): { readonly process: ChildProcess; said(): string } {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
  return { process: child, said: () => text };
}

interface CreatedObject extends AnyObject {
  readonly spec?: { readonly replicas?: number };
}

test.for([
  ["by the address of this machine", ["--webhook-host", host]],
  ["through a pod", ["--tunnel", "--tunnel-image", image]],
] as const)(
  "a cluster calls webhooks on this machine %s, and no longer once it ends",
  {
    timeout: 120_000,
  },
  async ([, how]) => {
    const running = start(join(home, "shop"), "dev", "--cluster", "--namespace", namespace, ...how);
    const create = (name: string, tag: string) => {
      const shop = { metadata: { namespace: "default", name }, spec: { image: `pause${tag}` } };
      return client.create(Shop, shop, { dryRun: true });
    };
    try {
      // An API server uses a new configuration about a second later.
      const replicas = async () => {
        const made = await create("good", ":1").catch(() => undefined);
        return (made as CreatedObject | undefined)?.spec?.replicas;
      };
      await expect.poll(replicas, { timeout: 60_000, interval: 250 }).toBe(3);
      await expect(create("bad", "")).rejects.toThrow("spec.image: must have a tag");
    } finally {
      running.process.kill("SIGINT");
      await once(running.process, "exit");
    }
    const name = "windlass-lab-dev";
    await expect(client.get(ValidatingWebhookConfiguration, { name })).rejects.toSatisfy(isNotFound);
    await expect(client.get(MutatingWebhookConfiguration, { name })).rejects.toSatisfy(isNotFound);
    expect(running.said()).toContain(`ValidatingWebhookConfiguration ${name} is as it was`);
  },
);
