import { type KubernetesObject, metadataOnly } from "@windlass/client";
import { ManualClock, seededRandom } from "@windlass/clock";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createCache } from "./cache.ts";
import { CacheMissError } from "./errors.ts";
import { ModelServer } from "./model-server.fixture.ts";
import { namespaceSet } from "./namespaces.ts";
import { Widget } from "./test-cache.fixture.ts";

const spaces = ["a", "b", "c"] as const;
const names = ["one", "two"] as const;
const space = fc.constantFrom(...spaces);
const color = fc.constantFrom("red", "blue");

interface ObjectKeyOfKind {
  readonly namespace: string;
  readonly name: string;
  readonly color?: string;
}

/** What an informer is asked to hold. */
interface Part {
  /** Undefined for all; one is asked for as such, several as a set. */
  readonly spaces?: readonly string[];
  readonly color?: string;
  readonly name?: string;
  readonly metadataOnly?: boolean;
}

const things = fc.uniqueArray(fc.record({ namespace: space, name: fc.constantFrom(...names), color }), {
  selector: ({ namespace, name }) => `${namespace}/${name}`,
});
const parts = fc.array(
  fc.record(
    {
      spaces: fc.uniqueArray(space),
      color,
      name: fc.constantFrom(...names),
      metadataOnly: fc.constant(true),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<Part>,
  { minLength: 1, maxLength: 4 },
);

const scopeOf = ({ spaces: chosen, color: label, name, metadataOnly: isPartial }: Part) => ({
  ...(chosen?.length === 1 ? { namespace: chosen[0] ?? "" } : {}),
  ...(chosen && chosen.length !== 1 ? { namespaces: namespaceSet(chosen) } : {}),
  ...(label === undefined ? {} : { labelSelector: `color=${label}` }),
  ...(name === undefined ? {} : { fieldSelector: `metadata.name=${name}` }),
  ...(isPartial ? { metadataOnly: true } : {}),
});

const reaches = (part: Part, { namespace }: { readonly namespace: string }) =>
  part.spaces?.includes(namespace) ?? true;
const selects = (part: Part, thing: ObjectKeyOfKind) =>
  (part.color ?? thing.color) === thing.color && (part.name ?? thing.name) === thing.name;

const linesOf = (found: readonly ObjectKeyOfKind[]) =>
  found.map(({ namespace, name }) => `${namespace}/${name}`).toSorted();
const placesOf = (objects: readonly KubernetesObject[]): ObjectKeyOfKind[] =>
  objects.map(({ metadata: { namespace = "", name } }) => ({ namespace, name }));

const colorOf = ({ metadata }: KubernetesObject) => [metadata.labels?.color ?? ""];

/** What a read gives, or that the cache cannot know. */
function outcome<T>(read: () => T): T | "miss" {
  try {
    return read();
  } catch (error) {
    if (error instanceof CacheMissError) return "miss";
    throw error;
  }
}

test("whatever part of a kind is held, a read gives what the server has or says that it cannot know", async () => {
  await fc.assert(
    fc.asyncProperty(things, parts, async (there, held) => {
      const server = new ModelServer();
      for (const { namespace, name, color: label } of there)
        server.put(namespace, name, { spec: {} }, { labels: { color: label } });
      const cache = createCache({ source: server, clock: new ManualClock(), random: seededRandom(1) });
      const informers = held.map((part) => cache.informer(Widget, scopeOf(part)));
      for (const one of informers) one.addIndex("color", colorOf);
      await cache.waitForSync();

      // A reader that asked for a part sees that part, and all of it.
      for (const [index, informer] of informers.entries()) {
        const part = held[index] ?? {};
        const wanted = there.filter((thing) => reaches(part, thing) && selects(part, thing));
        expect(linesOf(placesOf(informer.list()))).toEqual(linesOf(wanted));
      }

      // Everybody else sees what is held in full.
      for (const kind of [Widget, metadataOnly(Widget)]) {
        const full = held.filter(
          (part) => !part.color && !part.name && (kind !== Widget || !part.metadataOnly),
        );
        const isFull = (namespace: string) => full.some((part) => reaches(part, { namespace }));
        const check = (
          read: () => readonly KubernetesObject[],
          isAsked: (thing: ObjectKeyOfKind) => boolean,
        ) => {
          const seen = outcome(read);
          if (seen === "miss") return;
          expect(linesOf(placesOf(seen))).toEqual(linesOf(there.filter(isAsked)));
          for (const object of seen) expect("spec" in object || kind !== Widget).toBe(true);
        };
        for (const namespace of spaces) {
          const isHere = (thing: ObjectKeyOfKind) => thing.namespace === namespace;
          const list = () => cache.list(kind, { namespace });
          check(list, isHere);
          expect(outcome(list) === "miss").toBe(!isFull(namespace));
          const red = () => cache.list(kind, { namespace, labelSelector: "color=red" });
          check(red, (thing) => isHere(thing) && thing.color === "red");
          for (const name of names) {
            const seen = outcome(() => cache.get(kind, { namespace, name }));
            if (seen !== "miss")
              expect(seen !== undefined).toBe(there.some((thing) => isHere(thing) && thing.name === name));
            if (isFull(namespace)) expect(seen).not.toBe("miss");
          }
        }
        check(
          () => cache.list(kind),
          ({ namespace }) => isFull(namespace),
        );
        check(
          () => cache.byIndex(kind, "color", "red"),
          (thing) => isFull(thing.namespace) && thing.color === "red",
        );
        expect(outcome(() => cache.list(kind)) === "miss").toBe(!spaces.some(isFull));
      }
      await cache.stop();
    }),
    { numRuns: 300 },
  );
});
