import { StatusError } from "../status.ts";

/** How an answer is to look. */
export type Representation =
  | { readonly as: "object"; readonly yaml: boolean }
  | { readonly as: "table"; readonly version: string }
  | { readonly as: "metadata" };

interface MediaType {
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Splits an `Accept` header, in the order the client wrote it. */
export function parseAccept(accept: string | undefined): MediaType[] {
  return (accept ?? "*/*").split(",").flatMap((item) => {
    const [type, ...rest] = item.split(";").map((part) => part.trim());
    if (!type) return [];
    const parameters = new Map(
      rest.flatMap((pair) => {
        const equals = pair.indexOf("=");
        return equals < 0 ? [] : [[pair.slice(0, equals).trim(), pair.slice(equals + 1).trim()] as const];
      }),
    );
    return [{ type: type.toLowerCase(), parameters }];
  });
}

/**
 * Chooses the first form the client accepts that we can give. Protobuf is none of them: clients that prefer it accept JSON too.
 *
 * @throws StatusError 406
 */
export function negotiate(accept: string | undefined): Representation {
  for (const { type, parameters } of parseAccept(accept)) {
    const json = type === "application/json" || type === "*/*" || type === "application/*";
    const as = parameters.get("as");
    if (json && as === "Table") {
      const version = parameters.get("v");
      if (parameters.get("g") === "meta.k8s.io" && (version === "v1" || version === "v1beta1"))
        return { as: "table", version };
      continue;
    }
    if (json && (as === "PartialObjectMetadata" || as === "PartialObjectMetadataList")) {
      if (parameters.get("g") === "meta.k8s.io") return { as: "metadata" };
      continue;
    }
    if (as !== undefined) continue;
    if (json) return { as: "object", yaml: false };
    if (type === "application/yaml") return { as: "object", yaml: true };
  }
  throw new StatusError({
    code: 406,
    reason: "NotAcceptable",
    message:
      "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
  });
}
