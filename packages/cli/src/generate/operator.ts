import type { Controller, PolicyRule, Resource, WebhookServer } from "@windlass/runtime";
import type {
  ContainerInput,
  EnvVarSourceInput,
  PodSpecInput,
  ResourceRequirementsInput,
} from "@windlass/runtime/kinds";
import type { ZodType } from "zod";

/**
 * Something that the installer of the operator may set. It is a value of the chart, and reaches the
 * program as a variable.
 */
export interface SettingDeclaration {
  /** The environment variable that carries it. */
  readonly env: string;
  /**
   * What it may be, with its default (required) and its description. The program should read the
   * variable by the same schema.
   */
  readonly schema: ZodType;
}

/** A port that a component listens on. */
export interface PortDeclaration {
  /** The container's port. */
  readonly port: number;
  /**
   * The last of a range that begins with `port`. The NetworkPolicy admits all of it; no Service
   * leads to it.
   *
   * @default one port alone
   */
  readonly endPort?: number;
  /** @default "TCP" */
  readonly protocol?: "TCP" | "UDP";
  /**
   * The port of the component's Service that leads to it; `false` for none.
   *
   * @default the container's port
   */
  readonly service?: number | false;
}

/** A second process of a component in each of its pods. */
export interface TwinDeclaration {
  /** Where it serves `/metrics`, if the component does. */
  readonly metricsPort: number;
  /** Where it serves `/healthz` and `/readyz`, if the component does. */
  readonly healthPort: number;
  /** Variables that it has beside the component's, or in their place. @default none */
  readonly env?: ComponentDeclaration["env"];
  /** What else it listens on by itself, by name. No Service leads there. @default nothing */
  readonly ports?: Readonly<Record<string, number>>;
}

/** A program that runs as a Deployment of its own. */
export interface ComponentDeclaration {
  /** @default 2 */
  readonly replicas?: number;
  /**
   * Arguments of the image's entry point, which is Node in `/app`.
   *
   * @default what the image runs, `main.js`
   */
  readonly args?: readonly string[];
  /**
   * Variables, by name: a text, or where it comes from.
   *
   * @default none beside POD_NAME, POD_NAMESPACE, NODE_ENV and LOG_LEVEL
   */
  readonly env?: Readonly<Record<string, string | EnvVarSourceInput>>;
  /**
   * What the installer may set, by its path among the chart's values: `policy.maxReplicas`.
   *
   * @default nothing
   */
  readonly settings?: Readonly<Record<string, SettingDeclaration>>;
  /**
   * Ports beside those of probes, metrics and webhooks, by name. A number is the container's port.
   *
   * @default none
   */
  readonly ports?: Readonly<Record<string, number | PortDeclaration>>;
  /** The type of the Service that leads to `ports`. @default "ClusterIP" */
  readonly serviceType?: "ClusterIP" | "NodePort" | "LoadBalancer";
  /** TCP ports that it connects to beside DNS and the API server's (443 and 6443). @default none */
  readonly egress?: readonly number[] | "anywhere";
  /** Where `/metrics` is served; `false` for nowhere. @default 8080 */
  readonly metricsPort?: number | false;
  /**
   * Where `/healthz` and `/readyz` are served; `false` for nowhere: there are no probes.
   *
   * @default 8081
   */
  readonly healthPort?: number | false;
  /** @default requests of 50m CPU and 128Mi, and a limit of 256Mi */
  readonly resources?: ResourceRequirementsInput;
  /** Controllers that it runs: their roles are its roles. @default none */
  readonly controllers?: readonly Controller[];
  /** Rights in all namespaces, beside those that its controllers declare. @default none */
  readonly clusterRules?: readonly PolicyRule[];
  /**
   * Rights in the operator's own namespace, beside those that its controllers declare.
   *
   * @default none
   */
  readonly namespaceRules?: readonly PolicyRule[];
  /**
   * Fields of the pod's spec that take the place of the generated ones: `volumes`,
   * `terminationGracePeriodSeconds`.
   *
   * @default none
   */
  readonly pod?: Partial<Omit<PodSpecInput, "containers">>;
  /**
   * Fields of the container that take the place of the generated ones: `volumeMounts`.
   *
   * @default none
   */
  readonly container?: Partial<Omit<ContainerInput, "name" | "image">>;
  /**
   * The same program once more in each pod, in a container of its own. Both have the pod's address,
   * and those of `ports` on which both listen (`reusePort`) take connections as long as one of the
   * two lives. @default none
   */
  readonly twin?: TwinDeclaration;
}

/** Pods that the operator makes, in whatever namespaces, and that serve metrics. */
export interface PodMonitorDeclaration {
  /** Labels that they all have, and no others. */
  readonly labels: Readonly<Record<string, string>>;
  /** The name of the container's port where `/metrics` is served. @default "metrics" */
  readonly port?: string;
}

/** An alert of Prometheus. */
export interface AlertDeclaration {
  /** In CamelCase, and unique. */
  readonly name: string;
  /**
   * The expression. `labels` select the operator's own series: `` `my_failures_total{${labels}}`
   * ``.
   */
  readonly expr: (labels: string) => string;
  /** How long it must hold. @default "10m" */
  readonly for?: string;
  /** @default "warning" */
  readonly severity?: "info" | "warning" | "critical";
  /** What is wrong, in one line. May use Prometheus' templates: `{{ $labels.controller }}`. */
  readonly summary: string;
  /** What it means and what to do. */
  readonly description: string;
}

/** A graph of the dashboard. */
export interface PanelDeclaration {
  readonly title: string;
  /** A line for each series of each query. */
  readonly queries: readonly {
    readonly expr: (labels: string) => string;
    /** The name of a line, by its labels: `{{controller}}`. @default Grafana's own */
    readonly legend?: string;
  }[];
  /** One of Grafana's units: `s`, `bytes`, `ops`, `short`. @default "short" */
  readonly unit?: string;
}

/**
 * What is particular to an operator. All that is installed in a cluster is made from this and from
 * its code.
 */
export interface OperatorDeclaration extends ComponentDeclaration {
  /** The name of the Deployment, the roles and the lease: `shop-operator`. */
  readonly name: string;
  /** What it does, in one line: for the chart. */
  readonly description: string;
  /** The kinds that it installs. */
  readonly kinds: readonly Resource[];
  readonly controllers: readonly Controller[];
  /** Must have the operator's name. @default none */
  readonly webhooks?: WebhookServer;
  /**
   * The name of the lease: the manager's `leaderElection.name`. `false` if it elects no leader.
   *
   * @default the operator's name
   */
  readonly leaderElection?: string | false;
  /** Only these namespaces are watched: the manager's `namespaces`. @default all */
  readonly namespaces?: readonly string[];
  /** Where the kustomization installs it. @default `shop-system` for `shop-operator` */
  readonly namespace?: string;
  /**
   * The image, with its tag.
   *
   * @default the name, with the version of the operator's package.json as tag
   */
  readonly image?: string;
  /**
   * Programs that run beside it, by name: `gateway` becomes the Deployment `shop-operator-gateway`.
   *
   * @default none
   */
  readonly components?: Readonly<Record<string, ComponentDeclaration>>;
  /**
   * What Prometheus' operator scrapes beside the components, by name: `gateways` becomes the
   * PodMonitor `shop-operator-gateways`. Their series are not among those that `labels` of alerts
   * and graphs select. @default none
   */
  readonly podMonitors?: Readonly<Record<string, PodMonitorDeclaration>>;
  /**
   * What the installer may set for the manager and all components at once: `namespaceSelector` is
   * one value of the chart, and reaches each of them as a variable. @default nothing
   */
  readonly commonSettings?: Readonly<Record<string, SettingDeclaration>>;
  /** Alerts beside those on reconciles, queues, caches, leadership and webhooks. @default none */
  readonly alerts?: readonly AlertDeclaration[];
  /** Graphs beside those on the same. @default none */
  readonly panels?: readonly PanelDeclaration[];
}

/**
 * Declares an operator for `windlass generate`. It belongs into `windlass.config.ts`, exported as
 * `operator`.
 *
 * @example
 * export const operator = defineOperator({
 *   name: "shop-operator",
 *   description: "Runs a shop for each Shop",
 *   kinds: [Shop],
 *   controllers: [shopController],
 * });
 */
export function defineOperator(declaration: OperatorDeclaration): OperatorDeclaration {
  return declaration;
}
