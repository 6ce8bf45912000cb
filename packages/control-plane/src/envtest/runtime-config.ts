import { builtinKinds } from "../kinds/index.ts";

/**
 * The group versions that --runtime-config switches off: `batch/v1=false`, or `api/beta=false` for
 * all of a stage. What is switched on beyond the usual is not known here.
 */
export function disabledVersions(settings: readonly string[]): readonly string[] {
  const off = settings.filter((setting) => setting.endsWith("=false")).map((setting) => setting.slice(0, -6));
  return off.flatMap((name) => {
    const [, stage] = /^api\/(alpha|beta)$/.exec(name) ?? [];
    return stage === undefined ? [name] : versionsOfStage(stage);
  });
}

function versionsOfStage(stage: string): string[] {
  return builtinKinds()
    .groups()
    .flatMap(({ name, versions }) =>
      versions.filter((version) => version.includes(stage)).map((version) => `${name}/${version}`),
    );
}
