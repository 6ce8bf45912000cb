import { dump } from "js-yaml";

/** Says in every generated file where it comes from. */
export const notice = "# Written by scripts/manifests.ts from the code. Change that, not this.\n";

/** Objects as one YAML file. */
export function yaml(objects: readonly object[]): string {
  // By way of JSON, so that what is undefined is absent and nothing is an alias of anything.
  const texts = objects.map((object) =>
    dump(JSON.parse(JSON.stringify(object)), { lineWidth: -1, quoteStyle: "double" }),
  );
  return notice + texts.join("---\n");
}
