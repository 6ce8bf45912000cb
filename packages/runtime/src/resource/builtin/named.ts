import type { BuiltinTypes } from "@windlass/kinds/schemas";
import { type BuiltinSchema, builtin } from "./builtin-schema.ts";

/**
 * Makes the schema of a type. Named in each declaration: the compiler would name the type by a file
 * that is private to its package.
 */
type SchemaFor<Name extends keyof BuiltinTypes> = () => BuiltinSchema<BuiltinTypes[Name]>;

function schemaFor<Name extends keyof BuiltinTypes>(name: Name): SchemaFor<Name> {
  return () => builtin(name);
}

/** What pods are made from: metadata and spec, as in a Deployment's `template`. */
export const podTemplateSpec: SchemaFor<"corev1.PodTemplateSpec"> = schemaFor("corev1.PodTemplateSpec");

/** The spec of a Pod. */
export const podSpec: SchemaFor<"corev1.PodSpec"> = schemaFor("corev1.PodSpec");

/** One container of a Pod. */
export const container: SchemaFor<"corev1.Container"> = schemaFor("corev1.Container");

/** A port that a container listens on. */
export const containerPort: SchemaFor<"corev1.ContainerPort"> = schemaFor("corev1.ContainerPort");

/** One environment variable, with its value or where it comes from. */
export const envVar: SchemaFor<"corev1.EnvVar"> = schemaFor("corev1.EnvVar");

/** Where the value of an environment variable comes from. */
export const envVarSource: SchemaFor<"corev1.EnvVarSource"> = schemaFor("corev1.EnvVarSource");

/** A ConfigMap or Secret whose keys all become environment variables. */
export const envFromSource: SchemaFor<"corev1.EnvFromSource"> = schemaFor("corev1.EnvFromSource");

/** A volume of a Pod, of any type. */
export const volume: SchemaFor<"corev1.Volume"> = schemaFor("corev1.Volume");

/** Where a container sees a volume. */
export const volumeMount: SchemaFor<"corev1.VolumeMount"> = schemaFor("corev1.VolumeMount");

/** What a container asks for and may use: `requests`, `limits`, `claims`. */
export const resourceRequirements: SchemaFor<"corev1.ResourceRequirements"> = schemaFor(
  "corev1.ResourceRequirements",
);

/** A liveness, readiness or startup probe. */
export const probe: SchemaFor<"corev1.Probe"> = schemaFor("corev1.Probe");

/** What to do after a container's start and before its end. */
export const lifecycle: SchemaFor<"corev1.Lifecycle"> = schemaFor("corev1.Lifecycle");

/** The security settings of a container. */
export const securityContext: SchemaFor<"corev1.SecurityContext"> = schemaFor("corev1.SecurityContext");

/** The security settings of a Pod. */
export const podSecurityContext: SchemaFor<"corev1.PodSecurityContext"> =
  schemaFor("corev1.PodSecurityContext");

/** An entry of a Pod's /etc/hosts. */
export const hostAlias: SchemaFor<"corev1.HostAlias"> = schemaFor("corev1.HostAlias");

/** Rules on where pods may run: node affinity, pod affinity and anti-affinity. */
export const affinity: SchemaFor<"corev1.Affinity"> = schemaFor("corev1.Affinity");

/** Rules on which nodes pods may run on. */
export const nodeAffinity: SchemaFor<"corev1.NodeAffinity"> = schemaFor("corev1.NodeAffinity");

/** Terms that select nodes. */
export const nodeSelector: SchemaFor<"corev1.NodeSelector"> = schemaFor("corev1.NodeSelector");

/** Rules on which pods to run close to. */
export const podAffinity: SchemaFor<"corev1.PodAffinity"> = schemaFor("corev1.PodAffinity");

/** Rules on which pods to run away from. */
export const podAntiAffinity: SchemaFor<"corev1.PodAntiAffinity"> = schemaFor("corev1.PodAntiAffinity");

/** A taint that pods put up with. */
export const toleration: SchemaFor<"corev1.Toleration"> = schemaFor("corev1.Toleration");

/** How pods spread over zones, nodes or other domains. */
export const topologySpreadConstraint: SchemaFor<"corev1.TopologySpreadConstraint"> = schemaFor(
  "corev1.TopologySpreadConstraint",
);

/** A reference to any object. */
export const objectReference: SchemaFor<"corev1.ObjectReference"> = schemaFor("corev1.ObjectReference");

/** The name of an object in the same namespace. */
export const localObjectReference: SchemaFor<"corev1.LocalObjectReference"> = schemaFor(
  "corev1.LocalObjectReference",
);

/** A reference to an object of any kind in the same namespace. */
export const typedLocalObjectReference: SchemaFor<"corev1.TypedLocalObjectReference"> = schemaFor(
  "corev1.TypedLocalObjectReference",
);

/** A reference to a Secret, in any namespace. */
export const secretReference: SchemaFor<"corev1.SecretReference"> = schemaFor("corev1.SecretReference");

/** A key of a Secret in the same namespace. */
export const secretKeySelector: SchemaFor<"corev1.SecretKeySelector"> = schemaFor("corev1.SecretKeySelector");

/** A key of a ConfigMap in the same namespace. */
export const configMapKeySelector: SchemaFor<"corev1.ConfigMapKeySelector"> = schemaFor(
  "corev1.ConfigMapKeySelector",
);

/** A whole claim, as in a StatefulSet's `volumeClaimTemplates`. */
export const persistentVolumeClaim: SchemaFor<"corev1.PersistentVolumeClaim"> = schemaFor(
  "corev1.PersistentVolumeClaim",
);

/** The spec of a PersistentVolumeClaim. */
export const persistentVolumeClaimSpec: SchemaFor<"corev1.PersistentVolumeClaimSpec"> = schemaFor(
  "corev1.PersistentVolumeClaimSpec",
);

/** The spec of a Service. */
export const serviceSpec: SchemaFor<"corev1.ServiceSpec"> = schemaFor("corev1.ServiceSpec");

/** A port of a Service. */
export const servicePort: SchemaFor<"corev1.ServicePort"> = schemaFor("corev1.ServicePort");

/** An object's metadata, as in a template. */
export const objectMeta: SchemaFor<"metav1.ObjectMeta"> = schemaFor("metav1.ObjectMeta");

/** Selects objects by their labels. */
export const labelSelector: SchemaFor<"metav1.LabelSelector"> = schemaFor("metav1.LabelSelector");

/** A reference to an owner. */
export const ownerReference: SchemaFor<"metav1.OwnerReference"> = schemaFor("metav1.OwnerReference");

/** The spec of a Deployment. */
export const deploymentSpec: SchemaFor<"appsv1.DeploymentSpec"> = schemaFor("appsv1.DeploymentSpec");

/** How a Deployment replaces pods. */
export const deploymentStrategy: SchemaFor<"appsv1.DeploymentStrategy"> =
  schemaFor("appsv1.DeploymentStrategy");

/** The spec of a StatefulSet. */
export const statefulSetSpec: SchemaFor<"appsv1.StatefulSetSpec"> = schemaFor("appsv1.StatefulSetSpec");

/** How a StatefulSet replaces pods. */
export const statefulSetUpdateStrategy: SchemaFor<"appsv1.StatefulSetUpdateStrategy"> = schemaFor(
  "appsv1.StatefulSetUpdateStrategy",
);

/** The spec of a DaemonSet. */
export const daemonSetSpec: SchemaFor<"appsv1.DaemonSetSpec"> = schemaFor("appsv1.DaemonSetSpec");

/** How a DaemonSet replaces pods. */
export const daemonSetUpdateStrategy: SchemaFor<"appsv1.DaemonSetUpdateStrategy"> = schemaFor(
  "appsv1.DaemonSetUpdateStrategy",
);

/** What Jobs are made from: metadata and spec, as in a CronJob's `jobTemplate`. */
export const jobTemplateSpec: SchemaFor<"batchv1.JobTemplateSpec"> = schemaFor("batchv1.JobTemplateSpec");

/** The spec of a Job. */
export const jobSpec: SchemaFor<"batchv1.JobSpec"> = schemaFor("batchv1.JobSpec");

/** The spec of a CronJob. */
export const cronJobSpec: SchemaFor<"batchv1.CronJobSpec"> = schemaFor("batchv1.CronJobSpec");

/** The spec of a HorizontalPodAutoscaler. */
export const horizontalPodAutoscalerSpec: SchemaFor<"autoscalingv2.HorizontalPodAutoscalerSpec"> = schemaFor(
  "autoscalingv2.HorizontalPodAutoscalerSpec",
);

/** How fast an autoscaler scales up and down. */
export const horizontalPodAutoscalerBehavior: SchemaFor<"autoscalingv2.HorizontalPodAutoscalerBehavior"> =
  schemaFor("autoscalingv2.HorizontalPodAutoscalerBehavior");

/** A metric that an autoscaler scales by. */
export const metricSpec: SchemaFor<"autoscalingv2.MetricSpec"> = schemaFor("autoscalingv2.MetricSpec");

/** A reference to what is scaled. */
export const crossVersionObjectReference: SchemaFor<"autoscalingv2.CrossVersionObjectReference"> = schemaFor(
  "autoscalingv2.CrossVersionObjectReference",
);

/** The spec of a PodDisruptionBudget. */
export const podDisruptionBudgetSpec: SchemaFor<"policyv1.PodDisruptionBudgetSpec"> = schemaFor(
  "policyv1.PodDisruptionBudgetSpec",
);

/** The spec of an Ingress. */
export const ingressSpec: SchemaFor<"networkingv1.IngressSpec"> = schemaFor("networkingv1.IngressSpec");

/** The paths of one host of an Ingress. */
export const ingressRule: SchemaFor<"networkingv1.IngressRule"> = schemaFor("networkingv1.IngressRule");

/** The hosts that a certificate of an Ingress is for. */
export const ingressTLS: SchemaFor<"networkingv1.IngressTLS"> = schemaFor("networkingv1.IngressTLS");

/** Where an Ingress sends requests. */
export const ingressBackend: SchemaFor<"networkingv1.IngressBackend"> = schemaFor(
  "networkingv1.IngressBackend",
);

/** The spec of a NetworkPolicy. */
export const networkPolicySpec: SchemaFor<"networkingv1.NetworkPolicySpec"> = schemaFor(
  "networkingv1.NetworkPolicySpec",
);

/** Whom a NetworkPolicy allows traffic with. */
export const networkPolicyPeer: SchemaFor<"networkingv1.NetworkPolicyPeer"> = schemaFor(
  "networkingv1.NetworkPolicyPeer",
);

/** A port that a NetworkPolicy allows traffic to. */
export const networkPolicyPort: SchemaFor<"networkingv1.NetworkPolicyPort"> = schemaFor(
  "networkingv1.NetworkPolicyPort",
);

/** A rule of a Role. */
export const policyRule: SchemaFor<"rbacv1.PolicyRule"> = schemaFor("rbacv1.PolicyRule");

/** To whom a Role is bound. */
export const subject: SchemaFor<"rbacv1.Subject"> = schemaFor("rbacv1.Subject");

/** The Role that is bound. */
export const roleRef: SchemaFor<"rbacv1.RoleRef"> = schemaFor("rbacv1.RoleRef");
