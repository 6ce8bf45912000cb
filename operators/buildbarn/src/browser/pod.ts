import type { PodTemplateSpecInput } from "@windlass/runtime/kinds";
import { type PodConfiguration, podTemplate, programContainer } from "../component/index.ts";
import { ports, profiles } from "../configuration/index.ts";
import { podSelector } from "../names.ts";
import type { Browser } from "./browser.ts";

/** Where a browser listens. */
export const browserPorts = { http: ports.browser } as const;

/** The template of a browser's pod. */
export function browserTemplate(browser: Browser, configuration: PodConfiguration): PodTemplateSpecInput {
  const { spec, metadata } = browser;
  const container = programContainer({
    name: "browser",
    // The definition wants an image where none is known.
    image: spec.image ?? profiles[spec.version].images.browser ?? "",
    entry: "browser.jsonnet",
    ports: browserPorts,
    resources: spec.resources,
  });
  return podTemplate({
    app: "browser",
    object: browser,
    selector: podSelector("browser", metadata.name),
    ...configuration,
    containers: [{ ...container, lifecycle: { preStop: { sleep: { seconds: 5 } } } }],
  });
}
