// Generated from src/recorded by scripts/record-kubernetes.ts. Do not edit.
import type { ClusterMetaInput, ClusterObjectMeta, NamedMetaInput, NamespacedObjectMeta, ObjectMetaInput, ResourceKind } from "../object.ts";
import type { Condition, ConditionInput, LabelSelector, LabelSelectorInput } from "./meta-v1.ts";

export interface AWSElasticBlockStoreVolumeSource {
  readonly fsType?: string;
  readonly partition?: number;
  readonly readOnly?: boolean;
  readonly volumeID: string;
}

export interface AWSElasticBlockStoreVolumeSourceInput {
  readonly fsType?: string | undefined;
  readonly partition?: number | undefined;
  readonly readOnly?: boolean | undefined;
  readonly volumeID: string;
}

export interface Affinity {
  readonly nodeAffinity?: NodeAffinity;
  readonly podAffinity?: PodAffinity;
  readonly podAntiAffinity?: PodAntiAffinity;
}

export interface AffinityInput {
  readonly nodeAffinity?: NodeAffinityInput | undefined;
  readonly podAffinity?: PodAffinityInput | undefined;
  readonly podAntiAffinity?: PodAntiAffinityInput | undefined;
}

export interface AppArmorProfile {
  readonly localhostProfile?: string;
  readonly type: "Localhost" | "RuntimeDefault" | "Unconfined";
}

export interface AppArmorProfileInput {
  readonly localhostProfile?: string | undefined;
  readonly type: "Localhost" | "RuntimeDefault" | "Unconfined";
}

export interface AttachedVolume {
  readonly devicePath: string;
  readonly name: string;
}

export interface AzureDiskVolumeSource {
  readonly cachingMode?: "None" | "ReadOnly" | "ReadWrite";
  readonly diskName: string;
  readonly diskURI: string;
  readonly fsType?: string;
  readonly kind?: "Dedicated" | "Managed" | "Shared";
  readonly readOnly?: boolean;
}

export interface AzureDiskVolumeSourceInput {
  readonly cachingMode?: "None" | "ReadOnly" | "ReadWrite" | undefined;
  readonly diskName: string;
  readonly diskURI: string;
  readonly fsType?: string | undefined;
  readonly kind?: "Dedicated" | "Managed" | "Shared" | undefined;
  readonly readOnly?: boolean | undefined;
}

export interface AzureFilePersistentVolumeSource {
  readonly readOnly?: boolean;
  readonly secretName: string;
  readonly secretNamespace?: string | null;
  readonly shareName: string;
}

export interface AzureFilePersistentVolumeSourceInput {
  readonly readOnly?: boolean | undefined;
  readonly secretName: string;
  readonly secretNamespace?: string | null | undefined;
  readonly shareName: string;
}

export interface AzureFileVolumeSource {
  readonly readOnly?: boolean;
  readonly secretName: string;
  readonly shareName: string;
}

export interface AzureFileVolumeSourceInput {
  readonly readOnly?: boolean | undefined;
  readonly secretName: string;
  readonly shareName: string;
}

export interface Binding {
  readonly apiVersion?: "v1";
  readonly kind?: "Binding";
  readonly metadata: NamespacedObjectMeta;
  readonly target: ObjectReference;
}

export interface BindingInput {
  readonly apiVersion?: "v1" | undefined;
  readonly kind?: "Binding" | undefined;
  readonly metadata: NamedMetaInput;
  readonly target: ObjectReferenceInput;
}

export interface CSIPersistentVolumeSource {
  readonly controllerExpandSecretRef?: SecretReference;
  readonly controllerPublishSecretRef?: SecretReference;
  readonly driver: string;
  readonly fsType?: string;
  readonly nodeExpandSecretRef?: SecretReference;
  readonly nodePublishSecretRef?: SecretReference;
  readonly nodeStageSecretRef?: SecretReference;
  readonly readOnly?: boolean;
  readonly volumeAttributes?: Readonly<Record<string, string>>;
  readonly volumeHandle: string;
}

export interface CSIPersistentVolumeSourceInput {
  readonly controllerExpandSecretRef?: SecretReferenceInput | undefined;
  readonly controllerPublishSecretRef?: SecretReferenceInput | undefined;
  readonly driver: string;
  readonly fsType?: string | undefined;
  readonly nodeExpandSecretRef?: SecretReferenceInput | undefined;
  readonly nodePublishSecretRef?: SecretReferenceInput | undefined;
  readonly nodeStageSecretRef?: SecretReferenceInput | undefined;
  readonly readOnly?: boolean | undefined;
  readonly volumeAttributes?: Readonly<Record<string, string>> | undefined;
  readonly volumeHandle: string;
}

export interface CSIVolumeSource {
  readonly driver: string;
  readonly fsType?: string;
  readonly nodePublishSecretRef?: LocalObjectReference;
  readonly readOnly?: boolean;
  readonly volumeAttributes?: Readonly<Record<string, string>>;
}

export interface CSIVolumeSourceInput {
  readonly driver: string;
  readonly fsType?: string | undefined;
  readonly nodePublishSecretRef?: LocalObjectReferenceInput | undefined;
  readonly readOnly?: boolean | undefined;
  readonly volumeAttributes?: Readonly<Record<string, string>> | undefined;
}

export interface Capabilities {
  readonly add?: readonly string[];
  readonly drop?: readonly string[];
}

export interface CapabilitiesInput {
  readonly add?: readonly string[] | undefined;
  readonly drop?: readonly string[] | undefined;
}

export interface CephFSPersistentVolumeSource {
  readonly monitors: readonly string[];
  readonly path?: string;
  readonly readOnly?: boolean;
  readonly secretFile?: string;
  readonly secretRef?: SecretReference;
  readonly user?: string;
}

export interface CephFSPersistentVolumeSourceInput {
  readonly monitors: readonly string[];
  readonly path?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretFile?: string | undefined;
  readonly secretRef?: SecretReferenceInput | undefined;
  readonly user?: string | undefined;
}

export interface CephFSVolumeSource {
  readonly monitors: readonly string[];
  readonly path?: string;
  readonly readOnly?: boolean;
  readonly secretFile?: string;
  readonly secretRef?: LocalObjectReference;
  readonly user?: string;
}

export interface CephFSVolumeSourceInput {
  readonly monitors: readonly string[];
  readonly path?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretFile?: string | undefined;
  readonly secretRef?: LocalObjectReferenceInput | undefined;
  readonly user?: string | undefined;
}

export interface CinderPersistentVolumeSource {
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly secretRef?: SecretReference;
  readonly volumeID: string;
}

export interface CinderPersistentVolumeSourceInput {
  readonly fsType?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: SecretReferenceInput | undefined;
  readonly volumeID: string;
}

export interface CinderVolumeSource {
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly secretRef?: LocalObjectReference;
  readonly volumeID: string;
}

export interface CinderVolumeSourceInput {
  readonly fsType?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: LocalObjectReferenceInput | undefined;
  readonly volumeID: string;
}

export interface ClientIPConfig {
  readonly timeoutSeconds?: number;
}

export interface ClientIPConfigInput {
  readonly timeoutSeconds?: number | undefined;
}

export interface ClusterTrustBundleProjection {
  readonly labelSelector?: LabelSelector;
  readonly name?: string;
  readonly optional?: boolean;
  readonly path: string;
  readonly signerName?: string;
}

export interface ClusterTrustBundleProjectionInput {
  readonly labelSelector?: LabelSelectorInput | undefined;
  readonly name?: string | undefined;
  readonly optional?: boolean | undefined;
  readonly path: string;
  readonly signerName?: string | undefined;
}

export interface ComponentCondition {
  readonly error?: string;
  readonly message?: string;
  readonly status: string;
  readonly type: string;
}

export interface ComponentConditionInput {
  readonly error?: string | undefined;
  readonly message?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface ComponentStatus {
  readonly apiVersion?: "v1";
  readonly kind?: "ComponentStatus";
  readonly metadata: ClusterObjectMeta;
  readonly conditions?: readonly ComponentCondition[];
}

export interface ComponentStatusInput {
  readonly apiVersion?: "v1" | undefined;
  readonly kind?: "ComponentStatus" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly conditions?: readonly ComponentConditionInput[] | undefined;
}

export interface ConfigMap {
  readonly apiVersion?: "v1";
  readonly kind?: "ConfigMap";
  readonly metadata: NamespacedObjectMeta;
  readonly binaryData?: Readonly<Record<string, string>>;
  readonly data?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}

export interface ConfigMapInput {
  readonly apiVersion?: "v1" | undefined;
  readonly kind?: "ConfigMap" | undefined;
  readonly metadata: NamedMetaInput;
  readonly binaryData?: Readonly<Record<string, string>> | undefined;
  readonly data?: Readonly<Record<string, string>> | undefined;
  readonly immutable?: boolean | undefined;
}

export interface ConfigMapEnvSource {
  readonly name?: string;
  readonly optional?: boolean;
}

export interface ConfigMapEnvSourceInput {
  readonly name?: string | undefined;
  readonly optional?: boolean | undefined;
}

export interface ConfigMapKeySelector {
  readonly key: string;
  readonly name?: string;
  readonly optional?: boolean;
}

export interface ConfigMapKeySelectorInput {
  readonly key: string;
  readonly name?: string | undefined;
  readonly optional?: boolean | undefined;
}

export interface ConfigMapNodeConfigSource {
  readonly kubeletConfigKey: string;
  readonly name: string;
  readonly namespace: string;
  readonly resourceVersion?: string;
  readonly uid?: string;
}

export interface ConfigMapNodeConfigSourceInput {
  readonly kubeletConfigKey: string;
  readonly name: string;
  readonly namespace: string;
  readonly resourceVersion?: string | undefined;
  readonly uid?: string | undefined;
}

export interface ConfigMapProjection {
  readonly items?: readonly KeyToPath[];
  readonly name?: string;
  readonly optional?: boolean;
}

export interface ConfigMapProjectionInput {
  readonly items?: readonly KeyToPathInput[] | undefined;
  readonly name?: string | undefined;
  readonly optional?: boolean | undefined;
}

export interface ConfigMapVolumeSource {
  readonly defaultMode?: number;
  readonly items?: readonly KeyToPath[];
  readonly name?: string;
  readonly optional?: boolean;
}

export interface ConfigMapVolumeSourceInput {
  readonly defaultMode?: number | undefined;
  readonly items?: readonly KeyToPathInput[] | undefined;
  readonly name?: string | undefined;
  readonly optional?: boolean | undefined;
}

export interface Container {
  readonly args?: readonly string[];
  readonly command?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly EnvFromSource[];
  readonly image?: string;
  readonly imagePullPolicy?: "Always" | "IfNotPresent" | "Never";
  readonly lifecycle?: Lifecycle;
  readonly livenessProbe?: Probe;
  readonly name: string;
  readonly ports?: readonly ContainerPort[];
  readonly readinessProbe?: Probe;
  readonly resizePolicy?: readonly ContainerResizePolicy[];
  readonly resources?: ResourceRequirements;
  readonly restartPolicy?: string;
  readonly restartPolicyRules?: readonly ContainerRestartRule[];
  readonly securityContext?: SecurityContext;
  readonly startupProbe?: Probe;
  readonly stdin?: boolean;
  readonly stdinOnce?: boolean;
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: "FallbackToLogsOnError" | "File";
  readonly tty?: boolean;
  readonly volumeDevices?: readonly VolumeDevice[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly workingDir?: string;
}

export interface ContainerInput {
  readonly args?: readonly string[] | undefined;
  readonly command?: readonly string[] | undefined;
  readonly env?: readonly EnvVarInput[] | undefined;
  readonly envFrom?: readonly EnvFromSourceInput[] | undefined;
  readonly image?: string | undefined;
  readonly imagePullPolicy?: "Always" | "IfNotPresent" | "Never" | undefined;
  readonly lifecycle?: LifecycleInput | undefined;
  readonly livenessProbe?: ProbeInput | undefined;
  readonly name: string;
  readonly ports?: readonly ContainerPortInput[] | undefined;
  readonly readinessProbe?: ProbeInput | undefined;
  readonly resizePolicy?: readonly ContainerResizePolicy[] | undefined;
  readonly resources?: ResourceRequirementsInput | undefined;
  readonly restartPolicy?: string | undefined;
  readonly restartPolicyRules?: readonly ContainerRestartRuleInput[] | undefined;
  readonly securityContext?: SecurityContextInput | undefined;
  readonly startupProbe?: ProbeInput | undefined;
  readonly stdin?: boolean | undefined;
  readonly stdinOnce?: boolean | undefined;
  readonly terminationMessagePath?: string | undefined;
  readonly terminationMessagePolicy?: "FallbackToLogsOnError" | "File" | undefined;
  readonly tty?: boolean | undefined;
  readonly volumeDevices?: readonly VolumeDevice[] | undefined;
  readonly volumeMounts?: readonly VolumeMountInput[] | undefined;
  readonly workingDir?: string | undefined;
}

export interface ContainerExtendedResourceRequest {
  readonly containerName: string;
  readonly requestName: string;
  readonly resourceName: string;
}

export interface ContainerImage {
  readonly names?: readonly string[] | null;
  readonly sizeBytes?: number;
}

export interface ContainerImageInput {
  readonly names?: readonly string[] | null | undefined;
  readonly sizeBytes?: number | undefined;
}

export interface ContainerPort {
  readonly containerPort: number;
  readonly hostIP?: string;
  readonly hostPort?: number;
  readonly name?: string;
  readonly protocol?: "SCTP" | "TCP" | "UDP";
}

export interface ContainerPortInput {
  readonly containerPort: number;
  readonly hostIP?: string | undefined;
  readonly hostPort?: number | undefined;
  readonly name?: string | undefined;
  readonly protocol?: "SCTP" | "TCP" | "UDP" | undefined;
}

export interface ContainerResizePolicy {
  readonly resourceName: string;
  readonly restartPolicy: string;
}

export interface ContainerRestartRule {
  readonly action: string;
  readonly exitCodes?: ContainerRestartRuleOnExitCodes;
}

export interface ContainerRestartRuleInput {
  readonly action: string;
  readonly exitCodes?: ContainerRestartRuleOnExitCodesInput | undefined;
}

export interface ContainerRestartRuleOnExitCodes {
  readonly operator: string;
  readonly values?: readonly number[];
}

export interface ContainerRestartRuleOnExitCodesInput {
  readonly operator: string;
  readonly values?: readonly number[] | undefined;
}

export interface ContainerState {
  readonly running?: ContainerStateRunning;
  readonly terminated?: ContainerStateTerminated;
  readonly waiting?: ContainerStateWaiting;
}

export interface ContainerStateInput {
  readonly running?: ContainerStateRunningInput | undefined;
  readonly terminated?: ContainerStateTerminatedInput | undefined;
  readonly waiting?: ContainerStateWaitingInput | undefined;
}

export interface ContainerStateRunning {
  readonly startedAt?: string | null;
}

export interface ContainerStateRunningInput {
  readonly startedAt?: string | null | undefined;
}

export interface ContainerStateTerminated {
  readonly containerID?: string;
  readonly exitCode: number;
  readonly finishedAt?: string | null;
  readonly message?: string;
  readonly reason?: string;
  readonly signal?: number;
  readonly startedAt?: string | null;
}

export interface ContainerStateTerminatedInput {
  readonly containerID?: string | undefined;
  readonly exitCode: number;
  readonly finishedAt?: string | null | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly signal?: number | undefined;
  readonly startedAt?: string | null | undefined;
}

export interface ContainerStateWaiting {
  readonly message?: string;
  readonly reason?: string;
}

export interface ContainerStateWaitingInput {
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
}

export interface ContainerStatus {
  readonly allocatedResources?: Readonly<Record<string, string>>;
  readonly allocatedResourcesStatus?: readonly ResourceStatus[];
  readonly containerID?: string;
  readonly image: string;
  readonly imageID: string;
  readonly lastState?: ContainerState;
  readonly name: string;
  readonly ready: boolean;
  readonly resources?: ResourceRequirements;
  readonly restartCount: number;
  readonly started?: boolean;
  readonly state?: ContainerState;
  readonly stopSignal?: "SIGABRT" | "SIGALRM" | "SIGBUS" | "SIGCHLD" | "SIGCLD" | "SIGCONT" | "SIGFPE" | "SIGHUP" | "SIGILL" | "SIGINT" | "SIGIO" | "SIGIOT" | "SIGKILL" | "SIGPIPE" | "SIGPOLL" | "SIGPROF" | "SIGPWR" | "SIGQUIT" | "SIGRTMAX" | "SIGRTMAX-1" | "SIGRTMAX-10" | "SIGRTMAX-11" | "SIGRTMAX-12" | "SIGRTMAX-13" | "SIGRTMAX-14" | "SIGRTMAX-2" | "SIGRTMAX-3" | "SIGRTMAX-4" | "SIGRTMAX-5" | "SIGRTMAX-6" | "SIGRTMAX-7" | "SIGRTMAX-8" | "SIGRTMAX-9" | "SIGRTMIN" | "SIGRTMIN+1" | "SIGRTMIN+10" | "SIGRTMIN+11" | "SIGRTMIN+12" | "SIGRTMIN+13" | "SIGRTMIN+14" | "SIGRTMIN+15" | "SIGRTMIN+2" | "SIGRTMIN+3" | "SIGRTMIN+4" | "SIGRTMIN+5" | "SIGRTMIN+6" | "SIGRTMIN+7" | "SIGRTMIN+8" | "SIGRTMIN+9" | "SIGSEGV" | "SIGSTKFLT" | "SIGSTOP" | "SIGSYS" | "SIGTERM" | "SIGTRAP" | "SIGTSTP" | "SIGTTIN" | "SIGTTOU" | "SIGURG" | "SIGUSR1" | "SIGUSR2" | "SIGVTALRM" | "SIGWINCH" | "SIGXCPU" | "SIGXFSZ";
  readonly user?: ContainerUser;
  readonly volumeMounts?: readonly VolumeMountStatus[];
}

export interface ContainerStatusInput {
  readonly allocatedResources?: Readonly<Record<string, number | string>> | undefined;
  readonly allocatedResourcesStatus?: readonly ResourceStatusInput[] | undefined;
  readonly containerID?: string | undefined;
  readonly image: string;
  readonly imageID: string;
  readonly lastState?: ContainerStateInput | undefined;
  readonly name: string;
  readonly ready: boolean;
  readonly resources?: ResourceRequirementsInput | undefined;
  readonly restartCount: number;
  readonly started?: boolean | undefined;
  readonly state?: ContainerStateInput | undefined;
  readonly stopSignal?: "SIGABRT" | "SIGALRM" | "SIGBUS" | "SIGCHLD" | "SIGCLD" | "SIGCONT" | "SIGFPE" | "SIGHUP" | "SIGILL" | "SIGINT" | "SIGIO" | "SIGIOT" | "SIGKILL" | "SIGPIPE" | "SIGPOLL" | "SIGPROF" | "SIGPWR" | "SIGQUIT" | "SIGRTMAX" | "SIGRTMAX-1" | "SIGRTMAX-10" | "SIGRTMAX-11" | "SIGRTMAX-12" | "SIGRTMAX-13" | "SIGRTMAX-14" | "SIGRTMAX-2" | "SIGRTMAX-3" | "SIGRTMAX-4" | "SIGRTMAX-5" | "SIGRTMAX-6" | "SIGRTMAX-7" | "SIGRTMAX-8" | "SIGRTMAX-9" | "SIGRTMIN" | "SIGRTMIN+1" | "SIGRTMIN+10" | "SIGRTMIN+11" | "SIGRTMIN+12" | "SIGRTMIN+13" | "SIGRTMIN+14" | "SIGRTMIN+15" | "SIGRTMIN+2" | "SIGRTMIN+3" | "SIGRTMIN+4" | "SIGRTMIN+5" | "SIGRTMIN+6" | "SIGRTMIN+7" | "SIGRTMIN+8" | "SIGRTMIN+9" | "SIGSEGV" | "SIGSTKFLT" | "SIGSTOP" | "SIGSYS" | "SIGTERM" | "SIGTRAP" | "SIGTSTP" | "SIGTTIN" | "SIGTTOU" | "SIGURG" | "SIGUSR1" | "SIGUSR2" | "SIGVTALRM" | "SIGWINCH" | "SIGXCPU" | "SIGXFSZ" | undefined;
  readonly user?: ContainerUserInput | undefined;
  readonly volumeMounts?: readonly VolumeMountStatusInput[] | undefined;
}

export interface ContainerUser {
  readonly linux?: LinuxContainerUser;
}

export interface ContainerUserInput {
  readonly linux?: LinuxContainerUserInput | undefined;
}

export interface DaemonEndpoint {
  readonly Port: number;
}

export interface DownwardAPIProjection {
  readonly items?: readonly DownwardAPIVolumeFile[];
}

export interface DownwardAPIProjectionInput {
  readonly items?: readonly DownwardAPIVolumeFileInput[] | undefined;
}

export interface DownwardAPIVolumeFile {
  readonly fieldRef?: ObjectFieldSelector;
  readonly mode?: number;
  readonly path: string;
  readonly resourceFieldRef?: ResourceFieldSelector;
}

export interface DownwardAPIVolumeFileInput {
  readonly fieldRef?: ObjectFieldSelectorInput | undefined;
  readonly mode?: number | undefined;
  readonly path: string;
  readonly resourceFieldRef?: ResourceFieldSelectorInput | undefined;
}

export interface DownwardAPIVolumeSource {
  readonly defaultMode?: number;
  readonly items?: readonly DownwardAPIVolumeFile[];
}

export interface DownwardAPIVolumeSourceInput {
  readonly defaultMode?: number | undefined;
  readonly items?: readonly DownwardAPIVolumeFileInput[] | undefined;
}

export interface EmptyDirVolumeSource {
  readonly medium?: string;
  readonly sizeLimit?: string;
}

export interface EmptyDirVolumeSourceInput {
  readonly medium?: string | undefined;
  readonly sizeLimit?: number | string | undefined;
}

export interface EndpointAddress {
  readonly hostname?: string;
  readonly ip: string;
  readonly nodeName?: string;
  readonly targetRef?: ObjectReference;
}

export interface EndpointAddressInput {
  readonly hostname?: string | undefined;
  readonly ip: string;
  readonly nodeName?: string | undefined;
  readonly targetRef?: ObjectReferenceInput | undefined;
}

export interface EndpointPort {
  readonly appProtocol?: string;
  readonly name?: string;
  readonly port: number;
  readonly protocol?: "SCTP" | "TCP" | "UDP";
}

export interface EndpointPortInput {
  readonly appProtocol?: string | undefined;
  readonly name?: string | undefined;
  readonly port: number;
  readonly protocol?: "SCTP" | "TCP" | "UDP" | undefined;
}

export interface EndpointSubset {
  readonly addresses?: readonly EndpointAddress[];
  readonly notReadyAddresses?: readonly EndpointAddress[];
  readonly ports?: readonly EndpointPort[];
}

export interface EndpointSubsetInput {
  readonly addresses?: readonly EndpointAddressInput[] | undefined;
  readonly notReadyAddresses?: readonly EndpointAddressInput[] | undefined;
  readonly ports?: readonly EndpointPortInput[] | undefined;
}

export interface Endpoints {
  readonly apiVersion?: "v1";
  readonly kind?: "Endpoints";
  readonly metadata: NamespacedObjectMeta;
  readonly subsets?: readonly EndpointSubset[];
}

export interface EndpointsInput {
  readonly apiVersion?: "v1" | undefined;
  readonly kind?: "Endpoints" | undefined;
  readonly metadata: NamedMetaInput;
  readonly subsets?: readonly EndpointSubsetInput[] | undefined;
}

export interface EnvFromSource {
  readonly configMapRef?: ConfigMapEnvSource;
  readonly prefix?: string;
  readonly secretRef?: SecretEnvSource;
}

export interface EnvFromSourceInput {
  readonly configMapRef?: ConfigMapEnvSourceInput | undefined;
  readonly prefix?: string | undefined;
  readonly secretRef?: SecretEnvSourceInput | undefined;
}

export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: EnvVarSource;
}

export interface EnvVarInput {
  readonly name: string;
  readonly value?: string | undefined;
  readonly valueFrom?: EnvVarSourceInput | undefined;
}

export interface EnvVarSource {
  readonly configMapKeyRef?: ConfigMapKeySelector;
  readonly fieldRef?: ObjectFieldSelector;
  readonly fileKeyRef?: FileKeySelector;
  readonly resourceFieldRef?: ResourceFieldSelector;
  readonly secretKeyRef?: SecretKeySelector;
}

export interface EnvVarSourceInput {
  readonly configMapKeyRef?: ConfigMapKeySelectorInput | undefined;
  readonly fieldRef?: ObjectFieldSelectorInput | undefined;
  readonly fileKeyRef?: FileKeySelectorInput | undefined;
  readonly resourceFieldRef?: ResourceFieldSelectorInput | undefined;
  readonly secretKeyRef?: SecretKeySelectorInput | undefined;
}

export interface EphemeralContainer {
  readonly args?: readonly string[];
  readonly command?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly EnvFromSource[];
  readonly image?: string;
  readonly imagePullPolicy?: "Always" | "IfNotPresent" | "Never";
  readonly lifecycle?: Lifecycle;
  readonly livenessProbe?: Probe;
  readonly name: string;
  readonly ports?: readonly ContainerPort[];
  readonly readinessProbe?: Probe;
  readonly resizePolicy?: readonly ContainerResizePolicy[];
  readonly resources?: ResourceRequirements;
  readonly restartPolicy?: string;
  readonly restartPolicyRules?: readonly ContainerRestartRule[];
  readonly securityContext?: SecurityContext;
  readonly startupProbe?: Probe;
  readonly stdin?: boolean;
  readonly stdinOnce?: boolean;
  readonly targetContainerName?: string;
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: "FallbackToLogsOnError" | "File";
  readonly tty?: boolean;
  readonly volumeDevices?: readonly VolumeDevice[];
  readonly volumeMounts?: readonly VolumeMount[];
  readonly workingDir?: string;
}

export interface EphemeralContainerInput {
  readonly args?: readonly string[] | undefined;
  readonly command?: readonly string[] | undefined;
  readonly env?: readonly EnvVarInput[] | undefined;
  readonly envFrom?: readonly EnvFromSourceInput[] | undefined;
  readonly image?: string | undefined;
  readonly imagePullPolicy?: "Always" | "IfNotPresent" | "Never" | undefined;
  readonly lifecycle?: LifecycleInput | undefined;
  readonly livenessProbe?: ProbeInput | undefined;
  readonly name: string;
  readonly ports?: readonly ContainerPortInput[] | undefined;
  readonly readinessProbe?: ProbeInput | undefined;
  readonly resizePolicy?: readonly ContainerResizePolicy[] | undefined;
  readonly resources?: ResourceRequirementsInput | undefined;
  readonly restartPolicy?: string | undefined;
  readonly restartPolicyRules?: readonly ContainerRestartRuleInput[] | undefined;
  readonly securityContext?: SecurityContextInput | undefined;
  readonly startupProbe?: ProbeInput | undefined;
  readonly stdin?: boolean | undefined;
  readonly stdinOnce?: boolean | undefined;
  readonly targetContainerName?: string | undefined;
  readonly terminationMessagePath?: string | undefined;
  readonly terminationMessagePolicy?: "FallbackToLogsOnError" | "File" | undefined;
  readonly tty?: boolean | undefined;
  readonly volumeDevices?: readonly VolumeDevice[] | undefined;
  readonly volumeMounts?: readonly VolumeMountInput[] | undefined;
  readonly workingDir?: string | undefined;
}

export interface EphemeralVolumeSource {
  readonly volumeClaimTemplate?: PersistentVolumeClaimTemplate;
}

export interface EphemeralVolumeSourceInput {
  readonly volumeClaimTemplate?: PersistentVolumeClaimTemplateInput | undefined;
}

export interface Event {
  readonly apiVersion?: "v1";
  readonly kind?: "Event";
  readonly metadata: NamespacedObjectMeta;
  readonly action?: string;
  readonly count?: number;
  readonly eventTime?: string | null;
  readonly firstTimestamp?: string | null;
  readonly involvedObject: ObjectReference;
  readonly lastTimestamp?: string | null;
  readonly message?: string;
  readonly reason?: string;
  readonly related?: ObjectReference;
  readonly reportingComponent?: string;
  readonly reportingInstance?: string;
  readonly series?: EventSeries;
  readonly source?: EventSource;
  readonly type?: string;
}

export interface EventInput {
  readonly apiVersion?: "v1" | undefined;
  readonly kind?: "Event" | undefined;
  readonly metadata: NamedMetaInput;
  readonly action?: string | undefined;
  readonly count?: number | undefined;
  readonly eventTime?: string | null | undefined;
  readonly firstTimestamp?: string | null | undefined;
  readonly involvedObject: ObjectReferenceInput;
  readonly lastTimestamp?: string | null | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly related?: ObjectReferenceInput | undefined;
  readonly reportingComponent?: string | undefined;
  readonly reportingInstance?: string | undefined;
  readonly series?: EventSeriesInput | undefined;
  readonly source?: EventSourceInput | undefined;
  readonly type?: string | undefined;
}

export interface EventSeries {
  readonly count?: number;
  readonly lastObservedTime?: string | null;
}

export interface EventSeriesInput {
  readonly count?: number | undefined;
  readonly lastObservedTime?: string | null | undefined;
}

export interface EventSource {
  readonly component?: string;
  readonly host?: string;
}

export interface EventSourceInput {
  readonly component?: string | undefined;
  readonly host?: string | undefined;
}

export interface ExecAction {
  readonly command?: readonly string[];
}

export interface ExecActionInput {
  readonly command?: readonly string[] | undefined;
}

export interface FCVolumeSource {
  readonly fsType?: string;
  readonly lun?: number;
  readonly readOnly?: boolean;
  readonly targetWWNs?: readonly string[];
  readonly wwids?: readonly string[];
}

export interface FCVolumeSourceInput {
  readonly fsType?: string | undefined;
  readonly lun?: number | undefined;
  readonly readOnly?: boolean | undefined;
  readonly targetWWNs?: readonly string[] | undefined;
  readonly wwids?: readonly string[] | undefined;
}

export interface FileKeySelector {
  readonly key: string;
  readonly optional?: boolean;
  readonly path: string;
  readonly volumeName: string;
}

export interface FileKeySelectorInput {
  readonly key: string;
  readonly optional?: boolean | undefined;
  readonly path: string;
  readonly volumeName: string;
}

export interface FlexPersistentVolumeSource {
  readonly driver: string;
  readonly fsType?: string;
  readonly options?: Readonly<Record<string, string>>;
  readonly readOnly?: boolean;
  readonly secretRef?: SecretReference;
}

export interface FlexPersistentVolumeSourceInput {
  readonly driver: string;
  readonly fsType?: string | undefined;
  readonly options?: Readonly<Record<string, string>> | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: SecretReferenceInput | undefined;
}

export interface FlexVolumeSource {
  readonly driver: string;
  readonly fsType?: string;
  readonly options?: Readonly<Record<string, string>>;
  readonly readOnly?: boolean;
  readonly secretRef?: LocalObjectReference;
}

export interface FlexVolumeSourceInput {
  readonly driver: string;
  readonly fsType?: string | undefined;
  readonly options?: Readonly<Record<string, string>> | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: LocalObjectReferenceInput | undefined;
}

export interface FlockerVolumeSource {
  readonly datasetName?: string;
  readonly datasetUUID?: string;
}

export interface FlockerVolumeSourceInput {
  readonly datasetName?: string | undefined;
  readonly datasetUUID?: string | undefined;
}

export interface GCEPersistentDiskVolumeSource {
  readonly fsType?: string;
  readonly partition?: number;
  readonly pdName: string;
  readonly readOnly?: boolean;
}

export interface GCEPersistentDiskVolumeSourceInput {
  readonly fsType?: string | undefined;
  readonly partition?: number | undefined;
  readonly pdName: string;
  readonly readOnly?: boolean | undefined;
}

export interface GRPCAction {
  readonly port: number;
  readonly service?: string;
}

export interface GRPCActionInput {
  readonly port: number;
  readonly service?: string | undefined;
}

export interface GitRepoVolumeSource {
  readonly directory?: string;
  readonly repository: string;
  readonly revision?: string;
}

export interface GitRepoVolumeSourceInput {
  readonly directory?: string | undefined;
  readonly repository: string;
  readonly revision?: string | undefined;
}

export interface GlusterfsPersistentVolumeSource {
  readonly endpoints: string;
  readonly endpointsNamespace?: string;
  readonly path: string;
  readonly readOnly?: boolean;
}

export interface GlusterfsPersistentVolumeSourceInput {
  readonly endpoints: string;
  readonly endpointsNamespace?: string | undefined;
  readonly path: string;
  readonly readOnly?: boolean | undefined;
}

export interface GlusterfsVolumeSource {
  readonly endpoints: string;
  readonly path: string;
  readonly readOnly?: boolean;
}

export interface GlusterfsVolumeSourceInput {
  readonly endpoints: string;
  readonly path: string;
  readonly readOnly?: boolean | undefined;
}

export interface HTTPGetAction {
  readonly host?: string;
  readonly httpHeaders?: readonly HTTPHeader[];
  readonly path?: string;
  readonly port: number | string;
  readonly scheme?: "HTTP" | "HTTPS";
}

export interface HTTPGetActionInput {
  readonly host?: string | undefined;
  readonly httpHeaders?: readonly HTTPHeader[] | undefined;
  readonly path?: string | undefined;
  readonly port: number | string;
  readonly scheme?: "HTTP" | "HTTPS" | undefined;
}

export interface HTTPHeader {
  readonly name: string;
  readonly value: string;
}

export interface HostAlias {
  readonly hostnames?: readonly string[];
  readonly ip: string;
}

export interface HostAliasInput {
  readonly hostnames?: readonly string[] | undefined;
  readonly ip: string;
}

export interface HostIP {
  readonly ip: string;
}

export interface HostPathVolumeSource {
  readonly path: string;
  readonly type?: "" | "BlockDevice" | "CharDevice" | "Directory" | "DirectoryOrCreate" | "File" | "FileOrCreate" | "Socket";
}

export interface HostPathVolumeSourceInput {
  readonly path: string;
  readonly type?: "" | "BlockDevice" | "CharDevice" | "Directory" | "DirectoryOrCreate" | "File" | "FileOrCreate" | "Socket" | undefined;
}

export interface ISCSIPersistentVolumeSource {
  readonly chapAuthDiscovery?: boolean;
  readonly chapAuthSession?: boolean;
  readonly fsType?: string;
  readonly initiatorName?: string;
  readonly iqn: string;
  readonly iscsiInterface?: string;
  readonly lun: number;
  readonly portals?: readonly string[];
  readonly readOnly?: boolean;
  readonly secretRef?: SecretReference;
  readonly targetPortal: string;
}

export interface ISCSIPersistentVolumeSourceInput {
  readonly chapAuthDiscovery?: boolean | undefined;
  readonly chapAuthSession?: boolean | undefined;
  readonly fsType?: string | undefined;
  readonly initiatorName?: string | undefined;
  readonly iqn: string;
  readonly iscsiInterface?: string | undefined;
  readonly lun: number;
  readonly portals?: readonly string[] | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: SecretReferenceInput | undefined;
  readonly targetPortal: string;
}

export interface ISCSIVolumeSource {
  readonly chapAuthDiscovery?: boolean;
  readonly chapAuthSession?: boolean;
  readonly fsType?: string;
  readonly initiatorName?: string;
  readonly iqn: string;
  readonly iscsiInterface?: string;
  readonly lun: number;
  readonly portals?: readonly string[];
  readonly readOnly?: boolean;
  readonly secretRef?: LocalObjectReference;
  readonly targetPortal: string;
}

export interface ISCSIVolumeSourceInput {
  readonly chapAuthDiscovery?: boolean | undefined;
  readonly chapAuthSession?: boolean | undefined;
  readonly fsType?: string | undefined;
  readonly initiatorName?: string | undefined;
  readonly iqn: string;
  readonly iscsiInterface?: string | undefined;
  readonly lun: number;
  readonly portals?: readonly string[] | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: LocalObjectReferenceInput | undefined;
  readonly targetPortal: string;
}

export interface ImageVolumeSource {
  readonly pullPolicy?: "Always" | "IfNotPresent" | "Never";
  readonly reference?: string;
}

export interface ImageVolumeSourceInput {
  readonly pullPolicy?: "Always" | "IfNotPresent" | "Never" | undefined;
  readonly reference?: string | undefined;
}

export interface KeyToPath {
  readonly key: string;
  readonly mode?: number;
  readonly path: string;
}

export interface KeyToPathInput {
  readonly key: string;
  readonly mode?: number | undefined;
  readonly path: string;
}

export interface Lifecycle {
  readonly postStart?: LifecycleHandler;
  readonly preStop?: LifecycleHandler;
  readonly stopSignal?: "SIGABRT" | "SIGALRM" | "SIGBUS" | "SIGCHLD" | "SIGCLD" | "SIGCONT" | "SIGFPE" | "SIGHUP" | "SIGILL" | "SIGINT" | "SIGIO" | "SIGIOT" | "SIGKILL" | "SIGPIPE" | "SIGPOLL" | "SIGPROF" | "SIGPWR" | "SIGQUIT" | "SIGRTMAX" | "SIGRTMAX-1" | "SIGRTMAX-10" | "SIGRTMAX-11" | "SIGRTMAX-12" | "SIGRTMAX-13" | "SIGRTMAX-14" | "SIGRTMAX-2" | "SIGRTMAX-3" | "SIGRTMAX-4" | "SIGRTMAX-5" | "SIGRTMAX-6" | "SIGRTMAX-7" | "SIGRTMAX-8" | "SIGRTMAX-9" | "SIGRTMIN" | "SIGRTMIN+1" | "SIGRTMIN+10" | "SIGRTMIN+11" | "SIGRTMIN+12" | "SIGRTMIN+13" | "SIGRTMIN+14" | "SIGRTMIN+15" | "SIGRTMIN+2" | "SIGRTMIN+3" | "SIGRTMIN+4" | "SIGRTMIN+5" | "SIGRTMIN+6" | "SIGRTMIN+7" | "SIGRTMIN+8" | "SIGRTMIN+9" | "SIGSEGV" | "SIGSTKFLT" | "SIGSTOP" | "SIGSYS" | "SIGTERM" | "SIGTRAP" | "SIGTSTP" | "SIGTTIN" | "SIGTTOU" | "SIGURG" | "SIGUSR1" | "SIGUSR2" | "SIGVTALRM" | "SIGWINCH" | "SIGXCPU" | "SIGXFSZ";
}

export interface LifecycleInput {
  readonly postStart?: LifecycleHandlerInput | undefined;
  readonly preStop?: LifecycleHandlerInput | undefined;
  readonly stopSignal?: "SIGABRT" | "SIGALRM" | "SIGBUS" | "SIGCHLD" | "SIGCLD" | "SIGCONT" | "SIGFPE" | "SIGHUP" | "SIGILL" | "SIGINT" | "SIGIO" | "SIGIOT" | "SIGKILL" | "SIGPIPE" | "SIGPOLL" | "SIGPROF" | "SIGPWR" | "SIGQUIT" | "SIGRTMAX" | "SIGRTMAX-1" | "SIGRTMAX-10" | "SIGRTMAX-11" | "SIGRTMAX-12" | "SIGRTMAX-13" | "SIGRTMAX-14" | "SIGRTMAX-2" | "SIGRTMAX-3" | "SIGRTMAX-4" | "SIGRTMAX-5" | "SIGRTMAX-6" | "SIGRTMAX-7" | "SIGRTMAX-8" | "SIGRTMAX-9" | "SIGRTMIN" | "SIGRTMIN+1" | "SIGRTMIN+10" | "SIGRTMIN+11" | "SIGRTMIN+12" | "SIGRTMIN+13" | "SIGRTMIN+14" | "SIGRTMIN+15" | "SIGRTMIN+2" | "SIGRTMIN+3" | "SIGRTMIN+4" | "SIGRTMIN+5" | "SIGRTMIN+6" | "SIGRTMIN+7" | "SIGRTMIN+8" | "SIGRTMIN+9" | "SIGSEGV" | "SIGSTKFLT" | "SIGSTOP" | "SIGSYS" | "SIGTERM" | "SIGTRAP" | "SIGTSTP" | "SIGTTIN" | "SIGTTOU" | "SIGURG" | "SIGUSR1" | "SIGUSR2" | "SIGVTALRM" | "SIGWINCH" | "SIGXCPU" | "SIGXFSZ" | undefined;
}

export interface LifecycleHandler {
  readonly exec?: ExecAction;
  readonly httpGet?: HTTPGetAction;
  readonly sleep?: SleepAction;
  readonly tcpSocket?: TCPSocketAction;
}

export interface LifecycleHandlerInput {
  readonly exec?: ExecActionInput | undefined;
  readonly httpGet?: HTTPGetActionInput | undefined;
  readonly sleep?: SleepAction | undefined;
  readonly tcpSocket?: TCPSocketActionInput | undefined;
}

export interface LimitRange {
  readonly apiVersion?: "v1";
  readonly kind?: "LimitRange";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: LimitRangeSpec;
}

export interface LimitRangeInput {
  readonly apiVersion?: "v1" | undefined;
  readonly kind?: "LimitRange" | undefined;
  readonly metadata: NamedMetaInput;
  readonly spec: LimitRangeSpecInput;
}

export interface LimitRangeItem {
  readonly default?: Readonly<Record<string, string>>;
  readonly defaultRequest?: Readonly<Record<string, string>>;
  readonly max?: Readonly<Record<string, string>>;
  readonly maxLimitRequestRatio?: Readonly<Record<string, string>>;
  readonly min?: Readonly<Record<string, string>>;
  readonly type: string;
}

export interface LimitRangeItemInput {
  readonly default?: Readonly<Record<string, number | string>> | undefined;
  readonly defaultRequest?: Readonly<Record<string, number | string>> | undefined;
  readonly max?: Readonly<Record<string, number | string>> | undefined;
  readonly maxLimitRequestRatio?: Readonly<Record<string, number | string>> | undefined;
  readonly min?: Readonly<Record<string, number | string>> | undefined;
  readonly type: string;
}

export interface LimitRangeSpec {
  readonly limits: readonly LimitRangeItem[] | null;
}

export interface LimitRangeSpecInput {
  readonly limits: readonly LimitRangeItemInput[] | null;
}

export interface LinuxContainerUser {
  readonly gid: number;
  readonly supplementalGroups?: readonly number[];
  readonly uid: number;
}

export interface LinuxContainerUserInput {
  readonly gid: number;
  readonly supplementalGroups?: readonly number[] | undefined;
  readonly uid: number;
}

export interface LoadBalancerIngress {
  readonly hostname?: string;
  readonly ip?: string;
  readonly ipMode?: string;
  readonly ports?: readonly PortStatus[];
}

export interface LoadBalancerIngressInput {
  readonly hostname?: string | undefined;
  readonly ip?: string | undefined;
  readonly ipMode?: string | undefined;
  readonly ports?: readonly PortStatusInput[] | undefined;
}

export interface LoadBalancerStatus {
  readonly ingress?: readonly LoadBalancerIngress[];
}

export interface LoadBalancerStatusInput {
  readonly ingress?: readonly LoadBalancerIngressInput[] | undefined;
}

export interface LocalObjectReference {
  readonly name?: string;
}

export interface LocalObjectReferenceInput {
  readonly name?: string | undefined;
}

export interface LocalVolumeSource {
  readonly fsType?: string;
  readonly path: string;
}

export interface LocalVolumeSourceInput {
  readonly fsType?: string | undefined;
  readonly path: string;
}

export interface ModifyVolumeStatus {
  readonly status: "InProgress" | "Infeasible" | "Pending";
  readonly targetVolumeAttributesClassName?: string;
}

export interface ModifyVolumeStatusInput {
  readonly status: "InProgress" | "Infeasible" | "Pending";
  readonly targetVolumeAttributesClassName?: string | undefined;
}

export interface NFSVolumeSource {
  readonly path: string;
  readonly readOnly?: boolean;
  readonly server: string;
}

export interface NFSVolumeSourceInput {
  readonly path: string;
  readonly readOnly?: boolean | undefined;
  readonly server: string;
}

export interface Namespace {
  readonly apiVersion?: "v1";
  readonly kind?: "Namespace";
  readonly metadata: ClusterObjectMeta;
  readonly spec: NamespaceSpec;
  readonly status?: NamespaceStatus;
}

export interface NamespaceInput {
  readonly apiVersion?: "v1" | undefined;
  readonly kind?: "Namespace" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly spec?: NamespaceSpecInput | undefined;
  readonly status?: NamespaceStatusInput | undefined;
}

export interface NamespaceCondition {
  readonly lastTransitionTime?: string | null;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface NamespaceConditionInput {
  readonly lastTransitionTime?: string | null | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface NamespaceSpec {
  readonly finalizers?: readonly string[];
}

export interface NamespaceSpecInput {
  readonly finalizers?: readonly string[] | undefined;
}

export interface NamespaceStatus {
  readonly conditions?: readonly NamespaceCondition[];
  readonly phase?: "Active" | "Terminating";
}

export interface NamespaceStatusInput {
  readonly conditions?: readonly NamespaceConditionInput[] | undefined;
  readonly phase?: "Active" | "Terminating" | undefined;
}

export interface Node {
  readonly apiVersion?: "v1";
  readonly kind?: "Node";
  readonly metadata: ClusterObjectMeta;
  readonly spec: NodeSpec;
  readonly status?: NodeStatus;
}

export interface NodeInput {
  readonly apiVersion?: "v1" | undefined;
  readonly kind?: "Node" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly spec?: NodeSpecInput | undefined;
  readonly status?: NodeStatusInput | undefined;
}

export interface NodeAddress {
  readonly address: string;
  readonly type: string;
}

export interface NodeAffinity {
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly PreferredSchedulingTerm[];
  readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector;
}

export interface NodeAffinityInput {
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly PreferredSchedulingTermInput[] | undefined;
  readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelectorInput | undefined;
}

export interface NodeCondition {
  readonly lastHeartbeatTime?: string | null;
  readonly lastTransitionTime?: string | null;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface NodeConditionInput {
  readonly lastHeartbeatTime?: string | null | undefined;
  readonly lastTransitionTime?: string | null | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface NodeConfigSource {
  readonly configMap?: ConfigMapNodeConfigSource;
}

export interface NodeConfigSourceInput {
  readonly configMap?: ConfigMapNodeConfigSourceInput | undefined;
}

export interface NodeConfigStatus {
  readonly active?: NodeConfigSource;
  readonly assigned?: NodeConfigSource;
  readonly error?: string;
  readonly lastKnownGood?: NodeConfigSource;
}

export interface NodeConfigStatusInput {
  readonly active?: NodeConfigSourceInput | undefined;
  readonly assigned?: NodeConfigSourceInput | undefined;
  readonly error?: string | undefined;
  readonly lastKnownGood?: NodeConfigSourceInput | undefined;
}

export interface NodeDaemonEndpoints {
  readonly kubeletEndpoint: DaemonEndpoint;
}

export interface NodeFeatures {
  readonly supplementalGroupsPolicy?: boolean;
}

export interface NodeFeaturesInput {
  readonly supplementalGroupsPolicy?: boolean | undefined;
}

export interface NodeRuntimeHandler {
  readonly features?: NodeRuntimeHandlerFeatures;
  readonly name?: string;
}

export interface NodeRuntimeHandlerInput {
  readonly features?: NodeRuntimeHandlerFeaturesInput | undefined;
  readonly name?: string | undefined;
}

export interface NodeRuntimeHandlerFeatures {
  readonly recursiveReadOnlyMounts?: boolean;
  readonly userNamespaces?: boolean;
}

export interface NodeRuntimeHandlerFeaturesInput {
  readonly recursiveReadOnlyMounts?: boolean | undefined;
  readonly userNamespaces?: boolean | undefined;
}

export interface NodeSelector {
  readonly nodeSelectorTerms: readonly NodeSelectorTerm[];
}

export interface NodeSelectorInput {
  readonly nodeSelectorTerms: readonly NodeSelectorTermInput[];
}

export interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: "DoesNotExist" | "Exists" | "Gt" | "In" | "Lt" | "NotIn";
  readonly values?: readonly string[];
}

export interface NodeSelectorRequirementInput {
  readonly key: string;
  readonly operator: "DoesNotExist" | "Exists" | "Gt" | "In" | "Lt" | "NotIn";
  readonly values?: readonly string[] | undefined;
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

export interface NodeSelectorTermInput {
  readonly matchExpressions?: readonly NodeSelectorRequirementInput[] | undefined;
  readonly matchFields?: readonly NodeSelectorRequirementInput[] | undefined;
}

export interface NodeSpec {
  readonly configSource?: NodeConfigSource;
  readonly externalID?: string;
  readonly podCIDR?: string;
  readonly podCIDRs?: readonly string[];
  readonly providerID?: string;
  readonly taints?: readonly Taint[];
  readonly unschedulable?: boolean;
}

export interface NodeSpecInput {
  readonly configSource?: NodeConfigSourceInput | undefined;
  readonly externalID?: string | undefined;
  readonly podCIDR?: string | undefined;
  readonly podCIDRs?: readonly string[] | undefined;
  readonly providerID?: string | undefined;
  readonly taints?: readonly TaintInput[] | undefined;
  readonly unschedulable?: boolean | undefined;
}

export interface NodeStatus {
  readonly addresses?: readonly NodeAddress[];
  readonly allocatable?: Readonly<Record<string, string>>;
  readonly capacity?: Readonly<Record<string, string>>;
  readonly conditions?: readonly NodeCondition[];
  readonly config?: NodeConfigStatus;
  readonly daemonEndpoints?: NodeDaemonEndpoints;
  readonly declaredFeatures?: readonly string[];
  readonly features?: NodeFeatures;
  readonly images?: readonly ContainerImage[];
  readonly nodeInfo?: NodeSystemInfo;
  readonly phase?: "Pending" | "Running" | "Terminated";
  readonly runtimeHandlers?: readonly NodeRuntimeHandler[];
  readonly volumesAttached?: readonly AttachedVolume[];
  readonly volumesInUse?: readonly string[];
}

export interface NodeStatusInput {
  readonly addresses?: readonly NodeAddress[] | undefined;
  readonly allocatable?: Readonly<Record<string, number | string>> | undefined;
  readonly capacity?: Readonly<Record<string, number | string>> | undefined;
  readonly conditions?: readonly NodeConditionInput[] | undefined;
  readonly config?: NodeConfigStatusInput | undefined;
  readonly daemonEndpoints?: NodeDaemonEndpoints | undefined;
  readonly declaredFeatures?: readonly string[] | undefined;
  readonly features?: NodeFeaturesInput | undefined;
  readonly images?: readonly ContainerImageInput[] | undefined;
  readonly nodeInfo?: NodeSystemInfoInput | undefined;
  readonly phase?: "Pending" | "Running" | "Terminated" | undefined;
  readonly runtimeHandlers?: readonly NodeRuntimeHandlerInput[] | undefined;
  readonly volumesAttached?: readonly AttachedVolume[] | undefined;
  readonly volumesInUse?: readonly string[] | undefined;
}

export interface NodeSwapStatus {
  readonly capacity?: number;
}

export interface NodeSwapStatusInput {
  readonly capacity?: number | undefined;
}

export interface NodeSystemInfo {
  readonly architecture: string;
  readonly bootID: string;
  readonly containerRuntimeVersion: string;
  readonly kernelVersion: string;
  readonly kubeProxyVersion: string;
  readonly kubeletVersion: string;
  readonly machineID: string;
  readonly operatingSystem: string;
  readonly osImage: string;
  readonly swap?: NodeSwapStatus;
  readonly systemUUID: string;
}

export interface NodeSystemInfoInput {
  readonly architecture: string;
  readonly bootID: string;
  readonly containerRuntimeVersion: string;
  readonly kernelVersion: string;
  readonly kubeProxyVersion: string;
  readonly kubeletVersion: string;
  readonly machineID: string;
  readonly operatingSystem: string;
  readonly osImage: string;
  readonly swap?: NodeSwapStatusInput | undefined;
  readonly systemUUID: string;
}

export interface ObjectFieldSelector {
  readonly apiVersion?: string;
  readonly fieldPath: string;
}

export interface ObjectFieldSelectorInput {
  readonly apiVersion?: string | undefined;
  readonly fieldPath: string;
}

export interface ObjectReference {
  readonly apiVersion?: string;
  readonly fieldPath?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly resourceVersion?: string;
  readonly uid?: string;
}

export interface ObjectReferenceInput {
  readonly apiVersion?: string | undefined;
  readonly fieldPath?: string | undefined;
  readonly kind?: string | undefined;
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
  readonly resourceVersion?: string | undefined;
  readonly uid?: string | undefined;
}

export interface PersistentVolume {
  readonly apiVersion?: "v1";
  readonly kind?: "PersistentVolume";
  readonly metadata: ClusterObjectMeta;
  readonly spec: PersistentVolumeSpec;
  readonly status?: PersistentVolumeStatus;
}

export interface PersistentVolumeInput {
  readonly apiVersion?: "v1" | undefined;
  readonly kind?: "PersistentVolume" | undefined;
  readonly metadata: ClusterMetaInput;
  readonly spec?: PersistentVolumeSpecInput | undefined;
  readonly status?: PersistentVolumeStatusInput | undefined;
}

export interface PersistentVolumeClaim {
  readonly apiVersion?: "v1";
  readonly kind?: "PersistentVolumeClaim";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: PersistentVolumeClaimSpec;
  readonly status?: PersistentVolumeClaimStatus;
}

export interface PersistentVolumeClaimInput {
  readonly apiVersion?: "v1" | undefined;
  readonly kind?: "PersistentVolumeClaim" | undefined;
  readonly metadata: NamedMetaInput;
  readonly spec?: PersistentVolumeClaimSpecInput | undefined;
  readonly status?: PersistentVolumeClaimStatusInput | undefined;
}

export interface PersistentVolumeClaimCondition {
  readonly lastProbeTime?: string | null;
  readonly lastTransitionTime?: string | null;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface PersistentVolumeClaimConditionInput {
  readonly lastProbeTime?: string | null | undefined;
  readonly lastTransitionTime?: string | null | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface PersistentVolumeClaimSpec {
  readonly accessModes?: readonly ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod")[];
  readonly dataSource?: TypedLocalObjectReference;
  readonly dataSourceRef?: TypedObjectReference;
  readonly resources?: VolumeResourceRequirements;
  readonly selector?: LabelSelector;
  readonly storageClassName?: string;
  readonly volumeAttributesClassName?: string;
  readonly volumeMode?: "Block" | "Filesystem";
  readonly volumeName?: string;
}

export interface PersistentVolumeClaimSpecInput {
  readonly accessModes?: readonly ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod")[] | undefined;
  readonly dataSource?: TypedLocalObjectReferenceInput | undefined;
  readonly dataSourceRef?: TypedObjectReferenceInput | undefined;
  readonly resources?: VolumeResourceRequirementsInput | undefined;
  readonly selector?: LabelSelectorInput | undefined;
  readonly storageClassName?: string | undefined;
  readonly volumeAttributesClassName?: string | undefined;
  readonly volumeMode?: "Block" | "Filesystem" | undefined;
  readonly volumeName?: string | undefined;
}

export interface PersistentVolumeClaimStatus {
  readonly accessModes?: readonly ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod")[];
  readonly allocatedResourceStatuses?: Readonly<Record<string, "ControllerResizeInProgress" | "ControllerResizeInfeasible" | "NodeResizeInProgress" | "NodeResizeInfeasible" | "NodeResizePending">>;
  readonly allocatedResources?: Readonly<Record<string, string>>;
  readonly capacity?: Readonly<Record<string, string>>;
  readonly conditions?: readonly PersistentVolumeClaimCondition[];
  readonly currentVolumeAttributesClassName?: string;
  readonly modifyVolumeStatus?: ModifyVolumeStatus;
  readonly phase?: "Bound" | "Lost" | "Pending";
}

export interface PersistentVolumeClaimStatusInput {
  readonly accessModes?: readonly ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod")[] | undefined;
  readonly allocatedResourceStatuses?: Readonly<Record<string, "ControllerResizeInProgress" | "ControllerResizeInfeasible" | "NodeResizeInProgress" | "NodeResizeInfeasible" | "NodeResizePending">> | undefined;
  readonly allocatedResources?: Readonly<Record<string, number | string>> | undefined;
  readonly capacity?: Readonly<Record<string, number | string>> | undefined;
  readonly conditions?: readonly PersistentVolumeClaimConditionInput[] | undefined;
  readonly currentVolumeAttributesClassName?: string | undefined;
  readonly modifyVolumeStatus?: ModifyVolumeStatusInput | undefined;
  readonly phase?: "Bound" | "Lost" | "Pending" | undefined;
}

export interface PersistentVolumeClaimTemplate {
  readonly metadata?: ObjectMetaInput;
  readonly spec: PersistentVolumeClaimSpec;
}

export interface PersistentVolumeClaimTemplateInput {
  readonly metadata?: ObjectMetaInput | undefined;
  readonly spec: PersistentVolumeClaimSpecInput;
}

export interface PersistentVolumeClaimVolumeSource {
  readonly claimName: string;
  readonly readOnly?: boolean;
}

export interface PersistentVolumeClaimVolumeSourceInput {
  readonly claimName: string;
  readonly readOnly?: boolean | undefined;
}

export interface PersistentVolumeSpec {
  readonly accessModes?: readonly ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod")[];
  readonly awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource;
  readonly azureDisk?: AzureDiskVolumeSource;
  readonly azureFile?: AzureFilePersistentVolumeSource;
  readonly capacity?: Readonly<Record<string, string>>;
  readonly cephfs?: CephFSPersistentVolumeSource;
  readonly cinder?: CinderPersistentVolumeSource;
  readonly claimRef?: ObjectReference;
  readonly csi?: CSIPersistentVolumeSource;
  readonly fc?: FCVolumeSource;
  readonly flexVolume?: FlexPersistentVolumeSource;
  readonly flocker?: FlockerVolumeSource;
  readonly gcePersistentDisk?: GCEPersistentDiskVolumeSource;
  readonly glusterfs?: GlusterfsPersistentVolumeSource;
  readonly hostPath?: HostPathVolumeSource;
  readonly iscsi?: ISCSIPersistentVolumeSource;
  readonly local?: LocalVolumeSource;
  readonly mountOptions?: readonly string[];
  readonly nfs?: NFSVolumeSource;
  readonly nodeAffinity?: VolumeNodeAffinity;
  readonly persistentVolumeReclaimPolicy?: "Delete" | "Recycle" | "Retain";
  readonly photonPersistentDisk?: PhotonPersistentDiskVolumeSource;
  readonly portworxVolume?: PortworxVolumeSource;
  readonly quobyte?: QuobyteVolumeSource;
  readonly rbd?: RBDPersistentVolumeSource;
  readonly scaleIO?: ScaleIOPersistentVolumeSource;
  readonly storageClassName?: string;
  readonly storageos?: StorageOSPersistentVolumeSource;
  readonly volumeAttributesClassName?: string;
  readonly volumeMode?: "Block" | "Filesystem";
  readonly vsphereVolume?: VsphereVirtualDiskVolumeSource;
}

export interface PersistentVolumeSpecInput {
  readonly accessModes?: readonly ("ReadOnlyMany" | "ReadWriteMany" | "ReadWriteOnce" | "ReadWriteOncePod")[] | undefined;
  readonly awsElasticBlockStore?: AWSElasticBlockStoreVolumeSourceInput | undefined;
  readonly azureDisk?: AzureDiskVolumeSourceInput | undefined;
  readonly azureFile?: AzureFilePersistentVolumeSourceInput | undefined;
  readonly capacity?: Readonly<Record<string, number | string>> | undefined;
  readonly cephfs?: CephFSPersistentVolumeSourceInput | undefined;
  readonly cinder?: CinderPersistentVolumeSourceInput | undefined;
  readonly claimRef?: ObjectReferenceInput | undefined;
  readonly csi?: CSIPersistentVolumeSourceInput | undefined;
  readonly fc?: FCVolumeSourceInput | undefined;
  readonly flexVolume?: FlexPersistentVolumeSourceInput | undefined;
  readonly flocker?: FlockerVolumeSourceInput | undefined;
  readonly gcePersistentDisk?: GCEPersistentDiskVolumeSourceInput | undefined;
  readonly glusterfs?: GlusterfsPersistentVolumeSourceInput | undefined;
  readonly hostPath?: HostPathVolumeSourceInput | undefined;
  readonly iscsi?: ISCSIPersistentVolumeSourceInput | undefined;
  readonly local?: LocalVolumeSourceInput | undefined;
  readonly mountOptions?: readonly string[] | undefined;
  readonly nfs?: NFSVolumeSourceInput | undefined;
  readonly nodeAffinity?: VolumeNodeAffinityInput | undefined;
  readonly persistentVolumeReclaimPolicy?: "Delete" | "Recycle" | "Retain" | undefined;
  readonly photonPersistentDisk?: PhotonPersistentDiskVolumeSourceInput | undefined;
  readonly portworxVolume?: PortworxVolumeSourceInput | undefined;
  readonly quobyte?: QuobyteVolumeSourceInput | undefined;
  readonly rbd?: RBDPersistentVolumeSourceInput | undefined;
  readonly scaleIO?: ScaleIOPersistentVolumeSourceInput | undefined;
  readonly storageClassName?: string | undefined;
  readonly storageos?: StorageOSPersistentVolumeSourceInput | undefined;
  readonly volumeAttributesClassName?: string | undefined;
  readonly volumeMode?: "Block" | "Filesystem" | undefined;
  readonly vsphereVolume?: VsphereVirtualDiskVolumeSourceInput | undefined;
}

export interface PersistentVolumeStatus {
  readonly lastPhaseTransitionTime?: string;
  readonly message?: string;
  readonly phase?: "Available" | "Bound" | "Failed" | "Pending" | "Released";
  readonly reason?: string;
}

export interface PersistentVolumeStatusInput {
  readonly lastPhaseTransitionTime?: string | undefined;
  readonly message?: string | undefined;
  readonly phase?: "Available" | "Bound" | "Failed" | "Pending" | "Released" | undefined;
  readonly reason?: string | undefined;
}

export interface PhotonPersistentDiskVolumeSource {
  readonly fsType?: string;
  readonly pdID: string;
}

export interface PhotonPersistentDiskVolumeSourceInput {
  readonly fsType?: string | undefined;
  readonly pdID: string;
}

export interface Pod {
  readonly apiVersion?: "v1";
  readonly kind?: "Pod";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

export interface PodInput {
  readonly apiVersion?: "v1" | undefined;
  readonly kind?: "Pod" | undefined;
  readonly metadata: NamedMetaInput;
  readonly spec: PodSpecInput;
  readonly status?: PodStatusInput | undefined;
}

export interface PodAffinity {
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[];
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
}

export interface PodAffinityInput {
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTermInput[] | undefined;
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTermInput[] | undefined;
}

export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly mismatchLabelKeys?: readonly string[];
  readonly namespaceSelector?: LabelSelector;
  readonly namespaces?: readonly string[];
  readonly topologyKey: string;
}

export interface PodAffinityTermInput {
  readonly labelSelector?: LabelSelectorInput | undefined;
  readonly matchLabelKeys?: readonly string[] | undefined;
  readonly mismatchLabelKeys?: readonly string[] | undefined;
  readonly namespaceSelector?: LabelSelectorInput | undefined;
  readonly namespaces?: readonly string[] | undefined;
  readonly topologyKey: string;
}

export interface PodAntiAffinity {
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTerm[];
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
}

export interface PodAntiAffinityInput {
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly WeightedPodAffinityTermInput[] | undefined;
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTermInput[] | undefined;
}

export interface PodCertificateProjection {
  readonly certificateChainPath?: string;
  readonly credentialBundlePath?: string;
  readonly keyPath?: string;
  readonly keyType: string;
  readonly maxExpirationSeconds?: number;
  readonly signerName: string;
  readonly userAnnotations?: Readonly<Record<string, string>>;
}

export interface PodCertificateProjectionInput {
  readonly certificateChainPath?: string | undefined;
  readonly credentialBundlePath?: string | undefined;
  readonly keyPath?: string | undefined;
  readonly keyType: string;
  readonly maxExpirationSeconds?: number | undefined;
  readonly signerName: string;
  readonly userAnnotations?: Readonly<Record<string, string>> | undefined;
}

export interface PodCondition {
  readonly lastProbeTime?: string | null;
  readonly lastTransitionTime?: string | null;
  readonly message?: string;
  readonly observedGeneration?: number;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface PodConditionInput {
  readonly lastProbeTime?: string | null | undefined;
  readonly lastTransitionTime?: string | null | undefined;
  readonly message?: string | undefined;
  readonly observedGeneration?: number | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface PodDNSConfig {
  readonly nameservers?: readonly string[];
  readonly options?: readonly PodDNSConfigOption[];
  readonly searches?: readonly string[];
}

export interface PodDNSConfigInput {
  readonly nameservers?: readonly string[] | undefined;
  readonly options?: readonly PodDNSConfigOptionInput[] | undefined;
  readonly searches?: readonly string[] | undefined;
}

export interface PodDNSConfigOption {
  readonly name?: string;
  readonly value?: string;
}

export interface PodDNSConfigOptionInput {
  readonly name?: string | undefined;
  readonly value?: string | undefined;
}

export interface PodExtendedResourceClaimStatus {
  readonly requestMappings: readonly ContainerExtendedResourceRequest[] | null;
  readonly resourceClaimName: string;
}

export interface PodIP {
  readonly ip: string;
}

export interface PodOS {
  readonly name: string;
}

export interface PodReadinessGate {
  readonly conditionType: string;
}

export interface PodResourceClaim {
  readonly name: string;
  readonly resourceClaimName?: string;
  readonly resourceClaimTemplateName?: string;
}

export interface PodResourceClaimInput {
  readonly name: string;
  readonly resourceClaimName?: string | undefined;
  readonly resourceClaimTemplateName?: string | undefined;
}

export interface PodResourceClaimStatus {
  readonly name: string;
  readonly resourceClaimName?: string;
}

export interface PodResourceClaimStatusInput {
  readonly name: string;
  readonly resourceClaimName?: string | undefined;
}

export interface PodSchedulingGate {
  readonly name: string;
}

export interface PodSecurityContext {
  readonly appArmorProfile?: AppArmorProfile;
  readonly fsGroup?: number;
  readonly fsGroupChangePolicy?: "Always" | "OnRootMismatch";
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly seLinuxChangePolicy?: string;
  readonly seLinuxOptions?: SELinuxOptions;
  readonly seccompProfile?: SeccompProfile;
  readonly supplementalGroups?: readonly number[];
  readonly supplementalGroupsPolicy?: "Merge" | "Strict";
  readonly sysctls?: readonly Sysctl[];
  readonly windowsOptions?: WindowsSecurityContextOptions;
}

export interface PodSecurityContextInput {
  readonly appArmorProfile?: AppArmorProfileInput | undefined;
  readonly fsGroup?: number | undefined;
  readonly fsGroupChangePolicy?: "Always" | "OnRootMismatch" | undefined;
  readonly runAsGroup?: number | undefined;
  readonly runAsNonRoot?: boolean | undefined;
  readonly runAsUser?: number | undefined;
  readonly seLinuxChangePolicy?: string | undefined;
  readonly seLinuxOptions?: SELinuxOptionsInput | undefined;
  readonly seccompProfile?: SeccompProfileInput | undefined;
  readonly supplementalGroups?: readonly number[] | undefined;
  readonly supplementalGroupsPolicy?: "Merge" | "Strict" | undefined;
  readonly sysctls?: readonly Sysctl[] | undefined;
  readonly windowsOptions?: WindowsSecurityContextOptionsInput | undefined;
}

export interface PodSpec {
  readonly activeDeadlineSeconds?: number;
  readonly affinity?: Affinity;
  readonly automountServiceAccountToken?: boolean;
  readonly containers: readonly Container[];
  readonly dnsConfig?: PodDNSConfig;
  readonly dnsPolicy?: "ClusterFirst" | "ClusterFirstWithHostNet" | "Default" | "None";
  readonly enableServiceLinks?: boolean;
  readonly ephemeralContainers?: readonly EphemeralContainer[];
  readonly hostAliases?: readonly HostAlias[];
  readonly hostIPC?: boolean;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostUsers?: boolean;
  readonly hostname?: string;
  readonly hostnameOverride?: string;
  readonly imagePullSecrets?: readonly LocalObjectReference[];
  readonly initContainers?: readonly Container[];
  readonly nodeName?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly os?: PodOS;
  readonly overhead?: Readonly<Record<string, string>>;
  readonly preemptionPolicy?: "Never" | "PreemptLowerPriority";
  readonly priority?: number;
  readonly priorityClassName?: string;
  readonly readinessGates?: readonly PodReadinessGate[];
  readonly resourceClaims?: readonly PodResourceClaim[];
  readonly resources?: ResourceRequirements;
  readonly restartPolicy?: "Always" | "Never" | "OnFailure";
  readonly runtimeClassName?: string;
  readonly schedulerName?: string;
  readonly schedulingGates?: readonly PodSchedulingGate[];
  readonly securityContext?: PodSecurityContext;
  readonly serviceAccount?: string;
  readonly serviceAccountName?: string;
  readonly setHostnameAsFQDN?: boolean;
  readonly shareProcessNamespace?: boolean;
  readonly subdomain?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly tolerations?: readonly Toleration[];
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[];
  readonly volumes?: readonly Volume[];
  readonly workloadRef?: WorkloadReference;
}

export interface PodSpecInput {
  readonly activeDeadlineSeconds?: number | undefined;
  readonly affinity?: AffinityInput | undefined;
  readonly automountServiceAccountToken?: boolean | undefined;
  readonly containers: readonly ContainerInput[];
  readonly dnsConfig?: PodDNSConfigInput | undefined;
  readonly dnsPolicy?: "ClusterFirst" | "ClusterFirstWithHostNet" | "Default" | "None" | undefined;
  readonly enableServiceLinks?: boolean | undefined;
  readonly ephemeralContainers?: readonly EphemeralContainerInput[] | undefined;
  readonly hostAliases?: readonly HostAliasInput[] | undefined;
  readonly hostIPC?: boolean | undefined;
  readonly hostNetwork?: boolean | undefined;
  readonly hostPID?: boolean | undefined;
  readonly hostUsers?: boolean | undefined;
  readonly hostname?: string | undefined;
  readonly hostnameOverride?: string | undefined;
  readonly imagePullSecrets?: readonly LocalObjectReferenceInput[] | undefined;
  readonly initContainers?: readonly ContainerInput[] | undefined;
  readonly nodeName?: string | undefined;
  readonly nodeSelector?: Readonly<Record<string, string>> | undefined;
  readonly os?: PodOS | undefined;
  readonly overhead?: Readonly<Record<string, number | string>> | undefined;
  readonly preemptionPolicy?: "Never" | "PreemptLowerPriority" | undefined;
  readonly priority?: number | undefined;
  readonly priorityClassName?: string | undefined;
  readonly readinessGates?: readonly PodReadinessGate[] | undefined;
  readonly resourceClaims?: readonly PodResourceClaimInput[] | undefined;
  readonly resources?: ResourceRequirementsInput | undefined;
  readonly restartPolicy?: "Always" | "Never" | "OnFailure" | undefined;
  readonly runtimeClassName?: string | undefined;
  readonly schedulerName?: string | undefined;
  readonly schedulingGates?: readonly PodSchedulingGate[] | undefined;
  readonly securityContext?: PodSecurityContextInput | undefined;
  readonly serviceAccount?: string | undefined;
  readonly serviceAccountName?: string | undefined;
  readonly setHostnameAsFQDN?: boolean | undefined;
  readonly shareProcessNamespace?: boolean | undefined;
  readonly subdomain?: string | undefined;
  readonly terminationGracePeriodSeconds?: number | undefined;
  readonly tolerations?: readonly TolerationInput[] | undefined;
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraintInput[] | undefined;
  readonly volumes?: readonly VolumeInput[] | undefined;
  readonly workloadRef?: WorkloadReferenceInput | undefined;
}

export interface PodStatus {
  readonly allocatedResources?: Readonly<Record<string, string>>;
  readonly conditions?: readonly PodCondition[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[];
  readonly extendedResourceClaimStatus?: PodExtendedResourceClaimStatus;
  readonly hostIP?: string;
  readonly hostIPs?: readonly HostIP[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly message?: string;
  readonly nominatedNodeName?: string;
  readonly observedGeneration?: number;
  readonly phase?: "Failed" | "Pending" | "Running" | "Succeeded" | "Unknown";
  readonly podIP?: string;
  readonly podIPs?: readonly PodIP[];
  readonly qosClass?: "BestEffort" | "Burstable" | "Guaranteed";
  readonly reason?: string;
  readonly resize?: string;
  readonly resourceClaimStatuses?: readonly PodResourceClaimStatus[];
  readonly resources?: ResourceRequirements;
  readonly startTime?: string;
}

export interface PodStatusInput {
  readonly allocatedResources?: Readonly<Record<string, number | string>> | undefined;
  readonly conditions?: readonly PodConditionInput[] | undefined;
  readonly containerStatuses?: readonly ContainerStatusInput[] | undefined;
  readonly ephemeralContainerStatuses?: readonly ContainerStatusInput[] | undefined;
  readonly extendedResourceClaimStatus?: PodExtendedResourceClaimStatus | undefined;
  readonly hostIP?: string | undefined;
  readonly hostIPs?: readonly HostIP[] | undefined;
  readonly initContainerStatuses?: readonly ContainerStatusInput[] | undefined;
  readonly message?: string | undefined;
  readonly nominatedNodeName?: string | undefined;
  readonly observedGeneration?: number | undefined;
  readonly phase?: "Failed" | "Pending" | "Running" | "Succeeded" | "Unknown" | undefined;
  readonly podIP?: string | undefined;
  readonly podIPs?: readonly PodIP[] | undefined;
  readonly qosClass?: "BestEffort" | "Burstable" | "Guaranteed" | undefined;
  readonly reason?: string | undefined;
  readonly resize?: string | undefined;
  readonly resourceClaimStatuses?: readonly PodResourceClaimStatusInput[] | undefined;
  readonly resources?: ResourceRequirementsInput | undefined;
  readonly startTime?: string | undefined;
}

export interface PodTemplate {
  readonly apiVersion?: "v1";
  readonly kind?: "PodTemplate";
  readonly metadata: NamespacedObjectMeta;
  readonly template?: PodTemplateSpec;
}

export interface PodTemplateInput {
  readonly apiVersion?: "v1" | undefined;
  readonly kind?: "PodTemplate" | undefined;
  readonly metadata: NamedMetaInput;
  readonly template?: PodTemplateSpecInput | undefined;
}

export interface PodTemplateSpec {
  readonly metadata?: ObjectMetaInput;
  readonly spec: PodSpec;
}

export interface PodTemplateSpecInput {
  readonly metadata?: ObjectMetaInput | undefined;
  readonly spec: PodSpecInput;
}

export interface PortStatus {
  readonly error?: string;
  readonly port: number;
  readonly protocol: "SCTP" | "TCP" | "UDP";
}

export interface PortStatusInput {
  readonly error?: string | undefined;
  readonly port: number;
  readonly protocol: "SCTP" | "TCP" | "UDP";
}

export interface PortworxVolumeSource {
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly volumeID: string;
}

export interface PortworxVolumeSourceInput {
  readonly fsType?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly volumeID: string;
}

export interface PreferredSchedulingTerm {
  readonly preference: NodeSelectorTerm;
  readonly weight: number;
}

export interface PreferredSchedulingTermInput {
  readonly preference: NodeSelectorTermInput;
  readonly weight: number;
}

export interface Probe {
  readonly exec?: ExecAction;
  readonly failureThreshold?: number;
  readonly grpc?: GRPCAction;
  readonly httpGet?: HTTPGetAction;
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly successThreshold?: number;
  readonly tcpSocket?: TCPSocketAction;
  readonly terminationGracePeriodSeconds?: number;
  readonly timeoutSeconds?: number;
}

export interface ProbeInput {
  readonly exec?: ExecActionInput | undefined;
  readonly failureThreshold?: number | undefined;
  readonly grpc?: GRPCActionInput | undefined;
  readonly httpGet?: HTTPGetActionInput | undefined;
  readonly initialDelaySeconds?: number | undefined;
  readonly periodSeconds?: number | undefined;
  readonly successThreshold?: number | undefined;
  readonly tcpSocket?: TCPSocketActionInput | undefined;
  readonly terminationGracePeriodSeconds?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
}

export interface ProjectedVolumeSource {
  readonly defaultMode?: number;
  readonly sources?: readonly VolumeProjection[] | null;
}

export interface ProjectedVolumeSourceInput {
  readonly defaultMode?: number | undefined;
  readonly sources?: readonly VolumeProjectionInput[] | null | undefined;
}

export interface QuobyteVolumeSource {
  readonly group?: string;
  readonly readOnly?: boolean;
  readonly registry: string;
  readonly tenant?: string;
  readonly user?: string;
  readonly volume: string;
}

export interface QuobyteVolumeSourceInput {
  readonly group?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly registry: string;
  readonly tenant?: string | undefined;
  readonly user?: string | undefined;
  readonly volume: string;
}

export interface RBDPersistentVolumeSource {
  readonly fsType?: string;
  readonly image: string;
  readonly keyring?: string;
  readonly monitors: readonly string[];
  readonly pool?: string;
  readonly readOnly?: boolean;
  readonly secretRef?: SecretReference;
  readonly user?: string;
}

export interface RBDPersistentVolumeSourceInput {
  readonly fsType?: string | undefined;
  readonly image: string;
  readonly keyring?: string | undefined;
  readonly monitors: readonly string[];
  readonly pool?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: SecretReferenceInput | undefined;
  readonly user?: string | undefined;
}

export interface RBDVolumeSource {
  readonly fsType?: string;
  readonly image: string;
  readonly keyring?: string;
  readonly monitors: readonly string[];
  readonly pool?: string;
  readonly readOnly?: boolean;
  readonly secretRef?: LocalObjectReference;
  readonly user?: string;
}

export interface RBDVolumeSourceInput {
  readonly fsType?: string | undefined;
  readonly image: string;
  readonly keyring?: string | undefined;
  readonly monitors: readonly string[];
  readonly pool?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: LocalObjectReferenceInput | undefined;
  readonly user?: string | undefined;
}

export interface ReplicationController {
  readonly apiVersion?: "v1";
  readonly kind?: "ReplicationController";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: ReplicationControllerSpec;
  readonly status?: ReplicationControllerStatus;
}

export interface ReplicationControllerInput {
  readonly apiVersion?: "v1" | undefined;
  readonly kind?: "ReplicationController" | undefined;
  readonly metadata: NamedMetaInput;
  readonly spec?: ReplicationControllerSpecInput | undefined;
  readonly status?: ReplicationControllerStatusInput | undefined;
}

export interface ReplicationControllerCondition {
  readonly lastTransitionTime?: string | null;
  readonly message?: string;
  readonly reason?: string;
  readonly status: string;
  readonly type: string;
}

export interface ReplicationControllerConditionInput {
  readonly lastTransitionTime?: string | null | undefined;
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly status: string;
  readonly type: string;
}

export interface ReplicationControllerSpec {
  readonly minReadySeconds?: number;
  readonly replicas?: number;
  readonly selector?: Readonly<Record<string, string>>;
  readonly template?: PodTemplateSpec;
}

export interface ReplicationControllerSpecInput {
  readonly minReadySeconds?: number | undefined;
  readonly replicas?: number | undefined;
  readonly selector?: Readonly<Record<string, string>> | undefined;
  readonly template?: PodTemplateSpecInput | undefined;
}

export interface ReplicationControllerStatus {
  readonly availableReplicas?: number;
  readonly conditions?: readonly ReplicationControllerCondition[];
  readonly fullyLabeledReplicas?: number;
  readonly observedGeneration?: number;
  readonly readyReplicas?: number;
  readonly replicas: number;
}

export interface ReplicationControllerStatusInput {
  readonly availableReplicas?: number | undefined;
  readonly conditions?: readonly ReplicationControllerConditionInput[] | undefined;
  readonly fullyLabeledReplicas?: number | undefined;
  readonly observedGeneration?: number | undefined;
  readonly readyReplicas?: number | undefined;
  readonly replicas: number;
}

export interface ResourceClaim {
  readonly name: string;
  readonly request?: string;
}

export interface ResourceClaimInput {
  readonly name: string;
  readonly request?: string | undefined;
}

export interface ResourceFieldSelector {
  readonly containerName?: string;
  readonly divisor?: string;
  readonly resource: string;
}

export interface ResourceFieldSelectorInput {
  readonly containerName?: string | undefined;
  readonly divisor?: number | string | undefined;
  readonly resource: string;
}

export interface ResourceHealth {
  readonly health?: string;
  readonly resourceID: string;
}

export interface ResourceHealthInput {
  readonly health?: string | undefined;
  readonly resourceID: string;
}

export interface ResourceQuota {
  readonly apiVersion?: "v1";
  readonly kind?: "ResourceQuota";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: ResourceQuotaSpec;
  readonly status?: ResourceQuotaStatus;
}

export interface ResourceQuotaInput {
  readonly apiVersion?: "v1" | undefined;
  readonly kind?: "ResourceQuota" | undefined;
  readonly metadata: NamedMetaInput;
  readonly spec?: ResourceQuotaSpecInput | undefined;
  readonly status?: ResourceQuotaStatusInput | undefined;
}

export interface ResourceQuotaSpec {
  readonly hard?: Readonly<Record<string, string>>;
  readonly scopeSelector?: ScopeSelector;
  readonly scopes?: readonly ("BestEffort" | "CrossNamespacePodAffinity" | "NotBestEffort" | "NotTerminating" | "PriorityClass" | "Terminating" | "VolumeAttributesClass")[];
}

export interface ResourceQuotaSpecInput {
  readonly hard?: Readonly<Record<string, number | string>> | undefined;
  readonly scopeSelector?: ScopeSelectorInput | undefined;
  readonly scopes?: readonly ("BestEffort" | "CrossNamespacePodAffinity" | "NotBestEffort" | "NotTerminating" | "PriorityClass" | "Terminating" | "VolumeAttributesClass")[] | undefined;
}

export interface ResourceQuotaStatus {
  readonly hard?: Readonly<Record<string, string>>;
  readonly used?: Readonly<Record<string, string>>;
}

export interface ResourceQuotaStatusInput {
  readonly hard?: Readonly<Record<string, number | string>> | undefined;
  readonly used?: Readonly<Record<string, number | string>> | undefined;
}

export interface ResourceRequirements {
  readonly claims?: readonly ResourceClaim[];
  readonly limits?: Readonly<Record<string, string>>;
  readonly requests?: Readonly<Record<string, string>>;
}

export interface ResourceRequirementsInput {
  readonly claims?: readonly ResourceClaimInput[] | undefined;
  readonly limits?: Readonly<Record<string, number | string>> | undefined;
  readonly requests?: Readonly<Record<string, number | string>> | undefined;
}

export interface ResourceStatus {
  readonly name: string;
  readonly resources?: readonly ResourceHealth[];
}

export interface ResourceStatusInput {
  readonly name: string;
  readonly resources?: readonly ResourceHealthInput[] | undefined;
}

export interface SELinuxOptions {
  readonly level?: string;
  readonly role?: string;
  readonly type?: string;
  readonly user?: string;
}

export interface SELinuxOptionsInput {
  readonly level?: string | undefined;
  readonly role?: string | undefined;
  readonly type?: string | undefined;
  readonly user?: string | undefined;
}

export interface ScaleIOPersistentVolumeSource {
  readonly fsType?: string;
  readonly gateway: string;
  readonly protectionDomain?: string;
  readonly readOnly?: boolean;
  readonly secretRef: SecretReference | null;
  readonly sslEnabled?: boolean;
  readonly storageMode?: string;
  readonly storagePool?: string;
  readonly system: string;
  readonly volumeName?: string;
}

export interface ScaleIOPersistentVolumeSourceInput {
  readonly fsType?: string | undefined;
  readonly gateway: string;
  readonly protectionDomain?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef: SecretReferenceInput | null;
  readonly sslEnabled?: boolean | undefined;
  readonly storageMode?: string | undefined;
  readonly storagePool?: string | undefined;
  readonly system: string;
  readonly volumeName?: string | undefined;
}

export interface ScaleIOVolumeSource {
  readonly fsType?: string;
  readonly gateway: string;
  readonly protectionDomain?: string;
  readonly readOnly?: boolean;
  readonly secretRef: LocalObjectReference | null;
  readonly sslEnabled?: boolean;
  readonly storageMode?: string;
  readonly storagePool?: string;
  readonly system: string;
  readonly volumeName?: string;
}

export interface ScaleIOVolumeSourceInput {
  readonly fsType?: string | undefined;
  readonly gateway: string;
  readonly protectionDomain?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef: LocalObjectReferenceInput | null;
  readonly sslEnabled?: boolean | undefined;
  readonly storageMode?: string | undefined;
  readonly storagePool?: string | undefined;
  readonly system: string;
  readonly volumeName?: string | undefined;
}

export interface ScopeSelector {
  readonly matchExpressions?: readonly ScopedResourceSelectorRequirement[];
}

export interface ScopeSelectorInput {
  readonly matchExpressions?: readonly ScopedResourceSelectorRequirementInput[] | undefined;
}

export interface ScopedResourceSelectorRequirement {
  readonly operator: "DoesNotExist" | "Exists" | "In" | "NotIn";
  readonly scopeName: "BestEffort" | "CrossNamespacePodAffinity" | "NotBestEffort" | "NotTerminating" | "PriorityClass" | "Terminating" | "VolumeAttributesClass";
  readonly values?: readonly string[];
}

export interface ScopedResourceSelectorRequirementInput {
  readonly operator: "DoesNotExist" | "Exists" | "In" | "NotIn";
  readonly scopeName: "BestEffort" | "CrossNamespacePodAffinity" | "NotBestEffort" | "NotTerminating" | "PriorityClass" | "Terminating" | "VolumeAttributesClass";
  readonly values?: readonly string[] | undefined;
}

export interface SeccompProfile {
  readonly localhostProfile?: string;
  readonly type: "Localhost" | "RuntimeDefault" | "Unconfined";
}

export interface SeccompProfileInput {
  readonly localhostProfile?: string | undefined;
  readonly type: "Localhost" | "RuntimeDefault" | "Unconfined";
}

export interface Secret {
  readonly apiVersion?: "v1";
  readonly kind?: "Secret";
  readonly metadata: NamespacedObjectMeta;
  readonly data?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly type?: string;
}

export interface SecretInput {
  readonly apiVersion?: "v1" | undefined;
  readonly kind?: "Secret" | undefined;
  readonly metadata: NamedMetaInput;
  readonly data?: Readonly<Record<string, string>> | undefined;
  readonly immutable?: boolean | undefined;
  readonly stringData?: Readonly<Record<string, string>> | undefined;
  readonly type?: string | undefined;
}

export interface SecretEnvSource {
  readonly name?: string;
  readonly optional?: boolean;
}

export interface SecretEnvSourceInput {
  readonly name?: string | undefined;
  readonly optional?: boolean | undefined;
}

export interface SecretKeySelector {
  readonly key: string;
  readonly name?: string;
  readonly optional?: boolean;
}

export interface SecretKeySelectorInput {
  readonly key: string;
  readonly name?: string | undefined;
  readonly optional?: boolean | undefined;
}

export interface SecretProjection {
  readonly items?: readonly KeyToPath[];
  readonly name?: string;
  readonly optional?: boolean;
}

export interface SecretProjectionInput {
  readonly items?: readonly KeyToPathInput[] | undefined;
  readonly name?: string | undefined;
  readonly optional?: boolean | undefined;
}

export interface SecretReference {
  readonly name?: string;
  readonly namespace?: string;
}

export interface SecretReferenceInput {
  readonly name?: string | undefined;
  readonly namespace?: string | undefined;
}

export interface SecretVolumeSource {
  readonly defaultMode?: number;
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
  readonly secretName?: string;
}

export interface SecretVolumeSourceInput {
  readonly defaultMode?: number | undefined;
  readonly items?: readonly KeyToPathInput[] | undefined;
  readonly optional?: boolean | undefined;
  readonly secretName?: string | undefined;
}

export interface SecurityContext {
  readonly allowPrivilegeEscalation?: boolean;
  readonly appArmorProfile?: AppArmorProfile;
  readonly capabilities?: Capabilities;
  readonly privileged?: boolean;
  readonly procMount?: "Default" | "Unmasked";
  readonly readOnlyRootFilesystem?: boolean;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly seLinuxOptions?: SELinuxOptions;
  readonly seccompProfile?: SeccompProfile;
  readonly windowsOptions?: WindowsSecurityContextOptions;
}

export interface SecurityContextInput {
  readonly allowPrivilegeEscalation?: boolean | undefined;
  readonly appArmorProfile?: AppArmorProfileInput | undefined;
  readonly capabilities?: CapabilitiesInput | undefined;
  readonly privileged?: boolean | undefined;
  readonly procMount?: "Default" | "Unmasked" | undefined;
  readonly readOnlyRootFilesystem?: boolean | undefined;
  readonly runAsGroup?: number | undefined;
  readonly runAsNonRoot?: boolean | undefined;
  readonly runAsUser?: number | undefined;
  readonly seLinuxOptions?: SELinuxOptionsInput | undefined;
  readonly seccompProfile?: SeccompProfileInput | undefined;
  readonly windowsOptions?: WindowsSecurityContextOptionsInput | undefined;
}

export interface Service {
  readonly apiVersion?: "v1";
  readonly kind?: "Service";
  readonly metadata: NamespacedObjectMeta;
  readonly spec: ServiceSpec;
  readonly status?: ServiceStatus;
}

export interface ServiceInput {
  readonly apiVersion?: "v1" | undefined;
  readonly kind?: "Service" | undefined;
  readonly metadata: NamedMetaInput;
  readonly spec?: ServiceSpecInput | undefined;
  readonly status?: ServiceStatusInput | undefined;
}

export interface ServiceAccount {
  readonly apiVersion?: "v1";
  readonly kind?: "ServiceAccount";
  readonly metadata: NamespacedObjectMeta;
  readonly automountServiceAccountToken?: boolean;
  readonly imagePullSecrets?: readonly LocalObjectReference[];
  readonly secrets?: readonly ObjectReference[];
}

export interface ServiceAccountInput {
  readonly apiVersion?: "v1" | undefined;
  readonly kind?: "ServiceAccount" | undefined;
  readonly metadata: NamedMetaInput;
  readonly automountServiceAccountToken?: boolean | undefined;
  readonly imagePullSecrets?: readonly LocalObjectReferenceInput[] | undefined;
  readonly secrets?: readonly ObjectReferenceInput[] | undefined;
}

export interface ServiceAccountTokenProjection {
  readonly audience?: string;
  readonly expirationSeconds?: number;
  readonly path: string;
}

export interface ServiceAccountTokenProjectionInput {
  readonly audience?: string | undefined;
  readonly expirationSeconds?: number | undefined;
  readonly path: string;
}

export interface ServicePort {
  readonly appProtocol?: string;
  readonly name?: string;
  readonly nodePort?: number;
  readonly port: number;
  readonly protocol?: "SCTP" | "TCP" | "UDP";
  readonly targetPort?: number | string;
}

export interface ServicePortInput {
  readonly appProtocol?: string | undefined;
  readonly name?: string | undefined;
  readonly nodePort?: number | undefined;
  readonly port: number;
  readonly protocol?: "SCTP" | "TCP" | "UDP" | undefined;
  readonly targetPort?: number | string | undefined;
}

export interface ServiceSpec {
  readonly allocateLoadBalancerNodePorts?: boolean;
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly externalIPs?: readonly string[];
  readonly externalName?: string;
  readonly externalTrafficPolicy?: "Cluster" | "Local";
  readonly healthCheckNodePort?: number;
  readonly internalTrafficPolicy?: "Cluster" | "Local";
  readonly ipFamilies?: readonly ("" | "IPv4" | "IPv6")[];
  readonly ipFamilyPolicy?: "PreferDualStack" | "RequireDualStack" | "SingleStack";
  readonly loadBalancerClass?: string;
  readonly loadBalancerIP?: string;
  readonly loadBalancerSourceRanges?: readonly string[];
  readonly ports?: readonly ServicePort[];
  readonly publishNotReadyAddresses?: boolean;
  readonly selector?: Readonly<Record<string, string>>;
  readonly sessionAffinity?: "ClientIP" | "None";
  readonly sessionAffinityConfig?: SessionAffinityConfig;
  readonly trafficDistribution?: string;
  readonly type?: "ClusterIP" | "ExternalName" | "LoadBalancer" | "NodePort";
}

export interface ServiceSpecInput {
  readonly allocateLoadBalancerNodePorts?: boolean | undefined;
  readonly clusterIP?: string | undefined;
  readonly clusterIPs?: readonly string[] | undefined;
  readonly externalIPs?: readonly string[] | undefined;
  readonly externalName?: string | undefined;
  readonly externalTrafficPolicy?: "Cluster" | "Local" | undefined;
  readonly healthCheckNodePort?: number | undefined;
  readonly internalTrafficPolicy?: "Cluster" | "Local" | undefined;
  readonly ipFamilies?: readonly ("" | "IPv4" | "IPv6")[] | undefined;
  readonly ipFamilyPolicy?: "PreferDualStack" | "RequireDualStack" | "SingleStack" | undefined;
  readonly loadBalancerClass?: string | undefined;
  readonly loadBalancerIP?: string | undefined;
  readonly loadBalancerSourceRanges?: readonly string[] | undefined;
  readonly ports?: readonly ServicePortInput[] | undefined;
  readonly publishNotReadyAddresses?: boolean | undefined;
  readonly selector?: Readonly<Record<string, string>> | undefined;
  readonly sessionAffinity?: "ClientIP" | "None" | undefined;
  readonly sessionAffinityConfig?: SessionAffinityConfigInput | undefined;
  readonly trafficDistribution?: string | undefined;
  readonly type?: "ClusterIP" | "ExternalName" | "LoadBalancer" | "NodePort" | undefined;
}

export interface ServiceStatus {
  readonly conditions?: readonly Condition[];
  readonly loadBalancer?: LoadBalancerStatus;
}

export interface ServiceStatusInput {
  readonly conditions?: readonly ConditionInput[] | undefined;
  readonly loadBalancer?: LoadBalancerStatusInput | undefined;
}

export interface SessionAffinityConfig {
  readonly clientIP?: ClientIPConfig;
}

export interface SessionAffinityConfigInput {
  readonly clientIP?: ClientIPConfigInput | undefined;
}

export interface SleepAction {
  readonly seconds: number;
}

export interface StorageOSPersistentVolumeSource {
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly secretRef?: ObjectReference;
  readonly volumeName?: string;
  readonly volumeNamespace?: string;
}

export interface StorageOSPersistentVolumeSourceInput {
  readonly fsType?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: ObjectReferenceInput | undefined;
  readonly volumeName?: string | undefined;
  readonly volumeNamespace?: string | undefined;
}

export interface StorageOSVolumeSource {
  readonly fsType?: string;
  readonly readOnly?: boolean;
  readonly secretRef?: LocalObjectReference;
  readonly volumeName?: string;
  readonly volumeNamespace?: string;
}

export interface StorageOSVolumeSourceInput {
  readonly fsType?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly secretRef?: LocalObjectReferenceInput | undefined;
  readonly volumeName?: string | undefined;
  readonly volumeNamespace?: string | undefined;
}

export interface Sysctl {
  readonly name: string;
  readonly value: string;
}

export interface TCPSocketAction {
  readonly host?: string;
  readonly port: number | string;
}

export interface TCPSocketActionInput {
  readonly host?: string | undefined;
  readonly port: number | string;
}

export interface Taint {
  readonly effect: "NoExecute" | "NoSchedule" | "PreferNoSchedule";
  readonly key: string;
  readonly timeAdded?: string;
  readonly value?: string;
}

export interface TaintInput {
  readonly effect: "NoExecute" | "NoSchedule" | "PreferNoSchedule";
  readonly key: string;
  readonly timeAdded?: string | undefined;
  readonly value?: string | undefined;
}

export interface Toleration {
  readonly effect?: "NoExecute" | "NoSchedule" | "PreferNoSchedule";
  readonly key?: string;
  readonly operator?: "Equal" | "Exists" | "Gt" | "Lt";
  readonly tolerationSeconds?: number;
  readonly value?: string;
}

export interface TolerationInput {
  readonly effect?: "NoExecute" | "NoSchedule" | "PreferNoSchedule" | undefined;
  readonly key?: string | undefined;
  readonly operator?: "Equal" | "Exists" | "Gt" | "Lt" | undefined;
  readonly tolerationSeconds?: number | undefined;
  readonly value?: string | undefined;
}

export interface TopologySelectorLabelRequirement {
  readonly key: string;
  readonly values: readonly string[];
}

export interface TopologySelectorTerm {
  readonly matchLabelExpressions?: readonly TopologySelectorLabelRequirement[];
}

export interface TopologySelectorTermInput {
  readonly matchLabelExpressions?: readonly TopologySelectorLabelRequirement[] | undefined;
}

export interface TopologySpreadConstraint {
  readonly labelSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly maxSkew: number;
  readonly minDomains?: number;
  readonly nodeAffinityPolicy?: "Honor" | "Ignore";
  readonly nodeTaintsPolicy?: "Honor" | "Ignore";
  readonly topologyKey: string;
  readonly whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway";
}

export interface TopologySpreadConstraintInput {
  readonly labelSelector?: LabelSelectorInput | undefined;
  readonly matchLabelKeys?: readonly string[] | undefined;
  readonly maxSkew: number;
  readonly minDomains?: number | undefined;
  readonly nodeAffinityPolicy?: "Honor" | "Ignore" | undefined;
  readonly nodeTaintsPolicy?: "Honor" | "Ignore" | undefined;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway";
}

export interface TypedLocalObjectReference {
  readonly apiGroup?: string | null;
  readonly kind: string;
  readonly name: string;
}

export interface TypedLocalObjectReferenceInput {
  readonly apiGroup?: string | null | undefined;
  readonly kind: string;
  readonly name: string;
}

export interface TypedObjectReference {
  readonly apiGroup?: string | null;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

export interface TypedObjectReferenceInput {
  readonly apiGroup?: string | null | undefined;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
}

export interface Volume {
  readonly awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource;
  readonly azureDisk?: AzureDiskVolumeSource;
  readonly azureFile?: AzureFileVolumeSource;
  readonly cephfs?: CephFSVolumeSource;
  readonly cinder?: CinderVolumeSource;
  readonly configMap?: ConfigMapVolumeSource;
  readonly csi?: CSIVolumeSource;
  readonly downwardAPI?: DownwardAPIVolumeSource;
  readonly emptyDir?: EmptyDirVolumeSource;
  readonly ephemeral?: EphemeralVolumeSource;
  readonly fc?: FCVolumeSource;
  readonly flexVolume?: FlexVolumeSource;
  readonly flocker?: FlockerVolumeSource;
  readonly gcePersistentDisk?: GCEPersistentDiskVolumeSource;
  readonly gitRepo?: GitRepoVolumeSource;
  readonly glusterfs?: GlusterfsVolumeSource;
  readonly hostPath?: HostPathVolumeSource;
  readonly image?: ImageVolumeSource;
  readonly iscsi?: ISCSIVolumeSource;
  readonly name: string;
  readonly nfs?: NFSVolumeSource;
  readonly persistentVolumeClaim?: PersistentVolumeClaimVolumeSource;
  readonly photonPersistentDisk?: PhotonPersistentDiskVolumeSource;
  readonly portworxVolume?: PortworxVolumeSource;
  readonly projected?: ProjectedVolumeSource;
  readonly quobyte?: QuobyteVolumeSource;
  readonly rbd?: RBDVolumeSource;
  readonly scaleIO?: ScaleIOVolumeSource;
  readonly secret?: SecretVolumeSource;
  readonly storageos?: StorageOSVolumeSource;
  readonly vsphereVolume?: VsphereVirtualDiskVolumeSource;
}

export interface VolumeInput {
  readonly awsElasticBlockStore?: AWSElasticBlockStoreVolumeSourceInput | undefined;
  readonly azureDisk?: AzureDiskVolumeSourceInput | undefined;
  readonly azureFile?: AzureFileVolumeSourceInput | undefined;
  readonly cephfs?: CephFSVolumeSourceInput | undefined;
  readonly cinder?: CinderVolumeSourceInput | undefined;
  readonly configMap?: ConfigMapVolumeSourceInput | undefined;
  readonly csi?: CSIVolumeSourceInput | undefined;
  readonly downwardAPI?: DownwardAPIVolumeSourceInput | undefined;
  readonly emptyDir?: EmptyDirVolumeSourceInput | undefined;
  readonly ephemeral?: EphemeralVolumeSourceInput | undefined;
  readonly fc?: FCVolumeSourceInput | undefined;
  readonly flexVolume?: FlexVolumeSourceInput | undefined;
  readonly flocker?: FlockerVolumeSourceInput | undefined;
  readonly gcePersistentDisk?: GCEPersistentDiskVolumeSourceInput | undefined;
  readonly gitRepo?: GitRepoVolumeSourceInput | undefined;
  readonly glusterfs?: GlusterfsVolumeSourceInput | undefined;
  readonly hostPath?: HostPathVolumeSourceInput | undefined;
  readonly image?: ImageVolumeSourceInput | undefined;
  readonly iscsi?: ISCSIVolumeSourceInput | undefined;
  readonly name: string;
  readonly nfs?: NFSVolumeSourceInput | undefined;
  readonly persistentVolumeClaim?: PersistentVolumeClaimVolumeSourceInput | undefined;
  readonly photonPersistentDisk?: PhotonPersistentDiskVolumeSourceInput | undefined;
  readonly portworxVolume?: PortworxVolumeSourceInput | undefined;
  readonly projected?: ProjectedVolumeSourceInput | undefined;
  readonly quobyte?: QuobyteVolumeSourceInput | undefined;
  readonly rbd?: RBDVolumeSourceInput | undefined;
  readonly scaleIO?: ScaleIOVolumeSourceInput | undefined;
  readonly secret?: SecretVolumeSourceInput | undefined;
  readonly storageos?: StorageOSVolumeSourceInput | undefined;
  readonly vsphereVolume?: VsphereVirtualDiskVolumeSourceInput | undefined;
}

export interface VolumeDevice {
  readonly devicePath: string;
  readonly name: string;
}

export interface VolumeMount {
  readonly mountPath: string;
  readonly mountPropagation?: "Bidirectional" | "HostToContainer" | "None";
  readonly name: string;
  readonly readOnly?: boolean;
  readonly recursiveReadOnly?: string;
  readonly subPath?: string;
  readonly subPathExpr?: string;
}

export interface VolumeMountInput {
  readonly mountPath: string;
  readonly mountPropagation?: "Bidirectional" | "HostToContainer" | "None" | undefined;
  readonly name: string;
  readonly readOnly?: boolean | undefined;
  readonly recursiveReadOnly?: string | undefined;
  readonly subPath?: string | undefined;
  readonly subPathExpr?: string | undefined;
}

export interface VolumeMountStatus {
  readonly mountPath: string;
  readonly name: string;
  readonly readOnly?: boolean;
  readonly recursiveReadOnly?: string;
}

export interface VolumeMountStatusInput {
  readonly mountPath: string;
  readonly name: string;
  readonly readOnly?: boolean | undefined;
  readonly recursiveReadOnly?: string | undefined;
}

export interface VolumeNodeAffinity {
  readonly required?: NodeSelector;
}

export interface VolumeNodeAffinityInput {
  readonly required?: NodeSelectorInput | undefined;
}

export interface VolumeProjection {
  readonly clusterTrustBundle?: ClusterTrustBundleProjection;
  readonly configMap?: ConfigMapProjection;
  readonly downwardAPI?: DownwardAPIProjection;
  readonly podCertificate?: PodCertificateProjection;
  readonly secret?: SecretProjection;
  readonly serviceAccountToken?: ServiceAccountTokenProjection;
}

export interface VolumeProjectionInput {
  readonly clusterTrustBundle?: ClusterTrustBundleProjectionInput | undefined;
  readonly configMap?: ConfigMapProjectionInput | undefined;
  readonly downwardAPI?: DownwardAPIProjectionInput | undefined;
  readonly podCertificate?: PodCertificateProjectionInput | undefined;
  readonly secret?: SecretProjectionInput | undefined;
  readonly serviceAccountToken?: ServiceAccountTokenProjectionInput | undefined;
}

export interface VolumeResourceRequirements {
  readonly limits?: Readonly<Record<string, string>>;
  readonly requests?: Readonly<Record<string, string>>;
}

export interface VolumeResourceRequirementsInput {
  readonly limits?: Readonly<Record<string, number | string>> | undefined;
  readonly requests?: Readonly<Record<string, number | string>> | undefined;
}

export interface VsphereVirtualDiskVolumeSource {
  readonly fsType?: string;
  readonly storagePolicyID?: string;
  readonly storagePolicyName?: string;
  readonly volumePath: string;
}

export interface VsphereVirtualDiskVolumeSourceInput {
  readonly fsType?: string | undefined;
  readonly storagePolicyID?: string | undefined;
  readonly storagePolicyName?: string | undefined;
  readonly volumePath: string;
}

export interface WeightedPodAffinityTerm {
  readonly podAffinityTerm: PodAffinityTerm;
  readonly weight: number;
}

export interface WeightedPodAffinityTermInput {
  readonly podAffinityTerm: PodAffinityTermInput;
  readonly weight: number;
}

export interface WindowsSecurityContextOptions {
  readonly gmsaCredentialSpec?: string;
  readonly gmsaCredentialSpecName?: string;
  readonly hostProcess?: boolean;
  readonly runAsUserName?: string;
}

export interface WindowsSecurityContextOptionsInput {
  readonly gmsaCredentialSpec?: string | undefined;
  readonly gmsaCredentialSpecName?: string | undefined;
  readonly hostProcess?: boolean | undefined;
  readonly runAsUserName?: string | undefined;
}

export interface WorkloadReference {
  readonly name: string;
  readonly podGroup: string;
  readonly podGroupReplicaKey?: string;
}

export interface WorkloadReferenceInput {
  readonly name: string;
  readonly podGroup: string;
  readonly podGroupReplicaKey?: string | undefined;
}

export const Binding: ResourceKind<Binding, BindingInput, "Namespaced"> = { group: "", version: "v1", kind: "Binding", plural: "bindings", scope: "Namespaced" };
export const ComponentStatus: ResourceKind<ComponentStatus, ComponentStatusInput, "Cluster"> = { group: "", version: "v1", kind: "ComponentStatus", plural: "componentstatuses", scope: "Cluster" };
export const ConfigMap: ResourceKind<ConfigMap, ConfigMapInput, "Namespaced"> = { group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", scope: "Namespaced" };
export const Endpoints: ResourceKind<Endpoints, EndpointsInput, "Namespaced"> = { group: "", version: "v1", kind: "Endpoints", plural: "endpoints", scope: "Namespaced" };
export const Event: ResourceKind<Event, EventInput, "Namespaced"> = { group: "", version: "v1", kind: "Event", plural: "events", scope: "Namespaced" };
export const LimitRange: ResourceKind<LimitRange, LimitRangeInput, "Namespaced"> = { group: "", version: "v1", kind: "LimitRange", plural: "limitranges", scope: "Namespaced" };
export const Namespace: ResourceKind<Namespace, NamespaceInput, "Cluster"> = { group: "", version: "v1", kind: "Namespace", plural: "namespaces", scope: "Cluster" };
export const Node: ResourceKind<Node, NodeInput, "Cluster"> = { group: "", version: "v1", kind: "Node", plural: "nodes", scope: "Cluster" };
export const PersistentVolume: ResourceKind<PersistentVolume, PersistentVolumeInput, "Cluster"> = { group: "", version: "v1", kind: "PersistentVolume", plural: "persistentvolumes", scope: "Cluster" };
export const PersistentVolumeClaim: ResourceKind<PersistentVolumeClaim, PersistentVolumeClaimInput, "Namespaced"> = { group: "", version: "v1", kind: "PersistentVolumeClaim", plural: "persistentvolumeclaims", scope: "Namespaced" };
export const Pod: ResourceKind<Pod, PodInput, "Namespaced"> = { group: "", version: "v1", kind: "Pod", plural: "pods", scope: "Namespaced" };
export const PodTemplate: ResourceKind<PodTemplate, PodTemplateInput, "Namespaced"> = { group: "", version: "v1", kind: "PodTemplate", plural: "podtemplates", scope: "Namespaced" };
export const ReplicationController: ResourceKind<ReplicationController, ReplicationControllerInput, "Namespaced"> = { group: "", version: "v1", kind: "ReplicationController", plural: "replicationcontrollers", scope: "Namespaced" };
export const ResourceQuota: ResourceKind<ResourceQuota, ResourceQuotaInput, "Namespaced"> = { group: "", version: "v1", kind: "ResourceQuota", plural: "resourcequotas", scope: "Namespaced" };
export const Secret: ResourceKind<Secret, SecretInput, "Namespaced"> = { group: "", version: "v1", kind: "Secret", plural: "secrets", scope: "Namespaced" };
export const Service: ResourceKind<Service, ServiceInput, "Namespaced"> = { group: "", version: "v1", kind: "Service", plural: "services", scope: "Namespaced" };
export const ServiceAccount: ResourceKind<ServiceAccount, ServiceAccountInput, "Namespaced"> = { group: "", version: "v1", kind: "ServiceAccount", plural: "serviceaccounts", scope: "Namespaced" };
