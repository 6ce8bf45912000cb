import fc from "fast-check";
import { expect, test } from "vitest";
import { textOf } from "../json.ts";
import { valueAt } from "../json-fields.ts";
import { type LabelMatcher, selectorMatcher } from "../registry/label-selector.ts";
import { ObjectIndexes } from "./object-indexes.ts";
import { Store, type StoredObject, storageKey } from "./store.ts";

const labels = fc.dictionary(fc.constantFrom("app", "tier", "__proto__"), fc.constantFrom("a", "b", ""));
const place = { namespace: fc.constantFrom("one", "two"), name: fc.constantFrom("x", "y", "z") };
const change = fc.oneof(
  fc.record({ type: fc.constant("pod"), ...place, labels }),
  fc.record({ type: fc.constant("budget"), ...place, labels }),
  fc.record({ type: fc.constantFrom("no pod", "no budget"), ...place, labels: fc.constant({}) }),
);

function matcherOf(budget: StoredObject): LabelMatcher {
  return selectorMatcher(valueAt(budget, "spec", "selector"));
}

function objects(store: Store, bucket: string): StoredObject[] {
  return store.list(bucket).entries.map(({ object }) => object);
}

function names(found: Iterable<StoredObject>): string[] {
  return Array.from(found, ({ metadata }) => `${textOf(metadata.namespace)}/${metadata.name}`).sort();
}

test("looking up by labels finds what a search of everything finds, whatever came and went", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40, size: "max" }), (changes) => {
      const store = new Store();
      const indexes = new ObjectIndexes(store);
      for (const { type, namespace, name, labels: given } of changes) {
        const key = storageKey(namespace, name);
        const metadata = { namespace, name, uid: key };
        if (type === "pod") store.put("pods", key, { kind: "Pod", metadata: { ...metadata, labels: given } });
        else if (type === "budget")
          store.put("budgets", key, { kind: "Budget", metadata, spec: { selector: { matchLabels: given } } });
        else store.delete(type === "no pod" ? "pods" : "budgets", key);

        const pods = objects(store, "pods");
        const budgets = objects(store, "budgets");
        const isSelected = (pod: StoredObject, budget: StoredObject) =>
          pod.metadata.namespace === budget.metadata.namespace &&
          matcherOf(budget)(pod.metadata.labels as Record<string, string>);
        for (const pod of pods) {
          const all = budgets.filter((budget) => isSelected(pod, budget));
          expect(names(indexes.selecting("budgets", pod, matcherOf))).toEqual(names(all));
        }
        for (const budget of budgets) {
          const few = indexes.selectable("pods", budget) ?? pods;
          const all = pods.filter((pod) => isSelected(pod, budget));
          expect(names([...few].filter((pod) => isSelected(pod, budget)))).toEqual(names(all));
        }
      }
    }),
  );
});

test("an owner's selector looks only at what carries its rarest label", () => {
  const store = new Store();
  for (let i = 0; i < 100; i++) {
    const metadata = { namespace: "one", name: `p${i}`, uid: `${i}`, labels: { all: "yes", app: `${i}` } };
    store.put("pods", `one/p${i}`, { kind: "Pod", metadata });
  }
  const metadata = { namespace: "one", name: "s", uid: "s" };
  const service = { kind: "Service", metadata, spec: { selector: { all: "yes", app: "7" } } };
  const { object } = store.put("services", "one/s", service);
  expect(names(new ObjectIndexes(store).selectable("pods", object) ?? [])).toEqual(["one/p7"]);
});
