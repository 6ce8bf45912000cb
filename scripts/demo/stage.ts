import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type AnyKind, Client, type ObjectOf } from "@windlass/client";
import type { ControlPlane } from "@windlass/control-plane";
import type { Logger } from "@windlass/runtime";
import { loadAll } from "js-yaml";

/** One operator's part of the demo. */
export interface DemoPart {
  /** What `npm start -- NAME` chooses it by. */
  readonly name: string;
  /** One line for `--help`. */
  readonly summary: string;
  /** Starts the operator, applies its samples and shows what happens. */
  start(stage: Stage): Promise<RunningPart>;
}

export interface RunningPart {
  /** Resolves once everything that the part shows has worked. Rejects if it cannot any more. */
  readonly ready: Promise<void>;
  /** Resolves once everything has stopped after the stage's signal was aborted. */
  readonly stopped: Promise<void>;
}

/** What the demo hands to each of its parts. */
export class Stage {
  readonly #began: number;
  readonly plane: ControlPlane;
  /** Aborted when the demo ends. */
  readonly signal: AbortSignal;
  /** The demo's own client: it applies samples and watches. */
  readonly client: Client;

  constructor(plane: ControlPlane, signal: AbortSignal, began = performance.now()) {
    this.#began = began;
    this.plane = plane;
    this.signal = signal;
    this.client = this.clientOf("windlass-demo");
  }

  /** A client of the control plane for an operator. */
  clientOf(fieldManager: string): Client {
    return new Client({ transport: this.plane.connect(), fieldManager });
  }

  /** The same stage on another control plane, for a part that needs one of its own. */
  on(plane: ControlPlane): Stage {
    return new Stage(plane, this.signal, this.#began);
  }

  get elapsedMs(): number {
    return performance.now() - this.#began;
  }

  say(what: string, words: string): void {
    const seconds = (this.elapsedMs / 1_000).toFixed(3).padStart(7);
    process.stdout.write(`${seconds}  ${what.padEnd(14)} ${words}\n`);
  }

  /**
   * Prints one line when an object appears, changes in what `describe` says of it, or is deleted.
   * Ends with the stage's signal. Objects of which `describe` says nothing are left out.
   */
  async follow<K extends AnyKind>(
    kind: K,
    describe: (object: ObjectOf<K>) => string | undefined,
    options: { readonly namespace?: string } = {},
  ): Promise<void> {
    const last = new Map<string, string>();
    try {
      for await (const event of this.client.watch(kind, { ...options, signal: this.signal })) {
        if (event.type === "BOOKMARK" || event.type === "ERROR") continue;
        const { name } = event.object.metadata;
        const words = event.type === "DELETED" ? "deleted" : describe(event.object);
        if (words === undefined || last.get(name) === words) continue;
        last.set(name, words);
        this.say(kind.kind.toLowerCase(), `${name}: ${words}`);
      }
    } catch (error) {
      if (!this.signal.aborted) throw error;
    }
  }

  /**
   * The demo shows what happens by itself. Of a manager's log it prints warnings and errors alone.
   */
  readonly log: Logger = warningsAlone();
}

/** An object as it is written in a sample. */
export interface Sample {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/**
 * The objects of every YAML file in an operator's folder of samples, in the order of the files'
 * names.
 */
export async function readSamples(operator: string): Promise<Sample[]> {
  const folder = join(import.meta.dirname, "..", "..", "operators", operator, "config", "samples");
  const files = (await readdir(folder)).filter(
    (file) => file.endsWith(".yaml") && file !== "kustomization.yaml",
  );
  const texts = await Promise.all(files.sort().map((file) => readFile(join(folder, file), "utf8")));
  return texts.flatMap((text) => loadAll(text) as Sample[]);
}

function warningsAlone(): Logger {
  const nothing = () => undefined;
  const print = (...words: unknown[]) => {
    process.stderr.write(
      `${words.map((word) => (typeof word === "string" ? word : JSON.stringify(word))).join(" ")}\n`,
    );
  };
  const log: Logger = { debug: nothing, info: nothing, warn: print, error: print, child: () => log };
  return log;
}
