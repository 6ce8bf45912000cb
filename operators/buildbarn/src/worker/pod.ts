import type { ContainerInput, PodTemplateSpecInput } from "@windlass/runtime/kinds";
import {
  configMount,
  type PodConfiguration,
  podTemplate,
  probes,
  programContainer,
  restricted,
} from "../component/index.ts";
import { ports, profiles, workerDirectory } from "../configuration/index.ts";
import { configDirectory, podSelector } from "../names.ts";
import type { Worker } from "./worker.ts";

/** The user that actions run as: nobody. */
const actionUser = 65_534;
const workerVolume = { name: "worker", mountPath: workerDirectory } as const;
const programsVolume = { name: "empty", mountPath: "/bb" } as const;

/** The labels that select the pods of workers. */
export function workerSelector({ metadata, spec }: Worker): Record<string, string> {
  return podSelector("worker", metadata.name, spec.instance);
}

/**
 * The template of a worker's pod: bb_worker, and bb_runner in the image that actions need.
 *
 * Both are terminated together, and end what they run: so a pod may take as long as its longest
 * action.
 */
export function workerTemplate(worker: Worker, configuration: PodConfiguration): PodTemplateSpecInput {
  const { spec } = worker;
  const { images } = profiles[spec.version];
  return podTemplate({
    app: "worker",
    object: worker,
    selector: workerSelector(worker),
    ...configuration,
    pod: {
      terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds,
      // Each container sets its user: what the worker keeps must be safe from actions.
      securityContext: spec.securityContext ?? { seccompProfile: { type: "RuntimeDefault" } },
      initContainers: [
        {
          name: "bb-runner-installer",
          image: spec.runnerInstallerImage ?? images.runnerInstaller,
          securityContext: { ...restricted, runAsNonRoot: true, runAsUser: actionUser },
          volumeMounts: [programsVolume],
        },
        {
          name: "volume-init",
          image: spec.volumeInitImage,
          command: ["sh", "-c", volumeInit],
          securityContext: { ...restricted, runAsUser: 0 },
          volumeMounts: [workerVolume],
        },
      ],
      volumes: [
        { name: programsVolume.name, emptyDir: {} },
        { name: workerVolume.name, emptyDir: {} },
      ],
    },
    containers: [workerContainer(worker), runnerContainer(worker)],
  });
}

const volumeInit = [
  `mkdir -m 0777 -p ${workerDirectory}/build`,
  `mkdir -m 0700 -p ${workerDirectory}/cache`,
  `chmod 0777 ${workerDirectory}`,
].join(" && ");

function workerContainer({ spec }: Worker): ContainerInput {
  const container = programContainer({
    name: "worker",
    image: spec.image ?? profiles[spec.version].images.worker,
    entry: `worker-${spec.instance}.jsonnet`,
    ports: {},
    resources: spec.resources,
    mounts: [workerVolume],
  });
  return {
    ...container,
    // Removes the files that actions leave behind, of any owner, and keeps inputs that actions can
    // read but not change.
    securityContext: {
      ...restricted,
      runAsUser: 0,
      capabilities: { drop: ["ALL"], add: ["CHOWN", "DAC_OVERRIDE", "FOWNER"] },
    },
    ...probesOf(ports.diagnostics),
  };
}

function runnerContainer({ spec }: Worker): ContainerInput {
  return {
    name: "runner",
    image: spec.runnerImage,
    command: [...profiles[spec.version].runnerCommand, `${configDirectory}/runner-${spec.instance}.jsonnet`],
    ports: [{ name: "runner-metrics", containerPort: ports.runnerDiagnostics, protocol: "TCP" }],
    ...probesOf(ports.runnerDiagnostics),
    // Its own file system may be written: tools expect a /tmp.
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      runAsNonRoot: true,
      runAsUser: actionUser,
    },
    terminationMessagePolicy: "FallbackToLogsOnError",
    ...(spec.runnerResources && { resources: spec.runnerResources }),
    volumeMounts: [configMount, workerVolume, { ...programsVolume, readOnly: true }],
  };
}

/**
 * A liveness probe that failed would end actions. Under load it may fail for long, and a program
 * that ends is started again anyway.
 */
function probesOf(port: number) {
  const { livenessProbe, ...others } = probes(port);
  return { ...others, livenessProbe: { ...livenessProbe, periodSeconds: 30, failureThreshold: 10 } };
}
