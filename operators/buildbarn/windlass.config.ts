import { defineOperator } from "@windlass/cli";
import { alerts, panels } from "./monitoring.ts";
import { ports } from "./src/configuration/ports.ts";
import { kinds } from "./src/kinds.ts";
import { controllers } from "./src/operator.ts";
import { operatorCertificateDirectory, operatorSecret } from "./src/set/index.ts";
import { Settings } from "./src/settings.ts";

/**
 * The certificate that the operator presents to sets with TLS between their components. Users of
 * such sets make it. The operator needs no right on Secrets for it.
 */
const certificate = { name: "internal-tls", secretName: operatorSecret };

export const operator = defineOperator({
  name: "buildbarn-operator",
  description: "Runs Buildbarn: a Bazel remote-execution cluster from a few short resources",
  namespace: "buildbarn-system",
  image: "windlass/buildbarn:dev",
  kinds: [...kinds],
  controllers: [...controllers],
  settings: {
    watchNamespaces: { env: "WATCH_NAMESPACES", schema: Settings.shape.WATCH_NAMESPACES },
  },
  // It asks schedulers for their queues, and frontends whether an action runs.
  egress: [ports.schedulerState, ports.frontend, ports.frontendInternal],
  pod: {
    volumes: [{ name: certificate.name, secret: { secretName: certificate.secretName, optional: true } }],
  },
  container: {
    volumeMounts: [{ name: certificate.name, mountPath: operatorCertificateDirectory, readOnly: true }],
  },
  alerts,
  panels,
});
