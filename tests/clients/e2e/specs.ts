/** Specs that are run, by how their names begin. As regular expressions. */
export const wanted: readonly string[] = [
  "\\[sig-api-machinery\\]",
  "\\[sig-apps\\] (ControllerRevision|Daemon set|Deployment|DisruptionController|ReplicaSet|ReplicationController|TTLAfterFinished)",
  "\\[sig-apps\\] CronJob should (not emit|set the|support)",
  "\\[sig-apps\\] Job should (adopt|allow to delegate|apply|delete|fail|manage|not create|remove|run a job to completion (when tasks succeed|with)|update)",
  "\\[sig-apps\\] StatefulSet .*(should (have a working scale|list, patch|validate)|MinReadySeconds|StartOrdinal|PersistentVolumeClaimPolicy)",
  "\\[sig-auth\\] (Certificates API|SelfSubjectReview|SubjectReview)",
  "\\[sig-auth\\] ServiceAccounts (no secret|should (create a serviceAccountToken|guarantee|run through|update))",
  "\\[sig-instrumentation\\] Events",
  "\\[sig-network\\] (API Server|EndpointSlice|Endpoints|Ingress|Netpol API|ServiceCIDR and|Service endpoints latency)",
  "\\[sig-network\\] Networking should (allow|provide unchanging)",
  "\\[sig-network\\] Services should (allow creating a basic|check|complete|delete|find|prevent)",
  "\\[sig-node\\] (ConfigMap should (fail|run|update)|Lease lease|Node Lifecycle|PodTemplates|RuntimeClass should (reject|schedule|support)|Secrets should (fail|patch))",
  "\\[sig-node\\] NoExecuteTaintManager Single",
  "\\[sig-node\\] Pods (Extended .*(Pod Generation|QOS Class)|should (allow|be|delete|get|patch|run|support pod))",
  "\\[sig-node\\] Sysctls .* should reject",
  "\\[sig-scheduling\\] (LimitRange|SchedulerPredicates|SchedulerPreemption)",
  "\\[sig-storage\\] (ConfigMap|Secrets) should be immutable",
  "\\[sig-storage\\] (CSIStorageCapacity|StorageClasses|VolumeAttachment|VolumeAttributesClass|PersistentVolumes CSI Conformance)",
];

/** Of these, what is left out and why. Regular expressions by reason. */
export const excluded: { readonly [reason: string]: readonly string[] } = {
  "slow, or breaks the cluster, or fails now and then": [
    "\\[(Slow|Disruptive|Flaky)\\]",
    "Etcd failure",
    "conflict between pods with same hostPort and protocol",
    "issue 500 podspec updates",
  ],
  "off by default": [
    "\\[(Alpha|Feature:(OffByDefault|ComprehensiveNamespaceDraining|StorageVersionAPI|APIServerIdentity))\\]",
  ],
  "needs a program that runs in a container": [
    "Webhook",
    "CustomResourceFieldSelectors",
    "Aggregator",
    "should serve a basic image",
    "custom-set generation on new pods and graceful delete",
    "Aggregated APIServer",
    "\\[Feature:(CBOR|RuntimeHandler)\\]",
    "EndpointSlice should support a Service with multiple",
    "EndpointSliceMirroring should mirror a custom Endpoint with multiple subsets",
    "retry creating failed daemon pods",
    "PersistentVolumeClaimPolicy .*after adopting",
  ],
  "needs more than one node, or one in a cloud": [
    "cloud load-balancer",
    "PodTopologySpread",
    "async preemption",
    "Daemon set .* should (run and stop complex daemon|rollback)",
  ],
  "needs a kubelet that refuses pods": ["pod rejected by kubelet"],
  "needs flow control, which is not there": ["requests can be classified", "requests can't be drowned out"],
};
