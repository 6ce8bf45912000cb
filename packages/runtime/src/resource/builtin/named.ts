import type { BuiltinTypes } from "../../kinds/generated/builtin-types.ts";
import { type BuiltinSchema, builtin } from "./builtin-schema.ts";

function schemaFor<Name extends keyof BuiltinTypes>(name: Name) {
  return (): BuiltinSchema<BuiltinTypes[Name]> => builtin(name);
}

/** What pods are made from: metadata and spec, as in a Deployment's `template`. */
export const podTemplateSpec = schemaFor("corev1.PodTemplateSpec");

/** The spec of a Pod. */
export const podSpec = schemaFor("corev1.PodSpec");

/** One container of a Pod. */
export const container = schemaFor("corev1.Container");

/** A port that a container listens on. */
export const containerPort = schemaFor("corev1.ContainerPort");

/** One environment variable, with its value or where it comes from. */
export const envVar = schemaFor("corev1.EnvVar");

/** Where the value of an environment variable comes from. */
export const envVarSource = schemaFor("corev1.EnvVarSource");

/** A ConfigMap or Secret whose keys all become environment variables. */
export const envFromSource = schemaFor("corev1.EnvFromSource");

/** A volume of a Pod, of any type. */
export const volume = schemaFor("corev1.Volume");

/** Where a container sees a volume. */
export const volumeMount = schemaFor("corev1.VolumeMount");

/** What a container asks for and may use: `requests`, `limits`, `claims`. */
export const resourceRequirements = schemaFor("corev1.ResourceRequirements");

/** A liveness, readiness or startup probe. */
export const probe = schemaFor("corev1.Probe");

/** What to do after a container's start and before its end. */
export const lifecycle = schemaFor("corev1.Lifecycle");

/** The security settings of a container. */
export const securityContext = schemaFor("corev1.SecurityContext");

/** The security settings of a Pod. */
export const podSecurityContext = schemaFor("corev1.PodSecurityContext");

/** An entry of a Pod's /etc/hosts. */
export const hostAlias = schemaFor("corev1.HostAlias");

/** Rules on where pods may run: node affinity, pod affinity and anti-affinity. */
export const affinity = schemaFor("corev1.Affinity");

/** Rules on which nodes pods may run on. */
export const nodeAffinity = schemaFor("corev1.NodeAffinity");

/** Terms that select nodes. */
export const nodeSelector = schemaFor("corev1.NodeSelector");

/** Rules on which pods to run close to. */
export const podAffinity = schemaFor("corev1.PodAffinity");

/** Rules on which pods to run away from. */
export const podAntiAffinity = schemaFor("corev1.PodAntiAffinity");

/** A taint that pods put up with. */
export const toleration = schemaFor("corev1.Toleration");

/** How pods spread over zones, nodes or other domains. */
export const topologySpreadConstraint = schemaFor("corev1.TopologySpreadConstraint");

/** A reference to any object. */
export const objectReference = schemaFor("corev1.ObjectReference");

/** The name of an object in the same namespace. */
export const localObjectReference = schemaFor("corev1.LocalObjectReference");

/** A reference to an object of any kind in the same namespace. */
export const typedLocalObjectReference = schemaFor("corev1.TypedLocalObjectReference");

/** A reference to a Secret, in any namespace. */
export const secretReference = schemaFor("corev1.SecretReference");

/** A key of a Secret in the same namespace. */
export const secretKeySelector = schemaFor("corev1.SecretKeySelector");

/** A key of a ConfigMap in the same namespace. */
export const configMapKeySelector = schemaFor("corev1.ConfigMapKeySelector");

/** A whole claim, as in a StatefulSet's `volumeClaimTemplates`. */
export const persistentVolumeClaim = schemaFor("corev1.PersistentVolumeClaim");

/** The spec of a PersistentVolumeClaim. */
export const persistentVolumeClaimSpec = schemaFor("corev1.PersistentVolumeClaimSpec");

/** The spec of a Service. */
export const serviceSpec = schemaFor("corev1.ServiceSpec");

/** A port of a Service. */
export const servicePort = schemaFor("corev1.ServicePort");

/** An object's metadata, as in a template. */
export const objectMeta = schemaFor("metav1.ObjectMeta");

/** Selects objects by their labels. */
export const labelSelector = schemaFor("metav1.LabelSelector");

/** A reference to an owner. */
export const ownerReference = schemaFor("metav1.OwnerReference");

/** The spec of a Deployment. */
export const deploymentSpec = schemaFor("appsv1.DeploymentSpec");

/** How a Deployment replaces pods. */
export const deploymentStrategy = schemaFor("appsv1.DeploymentStrategy");

/** The spec of a StatefulSet. */
export const statefulSetSpec = schemaFor("appsv1.StatefulSetSpec");

/** How a StatefulSet replaces pods. */
export const statefulSetUpdateStrategy = schemaFor("appsv1.StatefulSetUpdateStrategy");

/** The spec of a DaemonSet. */
export const daemonSetSpec = schemaFor("appsv1.DaemonSetSpec");

/** How a DaemonSet replaces pods. */
export const daemonSetUpdateStrategy = schemaFor("appsv1.DaemonSetUpdateStrategy");

/** What Jobs are made from: metadata and spec, as in a CronJob's `jobTemplate`. */
export const jobTemplateSpec = schemaFor("batchv1.JobTemplateSpec");

/** The spec of a Job. */
export const jobSpec = schemaFor("batchv1.JobSpec");

/** The spec of a CronJob. */
export const cronJobSpec = schemaFor("batchv1.CronJobSpec");

/** The spec of a HorizontalPodAutoscaler. */
export const horizontalPodAutoscalerSpec = schemaFor("autoscalingv2.HorizontalPodAutoscalerSpec");

/** How fast an autoscaler scales up and down. */
export const horizontalPodAutoscalerBehavior = schemaFor("autoscalingv2.HorizontalPodAutoscalerBehavior");

/** A metric that an autoscaler scales by. */
export const metricSpec = schemaFor("autoscalingv2.MetricSpec");

/** A reference to what is scaled. */
export const crossVersionObjectReference = schemaFor("autoscalingv2.CrossVersionObjectReference");

/** The spec of a PodDisruptionBudget. */
export const podDisruptionBudgetSpec = schemaFor("policyv1.PodDisruptionBudgetSpec");

/** The spec of an Ingress. */
export const ingressSpec = schemaFor("networkingv1.IngressSpec");

/** The paths of one host of an Ingress. */
export const ingressRule = schemaFor("networkingv1.IngressRule");

/** The hosts that a certificate of an Ingress is for. */
export const ingressTLS = schemaFor("networkingv1.IngressTLS");

/** Where an Ingress sends requests. */
export const ingressBackend = schemaFor("networkingv1.IngressBackend");

/** The spec of a NetworkPolicy. */
export const networkPolicySpec = schemaFor("networkingv1.NetworkPolicySpec");

/** Whom a NetworkPolicy allows traffic with. */
export const networkPolicyPeer = schemaFor("networkingv1.NetworkPolicyPeer");

/** A port that a NetworkPolicy allows traffic to. */
export const networkPolicyPort = schemaFor("networkingv1.NetworkPolicyPort");

/** A rule of a Role. */
export const policyRule = schemaFor("rbacv1.PolicyRule");

/** To whom a Role is bound. */
export const subject = schemaFor("rbacv1.Subject");

/** The Role that is bound. */
export const roleRef = schemaFor("rbacv1.RoleRef");
