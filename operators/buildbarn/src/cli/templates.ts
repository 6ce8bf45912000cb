import type { PodTemplateSpecInput } from "@windlass/runtime/kinds";
import { browserTemplate } from "../browser/pod.ts";
import type { PodConfiguration } from "../component/index.ts";
import { frontendTemplate } from "../frontend/pod.ts";
import { schedulerTemplate } from "../scheduler/pod.ts";
import { type BuildbarnSet, type ComponentObject, certificateOf, hasInternalWay } from "../set/index.ts";
import { shardTemplate } from "../storage/stateful-set.ts";
import { workerTemplate } from "../worker/pod.ts";

/**
 * The template of a component's pods, without its configuration, which is compared by its files.
 */
function templateOf(set: BuildbarnSet, component: ComponentObject): PodTemplateSpecInput {
  const configuration: PodConfiguration = {
    configMap: "",
    configHash: "",
    shardMap: undefined,
    certificate: certificateOf(set),
  };
  switch (component.kind) {
    case "BuildbarnStorage":
      return shardTemplate(component, configuration);
    case "BuildbarnScheduler":
      return schedulerTemplate(component, configuration);
    case "BuildbarnFrontend":
      return frontendTemplate(component, configuration, { isInternal: hasInternalWay(set, component) });
    case "BuildbarnBrowser":
      return browserTemplate(component, configuration);
    case "BuildbarnWorker":
      return workerTemplate(component, configuration);
    default:
      throw new Error(`${component.kind} is not a kind of component`);
  }
}

/** A component, and the set that it is of. */
export interface Member {
  readonly set: BuildbarnSet;
  readonly component: ComponentObject;
}

/**
 * The fields of a component's spec that have its pods replaced, without those that do so by its
 * configuration.
 */
export function rollingFields(before: Member, after: Member): readonly string[] {
  const isSame = (own: Member) =>
    JSON.stringify(templateOf(own.set, own.component)) ===
    JSON.stringify(templateOf(before.set, before.component));
  if (isSame(after)) return [];
  const [old, now]: readonly Readonly<Record<string, unknown>>[] = [
    before.component.spec,
    after.component.spec,
  ];
  const names = [...new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])].toSorted();
  const fields = names.filter((name) => {
    const spec = Object.fromEntries(
      Object.entries({ ...old, [name]: now?.[name] }).filter(([, value]) => value !== undefined),
    );
    return !isSame({ set: before.set, component: { ...before.component, spec } as ComponentObject });
  });
  return fields.length > 0 ? fields : ["internalTls of the set"];
}
