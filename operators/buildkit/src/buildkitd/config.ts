import type { Pool } from "../pool/pool.ts";
import { quantityOf } from "../quantity.ts";
import { spanMs } from "../span.ts";
import { overlayToml, quoted, type TomlTable, writeToml } from "./toml.ts";

type Gc = Pool["spec"]["cache"]["gc"];

/** Where the certificate authority of a registry is mounted in a worker. */
export function registryCaFolder(host: string): string {
  return `/etc/buildkit/registries/${host.replaceAll(/[^A-Za-z0-9.-]/g, "_")}`;
}

/** What buildkitd.toml is made from. */
export interface ConfigInit {
  readonly spec: Pool["spec"];
  /** How large a worker's own disk is, in bytes; undefined if it shares the disk of its node. */
  readonly diskBytes: number | undefined;
}

/**
 * buildkitd.toml of a pool's workers. Addresses and certificates are not in it: they are arguments
 * of the daemon, so that no configuration of a person can open a worker to others.
 */
export function buildkitdToml(init: ConfigInit): string {
  const { buildkitConfig } = init.spec;
  const generated = tablesFor(init);
  return buildkitConfig === undefined ? writeToml(generated) : overlayToml(generated, buildkitConfig);
}

function tablesFor({ spec, diskBytes }: ConfigInit): readonly TomlTable[] {
  const { cache, observability, maxParallelism, registries } = spec;
  const { level, format } = observability.logging;
  return [
    { header: "", keys: { debug: level === "debug" } },
    { header: "[log]", keys: { format } },
    {
      header: "[worker.oci]",
      keys: { enabled: true, gc: cache.gc.enabled, "max-parallelism": maxParallelism },
    },
    ...(cache.gc.enabled ? policiesFor(cache.gc, diskBytes) : []),
    { header: "[worker.containerd]", keys: { enabled: false } },
    ...registries.map(
      ({ host, mirrors, plainHTTP, insecure, caSecret }): TomlTable => ({
        header: `[registry.${quoted(host)}]`,
        keys: {
          mirrors: mirrors.length > 0 ? mirrors : undefined,
          http: plainHTTP || undefined,
          insecure: insecure || undefined,
          ca: caSecret === undefined ? undefined : [`${registryCaFolder(host)}/ca.crt`],
        },
      }),
    ),
    ...insecureBackends(spec).map(
      (host): TomlTable => ({
        header: `[registry.${quoted(host)}]`,
        keys: { http: true },
      }),
    ),
  ];
}

/** Registries of cache backends that speak plain HTTP, and that have no entry of their own. */
function insecureBackends({ cache, registries }: Pool["spec"]): readonly string[] {
  const hosts = cache.backends.flatMap(({ registry }) =>
    registry?.insecure ? [registry.endpoint.split("/")[0] ?? ""] : [],
  );
  return [...new Set(hosts)].filter((host) => registries.every((one) => one.host !== host));
}

const header = "[[worker.oci.gcpolicy]]";

/** What goes first: it is cheap to get again, and useless to another build. */
const leastValuable = ["type==source.local", "type==exec.cachemount", "type==source.git.checkout"];
const LEAST_VALUABLE_BYTES = 512 * 2 ** 20;
const LEAST_VALUABLE_SECONDS = 48 * 3_600;

/*
 * buildkitd goes through the policies in order, and each removes what it is about until its limits
 * are kept. The last has no duration and counts everything: without that one, cache that is used
 * all the time fills the disk.
 */
function policiesFor(gc: Gc, diskBytes: number | undefined): readonly TomlTable[] {
  if (gc.policies.length > 0) {
    const own = gc.policies.map(({ all, keepDuration, filters, ...limits }) => ({
      ...(filters.length > 0 && { filters }),
      ...(all && { all }),
      ...(keepDuration !== undefined && { keepDuration: seconds(keepDuration) }),
      ...spaces(limits),
    }));
    const hasLast = gc.policies.some(
      ({ all, keepDuration, filters }) => all && keepDuration === undefined && filters.length === 0,
    );
    const last = { all: true, ...limitsOf(gc, diskBytes) };
    return [...own, ...(hasLast ? [] : [last])].map((keys) => ({ header, keys }));
  }
  const limits = limitsOf(gc, diskBytes);
  return [
    { filters: leastValuable, keepDuration: LEAST_VALUABLE_SECONDS, maxUsedSpace: LEAST_VALUABLE_BYTES },
    { keepDuration: seconds(gc.keepDuration), ...limits },
    limits,
    { all: true, ...limits },
  ].map((keys) => ({ header, keys }));
}

function limitsOf(gc: Gc, diskBytes: number | undefined) {
  const share = (ofDisk: number) =>
    diskBytes === undefined ? undefined : Math.floor((diskBytes * ofDisk) / 100);
  return {
    reservedSpace: share(10) ?? "10%",
    maxUsedSpace: share(75) ?? "60%",
    minFreeSpace: share(20) ?? "20%",
    ...spaces({ ...gc, maxUsedSpace: gc.maxUsedSpace ?? gc.keepStorage }),
  };
}

interface Spaces {
  readonly reservedSpace?: string | undefined;
  readonly maxUsedSpace?: string | undefined;
  readonly minFreeSpace?: string | undefined;
}

/**
 * Space as buildkitd takes it without doubt: shares as they are, everything else in bytes, since it
 * reads `1GB` as 2^30.
 */
function spaces({ reservedSpace, maxUsedSpace, minFreeSpace }: Spaces) {
  const of = (text: string | undefined) =>
    text === undefined || text.endsWith("%") ? text : Math.floor(quantityOf(text) ?? 0);
  return Object.fromEntries(
    Object.entries({ reservedSpace, maxUsedSpace, minFreeSpace })
      .map(([name, text]) => [name, of(text)] as const)
      .filter(([, value]) => value !== undefined),
  );
}

function seconds(span: string): number {
  return Math.round(spanMs(span, "keepDuration") / 1_000);
}
