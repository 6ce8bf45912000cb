import type { RecordedDescriptions } from "@windlass/kinds/recorded";
import type { Cluster } from "./cluster.ts";

const prefix = "io.k8s.apimachinery.pkg.apis.meta.v1.";

interface Described {
  readonly description?: string;
  readonly properties?: { readonly [name: string]: { readonly description?: string } };
}

/**
 * The words on what every object has: its metadata. All other prose is left out, but these are
 * shown for custom resources, whose own fields have theirs.
 */
export async function recordDescriptions(cluster: Cluster): Promise<RecordedDescriptions> {
  const document = (await cluster.get("/openapi/v3/api/v1")) as {
    components: { schemas: { readonly [name: string]: Described } };
  };
  const types = Object.entries(document.components.schemas).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(
    types
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, { description = "", properties = {} }]) => [
        name.slice(prefix.length),
        {
          type: description,
          fields: Object.fromEntries(
            Object.entries(properties).map(([field, { description: words = "" }]) => [field, words]),
          ),
        },
      ]),
  );
}
