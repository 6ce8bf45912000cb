import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle, runNode } from "./ours.ts";
import { median } from "./peer.ts";
import type { Result, Row } from "./table.ts";

interface Figures {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly memory: number;
}

const rounds = 7;
const child = join(import.meta.dirname, "import-child.mjs");

/**
 * What importing the runtime takes over a bare Node process: from its sources, as while developing,
 * and from a bundle, as shipped.
 */
export async function run(): Promise<Result> {
  const cache = await mkdtemp(join(tmpdir(), "windlass-bench-"));
  try {
    const sources = "@windlass/runtime";
    const bundled = await bundle(fileURLToPath(import.meta.resolve(sources)), "runtime");
    const rows: Row[] = [];
    for (const [what, module] of [
      ["from sources, compile cache warm", sources],
      ["from a bundle", bundled],
    ] as const) {
      const environment = module === sources ? { NODE_COMPILE_CACHE: cache } : {};
      const measure = () => runNode([child, module], environment) as Promise<Figures>;
      // The first fills the compile cache.
      await measure();
      const figures: Figures[] = [];
      for (let round = 0; round < rounds; round++) figures.push(await measure());
      const row = (name: string, unit: string, of: (one: Figures) => number): Row => ({
        what: `import, ${what}: ${name}`,
        unit,
        ours: median(figures.map(of)),
        better: "less",
      });
      rows.push(
        row("time", "ms", ({ wallMs }) => wallMs),
        row("CPU", "ms", ({ cpuMs }) => cpuMs),
        row("resident memory", "MB", ({ memory }) => memory / 1e6),
      );
    }
    return {
      name: "import",
      peer: "–",
      rows,
      notes: [
        `Medians of ${rounds}, over what a bare Node process takes. The aim is under 150 ms and 40 MB.`,
      ],
    };
  } finally {
    await rm(cache, { recursive: true, force: true });
  }
}
