/** A Service and a port that a host names, as cluster DNS has them. */
export interface NamedService {
  readonly service: string;
  readonly namespace: string;
  readonly port: number | undefined;
}

/**
 * The Service that a host names: `service.namespace`, optionally followed by `svc` and the
 * cluster's domain, and a port. A name that only begins like this is no Service's:
 * `app.example.com` is not `app` in `example`.
 */
export function serviceIn(host: string, clusterDomain: string): NamedService | undefined {
  const [, name = "", port] = /^([^:]+)(?::(\d{1,5}))?$/.exec(host.toLowerCase()) ?? [];
  const [service, namespace, ...rest] = name.replace(/\.$/, "").split(".");
  if (!service || !namespace) return undefined;
  const domain = rest.join(".");
  if (domain !== "" && domain !== "svc" && domain !== `svc.${clusterDomain}`) return undefined;
  return { service, namespace, port: port === undefined ? undefined : Number(port) };
}
