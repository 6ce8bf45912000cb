import { defineOperator } from "@windlass/cli";
import { systemClock, systemRandom } from "@windlass/clock";
import { alerts, panels } from "./monitoring.ts";
import { apiRights } from "./src/api/index.ts";
import { CredentialStore } from "./src/credentials.ts";
import {
  apiName,
  BuildKitOIDCConfig,
  BuildKitPool,
  BuildKitRequest,
  BuildKitWorker,
  leaseName,
  operatorName,
  workerPort,
} from "./src/index.ts";
import { controllersWith } from "./src/operator.ts";
import { ApiSettings, CommonSettings, OperatorSettings } from "./src/settings.ts";

const namespace = "buildkit-system";
/** What it takes to know which namespaces have the labels of `namespaceSelector`. */
const readNamespaces = { apiGroups: [""], resources: ["namespaces"], verbs: ["get", "list", "watch"] };
const credentials = new CredentialStore({
  operatorNamespace: namespace,
  clock: systemClock,
  random: systemRandom,
});

/** Names and ports are the original's, so that its clients find the API where they look for it. */
export const operator = defineOperator({
  name: operatorName,
  description: "Pools of BuildKit workers, made on demand, behind a gateway for each pool",
  image: "windlass/buildkit:dev",
  namespace,
  kinds: [BuildKitPool, BuildKitWorker, BuildKitRequest, BuildKitOIDCConfig],
  controllers: controllersWith(credentials, { namespace, gatewayImage: "" }),
  leaderElection: leaseName,
  // Workers are asked about their builds.
  egress: [workerPort],
  clusterRules: [readNamespaces],
  commonSettings: {
    namespaceSelector: { env: "NAMESPACE_SELECTOR", schema: CommonSettings.shape.NAMESPACE_SELECTOR },
    // Pools must not have them.
    "api.hostnames": { env: "API_HOSTNAMES", schema: CommonSettings.shape.API_HOSTNAMES },
  },
  settings: {
    "gateway.image": { env: "GATEWAY_IMAGE", schema: OperatorSettings.shape.GATEWAY_IMAGE },
  },
  components: {
    api: {
      args: ["main.js", "api"],
      ports: { api: 8082 },
      clusterRules: [...apiRights.clusterRules, readNamespaces],
      namespaceRules: apiRights.namespaceRules,
      settings: {
        audience: { env: "API_AUDIENCE", schema: ApiSettings.shape.API_AUDIENCE },
        "admins.users": { env: "API_ADMIN_USERS", schema: ApiSettings.shape.API_ADMIN_USERS },
        "admins.groups": { env: "API_ADMIN_GROUPS", schema: ApiSettings.shape.API_ADMIN_GROUPS },
      },
      // A certificate that clients already trust goes there; without one, the API makes its own.
      pod: { volumes: [{ name: "tls", secret: { secretName: `${apiName}-tls`, optional: true } }] },
      container: { volumeMounts: [{ name: "tls", mountPath: "/etc/buildkit-api/tls", readOnly: true }] },
    },
  },
  podMonitors: { gateways: { labels: { "app.kubernetes.io/name": "buildkit-gateway" } } },
  alerts,
  panels,
});
