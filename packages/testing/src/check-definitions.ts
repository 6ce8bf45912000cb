import { Client, isInvalid, statusOf } from "@windlass/client";
import { ControlPlane } from "@windlass/control-plane";
import { ResourceDefinitionError } from "@windlass/runtime";
import { CustomResourceDefinition } from "@windlass/runtime/kinds";
import { crdOf, type Installable } from "./definitions.ts";

/**
 * Finds what an API server would have against definitions, without installing them anywhere: for
 * scripts that write manifests.
 *
 * Making a CRD refuses most of it by itself. What takes a server is the rest: rules whose
 * expressions do not type-check or cost too much, and defaults that break a rule. The server is the
 * embedded one.
 *
 * @throws ResourceDefinitionError with the path of each fault in the CRD.
 *
 * @example
 * await checkDefinitions(WebApp);
 */
export async function checkDefinitions(...definitions: readonly Installable[]): Promise<void> {
  const plane = await ControlPlane.start({ controllers: "none" });
  try {
    const client = new Client({ transport: plane.connect(), onWarning: () => undefined });
    for (const definition of definitions) await checkDefinition(client, definition);
  } finally {
    await plane.close();
  }
}

async function checkDefinition(client: Client, definition: Installable): Promise<void> {
  const crd = crdOf(definition);
  try {
    await client.create(CustomResourceDefinition, crd, {
      dryRun: true,
      fieldValidation: "Strict",
    });
  } catch (error) {
    const status = statusOf(error);
    if (!status || !isInvalid(error)) throw error;
    const problems = (status.details?.causes ?? []).map(({ field = "", message = "" }) => ({
      path: field,
      message,
    }));
    throw new ResourceDefinitionError(crd.metadata.name, problems);
  }
}
