import type { Controller, PolicyRule } from "@windlass/runtime";
import type { ContainerInput, PodSpecInput, ResourceRequirementsInput } from "@windlass/runtime/kinds";
import { z } from "zod";
import { isReservedGroup } from "../create/names.ts";
import { CommandError } from "../errors.ts";
import type { ComponentDeclaration, OperatorDeclaration } from "./operator.ts";

/** A port of a component, with the defaults filled in. */
export interface Port {
  readonly name: string;
  readonly port: number;
  /** The last of a range; undefined for one port. */
  readonly endPort: number | undefined;
  readonly protocol: "TCP" | "UDP";
  /** The Service's port; undefined where no Service leads to it. */
  readonly service: number | undefined;
}

/** Something that may be set, with what it is unless it is. */
export interface Setting {
  /** Where it is among the chart's values. */
  readonly path: readonly string[];
  readonly env: string;
  readonly value: string | number | boolean;
  /** As JSON Schema. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly describe: string;
}

/** The second process in each pod of a component, with the defaults filled in. */
export interface Twin {
  readonly metricsPort: number | undefined;
  readonly healthPort: number | undefined;
  readonly env: NonNullable<ComponentDeclaration["env"]>;
  readonly ports: readonly Port[];
}

/** A program of the operator, with the defaults filled in. */
export interface Component {
  /** Its key among the components; undefined for the manager itself. */
  readonly key: string | undefined;
  /** The name of its Deployment: `shop-operator-gateway`. */
  readonly name: string;
  /** Where its values are among the chart's. */
  readonly values: readonly string[];
  readonly replicas: number;
  readonly args: readonly string[];
  readonly env: NonNullable<ComponentDeclaration["env"]>;
  /** Its own. */
  readonly settings: readonly Setting[];
  /** What reaches all components alike. */
  readonly commonSettings: readonly Setting[];
  readonly ports: readonly Port[];
  readonly serviceType: NonNullable<ComponentDeclaration["serviceType"]>;
  readonly egress: readonly number[] | "anywhere";
  readonly metricsPort: number | undefined;
  readonly healthPort: number | undefined;
  readonly webhookPort: number | undefined;
  readonly resources: ResourceRequirementsInput;
  readonly controllers: readonly Controller[];
  readonly clusterRules: readonly PolicyRule[];
  readonly namespaceRules: readonly PolicyRule[];
  readonly pod: Partial<PodSpecInput>;
  readonly container: Partial<ContainerInput>;
  readonly twin: Twin | undefined;
}

/** An operator, checked, with the defaults filled in. */
export interface Operator
  extends Pick<OperatorDeclaration, "name" | "description" | "kinds" | "webhooks" | "namespaces"> {
  readonly version: string;
  readonly namespace: string;
  readonly image: { readonly repository: string; readonly tag: string };
  readonly lease: string | undefined;
  readonly manager: Component;
  /** Those beside the manager. */
  readonly components: readonly Component[];
  readonly podMonitors: NonNullable<OperatorDeclaration["podMonitors"]>;
  readonly alerts: NonNullable<OperatorDeclaration["alerts"]>;
  readonly panels: NonNullable<OperatorDeclaration["panels"]>;
}

const label = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const portName = /^(?=.*[a-z])[a-z0-9](-?[a-z0-9]){0,14}$/;
const settingPath = /^[a-z][A-Za-z0-9]*(\.[a-z][A-Za-z0-9]*)*$/;
const ownPorts = ["webhook", "metrics", "health", "metrics-twin", "health-twin"];
/** Each component has a file of its name, and these are there already. */
const ownFiles = ["crd", "rbac", "manager", "webhook", "network"];

const webhookPort = 9443;
const defaultResources = {
  requests: { cpu: "50m", memory: "128Mi" },
  limits: { memory: "256Mi" },
} as const;

/**
 * Checks a declaration and fills in what it leaves to the defaults.
 *
 * @param version of the operator, by its package.json
 * @throws CommandError naming the field that cannot be right
 */
export function resolveOperator(declared: OperatorDeclaration, version: string): Operator {
  const { name, leaderElection = name, components = {}, webhooks } = declared;
  // Names of pods end with a hash, and have at most 63 characters.
  if (!label.test(name) || name.length > 40)
    refuse(
      "name",
      `${JSON.stringify(name)} must be lower-case letters, digits and dashes, at most 40 of them, such as shop-operator`,
    );
  for (const { kind, group } of declared.kinds)
    if (isReservedGroup(group))
      refuse(
        "kinds",
        `${kind} is in the group ${group}, which belongs to Kubernetes: API servers want the project's approval for it. Take a domain of your own, such as shop.example.com`,
      );
  if (webhooks !== undefined) checkWebhookName(name, webhooks);
  const commonSettings = resolveSettings("commonSettings", [], declared.commonSettings);
  const manager: Component = {
    ...resolveComponent(declared, undefined, name, webhooks === undefined ? undefined : webhookPort),
    commonSettings,
  };
  return {
    name,
    description: declared.description,
    kinds: declared.kinds,
    ...(webhooks === undefined ? {} : { webhooks }),
    ...(declared.namespaces === undefined ? {} : { namespaces: declared.namespaces }),
    version,
    namespace: declared.namespace ?? `${name.replace(/-operator$/, "")}-system`,
    image: parseImage(declared.image ?? `${name}:${version}`),
    lease: leaderElection === false ? undefined : leaderElection,
    manager,
    components: Object.entries(components).map(([key, component]) => {
      if (!label.test(key)) refuse(`components.${key}`, "must be lower-case letters, digits and dashes");
      if (ownFiles.includes(key)) refuse(`components.${key}`, `must not be one of ${ownFiles.join(", ")}`);
      return { ...resolveComponent(component, key, `${name}-${key}`, undefined), commonSettings };
    }),
    podMonitors: checkedMonitors(declared.podMonitors ?? {}),
    alerts: declared.alerts ?? [],
    panels: declared.panels ?? [],
  };
}

function checkedMonitors(monitors: Operator["podMonitors"]): Operator["podMonitors"] {
  for (const [key, { labels }] of Object.entries(monitors)) {
    if (!label.test(key)) refuse(`podMonitors.${key}`, "must be lower-case letters, digits and dashes");
    if (Object.keys(labels).length === 0)
      refuse(`podMonitors.${key}.labels`, "must not be empty: all pods of the cluster would be scraped");
  }
  return monitors;
}

/** The roles, the Service and the configurations of the webhooks are named after the operator. */
function checkWebhookName(name: string, webhooks: NonNullable<OperatorDeclaration["webhooks"]>): void {
  const [configuration] = webhooks.configurations();
  if (configuration !== undefined && configuration.metadata.name !== name)
    refuse(
      "webhooks",
      `have the name ${configuration.metadata.name}, and the operator has ${name}: give webhookServer that name`,
    );
}

function resolveComponent(
  declared: ComponentDeclaration,
  key: string | undefined,
  name: string,
  webhooks: number | undefined,
): Omit<Component, "commonSettings"> {
  const { metricsPort = 8080, healthPort = 8081 } = declared;
  const at = key === undefined ? "" : `components.${key}.`;
  const values = key === undefined ? [] : [camelCase(key)];
  return {
    key,
    name,
    values,
    replicas: declared.replicas ?? 2,
    args: declared.args ?? [],
    env: declared.env ?? {},
    settings: resolveSettings(`${at}settings`, values, declared.settings),
    ports: Object.entries(declared.ports ?? {}).map(([port, given]) =>
      resolvePort(`${at}ports.${port}`, port, given),
    ),
    serviceType: declared.serviceType ?? "ClusterIP",
    egress: declared.egress ?? [],
    metricsPort: metricsPort === false ? undefined : metricsPort,
    healthPort: healthPort === false ? undefined : healthPort,
    webhookPort: webhooks,
    resources: declared.resources ?? defaultResources,
    controllers: declared.controllers ?? [],
    clusterRules: declared.clusterRules ?? [],
    namespaceRules: declared.namespaceRules ?? [],
    pod: declared.pod ?? {},
    container: declared.container ?? {},
    twin: resolveTwin(`${at}twin`, declared),
  };
}

function resolveTwin(
  at: string,
  { twin, metricsPort, healthPort, ports = {} }: ComponentDeclaration,
): Twin | undefined {
  if (twin === undefined) return undefined;
  const own = Object.entries(twin.ports ?? {}).map(([name, port]) => {
    if (Object.hasOwn(ports, name)) refuse(`${at}.ports.${name}`, "is the name of a port of the component");
    return resolvePort(`${at}.ports.${name}`, name, { port, service: false });
  });
  return {
    metricsPort: metricsPort === false ? undefined : twin.metricsPort,
    healthPort: healthPort === false ? undefined : twin.healthPort,
    env: twin.env ?? {},
    ports: own,
  };
}

function resolveSettings(
  at: string,
  values: readonly string[],
  declared: ComponentDeclaration["settings"] = {},
): readonly Setting[] {
  return Object.entries(declared).map(([path, { env, schema }]) => {
    const { value, json, describe } = readSchema(`${at}.${path}`, path, schema);
    return { path: [...values, ...path.split(".")], env, value, schema: json, describe };
  });
}

/** Helm's expressions know no dashes in names. */
function camelCase(name: string): string {
  return name.replaceAll(/-+(.)/g, (_, letter: string) => letter.toUpperCase());
}

function resolvePort(
  at: string,
  name: string,
  given: NonNullable<ComponentDeclaration["ports"]>[string],
): Port {
  const declared = typeof given === "number" ? { port: given } : given;
  const { port, endPort, protocol = "TCP", service = endPort === undefined ? port : false } = declared;
  if (!portName.test(name) || ownPorts.includes(name))
    refuse(
      at,
      `must be at most 15 lower-case letters, digits and dashes, and none of ${ownPorts.join(", ")}`,
    );
  for (const one of [port, endPort ?? port])
    if (!(Number.isInteger(one) && one > 0 && one < 65_536)) refuse(at, `${one} is no port`);
  if (endPort !== undefined && endPort < port)
    refuse(at, `endPort ${endPort} must not be below port ${port}`);
  if (endPort !== undefined && service !== false) refuse(at, "no Service can lead to a range of ports");
  return { name, port, endPort, protocol, service: service === false ? undefined : service };
}

function readSchema(at: string, path: string, schema: z.ZodType) {
  if (!settingPath.test(path)) refuse(at, "must be a path of words, such as policy.maxReplicas");
  const {
    $schema: _dialect,
    default: value,
    ...json
  } = z.toJSONSchema(schema, {
    target: "draft-7",
    // What a person writes; the program may make something else of it.
    io: "input",
  });
  if (!["string", "number", "boolean"].includes(typeof value))
    refuse(at, "its schema must have a default that is a text, a number or a boolean");
  return { value: value as Setting["value"], json, describe: json.description ?? "" };
}

/** @throws CommandError unless the image has a tag */
function parseImage(image: string): Operator["image"] {
  const [, repository, tag] = /^(.+):([\w][\w.-]{0,127})$/.exec(image) ?? [];
  if (repository === undefined || tag === undefined || tag === "latest")
    refuse(
      "image",
      `${JSON.stringify(image)} must have a tag other than latest, such as example.com/shop-operator:1.2.0`,
    );
  return { repository, tag };
}

function refuse(field: string, fault: string): never {
  throw new CommandError(`defineOperator: ${field}: ${fault}`);
}
