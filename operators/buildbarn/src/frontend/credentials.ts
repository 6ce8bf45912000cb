import type { ReconcileContext } from "@windlass/runtime";
import { ConfigMap, type ContainerInput, type VolumeInput } from "@windlass/runtime/kinds";
import { jwksDirectory, tlsDirectory } from "../configuration/index.ts";
import type { Frontend } from "./frontend.ts";

/**
 * The volumes with a frontend's certificate, and with the keys of tokens. Their content is never in
 * a configuration.
 */
export function credentialVolumes({ spec }: Frontend): readonly VolumeInput[] {
  const { tls, authentication } = spec;
  return [
    ...(tls ? [{ name: "tls", secret: { secretName: tls.secretName } }] : []),
    ...(authentication?.jwt ? [{ name: "jwks", configMap: { name: authentication.jwt.configMapName } }] : []),
  ];
}

/** Where the program finds them. */
export function credentialMounts(frontend: Frontend): NonNullable<ContainerInput["volumeMounts"]> {
  return credentialVolumes(frontend).map(({ name }) => ({
    name,
    mountPath: name === "tls" ? tlsDirectory : jwksDirectory,
    readOnly: true,
  }));
}

/**
 * The authorities of client certificates. They are part of the configuration: others restart the
 * frontend.
 */
export async function authoritiesOf(
  { metadata: { namespace }, spec }: Frontend,
  { follow }: Pick<ReconcileContext, "follow">,
): Promise<string | undefined> {
  const name = spec.authentication?.clientCertificates?.configMapName;
  return name === undefined ? undefined : (await follow(ConfigMap, { namespace, name }))?.data?.["ca.crt"];
}
