import { prepareCrd } from "../crd/rule-review.ts";
import { validateCrd } from "../crd/validate.ts";
import type { Patterns } from "../patterns/index.ts";
import { finish } from "../steps.ts";
import { definitionsBucket } from "./definitions.ts";
import type { Resource } from "./resource.ts";

/**
 * CustomResourceDefinitions are checked by code of their own; CEL is loaded for the first one that
 * has rules.
 */
export function prepareCustomDefinitions(resource: Resource, patterns: Patterns): Resource {
  if (resource.bucket !== definitionsBucket) return resource;
  return {
    ...resource,
    validate: async (object, live) => {
      await prepareCrd(object);
      return finish(validateCrd(patterns.matcher(), object, live));
    },
  };
}
