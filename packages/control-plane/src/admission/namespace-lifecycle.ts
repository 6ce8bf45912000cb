import { valueAt } from "../json-fields.ts";
import type { Admission } from "../registry/admission.ts";
import { forbidden, notFound } from "../status.ts";
import type { Store } from "../storage/store.ts";

/** Namespaces that cannot be deleted. */
const immortal = new Set(["default", "kube-system", "kube-public"]);

/** Refuses to create objects in a namespace that does not exist or is terminating. */
export function namespaceLifecycle(store: Store): Admission {
  return {
    name: "NamespaceLifecycle",
    mutate: (request) => {
      const { operation, namespace, resource, name } = request;
      if (operation !== "CREATE" || namespace === undefined || !resource.info.namespaced) return;
      const entry = store.get("namespaces", namespace);
      if (!entry) throw notFound({ group: "", resource: "namespaces" }, namespace);
      if (valueAt(entry.object, "status", "phase") === "Terminating") {
        throw forbidden(
          { group: resource.info.group, resource: resource.info.plural },
          name,
          `unable to create new content in namespace ${namespace} because it is being terminated`,
          [
            {
              reason: "NamespaceTerminating",
              message: `namespace ${namespace} is being terminated`,
              field: "metadata.namespace",
            },
          ],
        );
      }
    },
    validate: ({ operation, resource, name }) => {
      const isNamespace = resource.info.group === "" && resource.info.kind === "Namespace";
      if (operation === "DELETE" && isNamespace && immortal.has(name)) {
        throw forbidden({ group: "", resource: "namespaces" }, name, "this namespace may not be deleted");
      }
    },
  };
}
