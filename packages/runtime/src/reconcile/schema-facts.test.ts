import { ConfigMap, Deployment } from "@windlass/kinds/builtin";
import { expect, test } from "vitest";
import { SchemaFacts } from "./schema-facts.ts";

test("what an answer shows about a list holds for every item and object of the kind, and no other", () => {
  const facts = new SchemaFacts();
  const list = (container: string, name: string) => `spec.containers[${JSON.stringify(container)}].${name}`;
  const learning = facts.learning(Deployment);
  expect(learning.typeOfNotOwned(list('odd "]" name', "env"))).toBe("associative");
  learning.ownedEmpty(list("a", "args"));
  const known = facts.known(Deployment);
  expect(known.typeOfNotOwned(list("b", "env"))).toBe("associative");
  expect(known.typeOfNotOwned(list("b", "args"))).toBe("atomic");
  expect(known.typeOfNotOwned(list("b", "ports"))).toBe("unknown");
  expect(facts.known(ConfigMap).typeOfNotOwned(list("b", "env"))).toBe("unknown");
});

test("what an answer shows about a map's entries holds for every other entry", () => {
  const facts = new SchemaFacts();
  facts.learning(Deployment).ownedInParts("spec.zones");
  expect(facts.known(Deployment).hasEntriesInParts("spec.zones")).toBe(true);
  expect(facts.known(Deployment).hasEntriesInParts("spec.others")).toBe(false);
});
