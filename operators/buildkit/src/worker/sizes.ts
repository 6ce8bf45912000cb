import type { Pool } from "../pool/pool.ts";

type Size = Pool["spec"]["size"];
type Requirements = NonNullable<Pool["spec"]["resources"]["buildkit"]>;

const of = (cpu: string, memory: string) => ({ cpu, memory });

const sizes: Readonly<Record<Size, Requirements>> = {
  sm: { requests: of("500m", "512Mi"), limits: of("2", "2Gi") },
  md: { requests: of("1", "2Gi"), limits: of("4", "4Gi") },
  lg: { requests: of("2", "4Gi"), limits: of("8", "8Gi") },
  xl: { requests: of("4", "8Gi"), limits: of("16", "16Gi") },
};

/** What a worker asks for and may use: what the pool says in detail, else what its size says. */
export function workerResources({ resources, size }: Pick<Pool["spec"], "resources" | "size">): Requirements {
  const own = resources.buildkit;
  return own?.requests !== undefined || own?.limits !== undefined ? own : sizes[size];
}
