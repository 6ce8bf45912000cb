import { versionInfo } from "../discovery/index.ts";
import { textOf } from "../json.ts";
import { counter, gauge, type Rendered } from "../metrics/families.ts";
import type { Registry } from "../registry/registry.ts";
import { healthChecks } from "./health.ts";

/** How both pages are written. */
export const metricsContentType = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";

/**
 * The answer to `/metrics`.
 *
 * @param storageBytes what the data takes on disk; undefined where it is in memory alone
 */
export function metricsPage({ metrics, store }: Registry, storageBytes: number | undefined): string {
  return metrics.render([...storageFamilies(store, storageBytes), buildFamily(), ...processFamilies()]);
}

/**
 * The answer to `/metrics/slis`: how each check of the server's health came out. A server that
 * answers is well.
 */
export function indicatorsPage(): string {
  const checks = gauge({
    name: "kubernetes_healthcheck",
    help: "[STABLE] This metric records the result of a single healthcheck.",
    labels: ["name", "type"],
  });
  for (const endpoint of ["healthz", "livez", "readyz"]) {
    for (const check of healthChecks(endpoint)) checks.of(check, endpoint).value = 1;
  }
  return checks.render();
}

function storageFamilies(store: Registry["store"], bytes: number | undefined): readonly Rendered[] {
  const objects = gauge({
    name: "apiserver_resource_objects",
    help: "[ALPHA] Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.",
    labels: ["group", "resource"],
  });
  const objectsBefore = gauge({
    name: "apiserver_storage_objects",
    help: "[STABLE] (Deprecated since 1.34.0) [DEPRECATED, consider using apiserver_resource_objects instead] Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.",
    labels: ["resource"],
  });
  for (const bucket of store.buckets()) {
    const [resource = "", ...group] = bucket.split(".");
    objects.of(group.join("."), resource).value = store.count(bucket);
    objectsBefore.of(bucket).value = store.count(bucket);
  }
  const size = gauge({
    name: "apiserver_storage_size_bytes",
    help: "[STABLE] Size of the storage database file physically allocated in bytes.",
    labels: ["storage_cluster_id"],
  });
  if (bytes !== undefined) size.of("etcd-0").value = bytes;
  return [objects, objectsBefore, size];
}

function buildFamily(): Rendered {
  const info = versionInfo();
  const labels = {
    build_date: info.buildDate,
    compiler: info.compiler,
    git_commit: info.gitCommit,
    git_tree_state: info.gitTreeState,
    git_version: info.gitVersion,
    go_version: info.goVersion,
    major: info.major,
    minor: info.minor,
    platform: info.platform,
  };
  const build = gauge({
    name: "kubernetes_build_info",
    help: "[ALPHA] A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
    labels: Object.keys(labels),
  });
  build.of(...Object.values(labels).map(textOf)).value = 1;
  return build;
}

/** Of the whole process, whatever else runs in it. */
function processFamilies(): readonly Rendered[] {
  const { user, system } = process.cpuUsage();
  const cpu = counter({
    name: "process_cpu_seconds_total",
    help: "Total user and system CPU time spent in seconds.",
  });
  cpu.of().value = (user + system) / 1e6;
  const memory = gauge({ name: "process_resident_memory_bytes", help: "Resident memory size in bytes." });
  memory.of().value = process.memoryUsage.rss();
  const start = gauge({
    name: "process_start_time_seconds",
    help: "Start time of the process since unix epoch in seconds.",
  });
  start.of().value = Math.round(performance.timeOrigin / 10) / 100;
  return [cpu, memory, start];
}
