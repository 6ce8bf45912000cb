import { type JsonObject, textOf } from "../json.ts";
import { parseQuantity } from "../kinds/index.ts";
import { selectorMatcher } from "../registry/label-selector.ts";
import { timestamp } from "../registry/metadata.ts";
import { field, type StoredObject } from "../storage/store.ts";
import { eventRecorder } from "./events.ts";
import { type ControllerDependencies, type Running, startLoop } from "./loop.ts";
import {
  builtin,
  controllerContext,
  createObject,
  deleteIfPresent,
  edit,
  isDeleting,
  mapAt,
  namespaceOf,
  writeStatus,
} from "./objects.ts";

const defaultClassKey = "storageclass.kubernetes.io/is-default-class";
const bindCompleted = "pv.kubernetes.io/bind-completed";
const boundByController = "pv.kubernetes.io/bound-by-controller";
const selectedNode = "volume.kubernetes.io/selected-node";
const provisionerKeys = [
  "volume.beta.kubernetes.io/storage-provisioner",
  "volume.kubernetes.io/storage-provisioner",
];
const noProvisioner = "kubernetes.io/no-provisioner";

/** The class that there is from the start, if no other is. */
export const simulatedClass = "standard";
const simulatedProvisioner = "node.windlass.dev/simulated";

/**
 * Binds claims to volumes, and provisions volumes dynamically. Whichever provisioner the class
 * names, the volume is an object without storage behind it.
 */
export function startPersistentVolumes(deps: ControllerDependencies): Running {
  const { registry } = deps;
  const { store, clock } = registry;
  const context = controllerContext("persistent-volume-binder");
  const record = eventRecorder(registry, { component: "persistentvolume-controller", context });
  const claims = builtin(registry, "", "v1", "persistentvolumeclaims");
  const volumes = builtin(registry, "", "v1", "persistentvolumes");
  const classes = builtin(registry, "storage.k8s.io", "v1", "storageclasses");

  let provided = false;

  return startLoop(deps, {
    name: "persistentvolume-binder-controller",
    watches: {
      [claims.bucket]: ({ key, entry }) => {
        const volume = field(entry.object, "spec", "volumeName");
        return volume ? [`claim ${key}`, `volume ${textOf(volume)}`] : [`claim ${key}`];
      },
      [volumes.bucket]: ({ key, type }) => [
        ...(type === "DELETED" ? [] : [`volume ${key}`]),
        ...unbound().map((claim) => `claim ${claim}`),
      ],
      [classes.bucket]: () => ["class", ...unbound().map((claim) => `claim ${claim}`)],
      // A key that is there from the start, to create the default class.
      namespaces: ({ key }) => (key === "default" ? ["class"] : []),
    },
    reconcile: async (text) => {
      const [what, key = ""] = text.split(" ");
      if (what === "class") await provideClass();
      else if (what === "claim") await keepClaim(store.get(claims.bucket, key)?.object);
      else await keepVolume(store.get(volumes.bucket, key)?.object);
      return undefined;
    },
  });

  function unbound(): string[] {
    return [...store.entries(claims.bucket)]
      .filter(({ object }) => field(object, "status", "phase") !== "Bound")
      .map(({ key }) => key)
      .sort();
  }

  async function provideClass(): Promise<void> {
    if (provided) return;
    provided = true;
    if (store.count(classes.bucket) > 0) return;
    await createObject(
      registry,
      classes,
      undefined,
      {
        metadata: { name: simulatedClass, annotations: { [defaultClassKey]: "true" } },
        provisioner: simulatedProvisioner,
        reclaimPolicy: "Delete",
        volumeBindingMode: "Immediate",
        allowVolumeExpansion: true,
      },
      context,
    );
  }

  async function keepClaim(claim: StoredObject | undefined): Promise<void> {
    if (!claim || isDeleting(claim)) return;
    const name = field(claim, "spec", "volumeName");
    if (name) {
      const volume = store.get(volumes.bucket, textOf(name))?.object;
      if (volume) await bind(claim, volume);
      else if (field(claim, "status", "phase") === "Bound") {
        await writeStatus(
          registry,
          claims,
          claim,
          { ...((claim.status ?? {}) as JsonObject), phase: "Lost" },
          context,
        );
      }
      return;
    }
    const withClass = await classified(claim);
    const className = textOf(field(withClass, "spec", "storageClassName"));
    const storageClass = className === "" ? undefined : store.get(classes.bucket, className)?.object;
    const waits =
      storageClass &&
      field(storageClass, "volumeBindingMode") === "WaitForFirstConsumer" &&
      field(withClass, "metadata", "annotations", selectedNode) === undefined;
    if (waits) {
      await setPending(claim);
      await record(claim, {
        type: "Normal",
        reason: "WaitForFirstConsumer",
        message: "waiting for first consumer to be created before binding",
      });
      return;
    }
    const volume =
      findVolume(withClass) ?? (storageClass ? await provision(withClass, storageClass) : undefined);
    if (volume) await bind(withClass, volume);
    else {
      await setPending(claim);
      await record(claim, {
        type: "Normal",
        reason: "FailedBinding",
        message: "no persistent volumes available for this claim and no storage class is set",
      });
    }
  }

  async function setPending(claim: StoredObject): Promise<void> {
    const status = { ...((claim.status ?? {}) as JsonObject), phase: "Pending" };
    await writeStatus(registry, claims, claim, status, context);
  }

  /** The claim with the default class, if it names none and there is one. */
  async function classified(claim: StoredObject): Promise<StoredObject> {
    if (field(claim, "spec", "storageClassName") !== undefined) return claim;
    const usual = store
      .list(classes.bucket)
      .entries.find(({ object }) => field(object, "metadata", "annotations", defaultClassKey) === "true");
    if (!usual) return claim;
    return await edit(registry, claims, claim, context, (next) => {
      (next.spec as JsonObject).storageClassName = usual.object.metadata.name;
    });
  }

  /** The smallest volume that will do. */
  function findVolume(claim: StoredObject): StoredObject | undefined {
    const selector = field(claim, "spec", "selector");
    const matches = selector === undefined ? () => true : selectorMatcher(selector);
    const modes = (field(claim, "spec", "accessModes") ?? []) as string[];
    const size = sizeOf(field(claim, "spec", "resources", "requests", "storage"));
    return store
      .list(volumes.bucket)
      .entries.map(({ object }) => object)
      .filter((volume) => {
        const reserved = field(volume, "spec", "claimRef");
        const offered = (field(volume, "spec", "accessModes") ?? []) as string[];
        if (isDeleting(volume)) return false;
        if (reserved !== undefined)
          return isFor(volume, claim) && field(volume, "status", "phase") !== "Released";
        return (
          textOf(field(volume, "spec", "storageClassName")) ===
            textOf(field(claim, "spec", "storageClassName")) &&
          (field(volume, "spec", "volumeMode") ?? "Filesystem") ===
            (field(claim, "spec", "volumeMode") ?? "Filesystem") &&
          modes.every((mode) => offered.includes(mode)) &&
          sizeOf(field(volume, "spec", "capacity", "storage")) >= size &&
          matches(volume.metadata.labels as JsonObject | undefined)
        );
      })
      .sort((a, b) =>
        Number(
          sizeOf(field(a, "spec", "capacity", "storage")) - sizeOf(field(b, "spec", "capacity", "storage")),
        ),
      )[0];
  }

  async function provision(
    claim: StoredObject,
    storageClass: StoredObject,
  ): Promise<StoredObject | undefined> {
    const provisioner = textOf(storageClass.provisioner);
    if (provisioner === noProvisioner) return undefined;
    const name = `pvc-${claim.metadata.uid}`;
    const known = store.get(volumes.bucket, name)?.object;
    if (known) return known;
    await edit(registry, claims, claim, context, (next) => {
      const metadata = next.metadata as JsonObject;
      const named = Object.fromEntries(provisionerKeys.map((key) => [key, provisioner]));
      metadata.annotations = { ...mapAt(metadata, "annotations"), ...named };
    });
    const volume = await createObject(
      registry,
      volumes,
      undefined,
      {
        metadata: {
          name,
          annotations: { [boundByController]: "yes", "pv.kubernetes.io/provisioned-by": provisioner },
        },
        spec: {
          accessModes: field(claim, "spec", "accessModes") ?? [],
          capacity: { storage: field(claim, "spec", "resources", "requests", "storage") ?? "0" },
          claimRef: referenceTo(claim),
          hostPath: { path: `/var/lib/windlass/volumes/${name}`, type: "" },
          persistentVolumeReclaimPolicy: textOf(storageClass.reclaimPolicy) || "Delete",
          storageClassName: storageClass.metadata.name,
          volumeMode: field(claim, "spec", "volumeMode") ?? "Filesystem",
        },
      },
      context,
    );
    await record(claim, {
      type: "Normal",
      reason: "ProvisioningSucceeded",
      message: `Successfully provisioned volume ${name} using ${provisioner}`,
    });
    return volume;
  }

  async function bind(claim: StoredObject, volume: StoredObject): Promise<void> {
    if (field(volume, "spec", "claimRef") !== undefined && !isFor(volume, claim)) return;
    if (field(volume, "spec", "claimRef", "uid") !== claim.metadata.uid) {
      await edit(registry, volumes, volume, context, (next) => {
        (next.spec as JsonObject).claimRef = referenceTo(claim);
        const metadata = next.metadata as JsonObject;
        metadata.annotations = { ...mapAt(metadata, "annotations"), [boundByController]: "yes" };
      });
    }
    const grown = await grow(claim, volume);
    await setPhase(grown, "Bound");
    const own = mapAt(claim, "metadata", "annotations");
    if (field(claim, "spec", "volumeName") !== volume.metadata.name || own[bindCompleted] !== "yes") {
      const chosenHere = field(claim, "spec", "volumeName") === undefined;
      await edit(registry, claims, claim, context, (next) => {
        (next.spec as JsonObject).volumeName = volume.metadata.name;
        const metadata = next.metadata as JsonObject;
        metadata.annotations = {
          ...mapAt(metadata, "annotations"),
          [bindCompleted]: "yes",
          ...(chosenHere ? { [boundByController]: "yes" } : {}),
        };
      });
    }
    const status = {
      ...((claim.status ?? {}) as JsonObject),
      phase: "Bound",
      accessModes: field(grown, "spec", "accessModes") ?? [],
      capacity: field(grown, "spec", "capacity") ?? {},
    };
    await writeStatus(registry, claims, claim, status, context);
  }

  /** A claim that asks for more gets it, where its class lets volumes grow. */
  async function grow(claim: StoredObject, volume: StoredObject): Promise<StoredObject> {
    const wanted = field(claim, "spec", "resources", "requests", "storage");
    const storageClass = store.get(classes.bucket, textOf(field(claim, "spec", "storageClassName")))?.object;
    const grows = storageClass?.allowVolumeExpansion === true;
    if (
      !grows ||
      wanted === undefined ||
      sizeOf(wanted) <= sizeOf(field(volume, "spec", "capacity", "storage"))
    ) {
      return store.get(volumes.bucket, volume.metadata.name)?.object ?? volume;
    }
    return await edit(registry, volumes, volume, context, (next) => {
      (next.spec as JsonObject).capacity = { ...mapAt(next, "spec", "capacity"), storage: wanted };
    });
  }

  async function setPhase(volume: StoredObject, phase: string): Promise<void> {
    if (field(volume, "status", "phase") === phase) return;
    const status = {
      ...((volume.status ?? {}) as JsonObject),
      phase,
      lastPhaseTransitionTime: timestamp(clock),
    };
    await writeStatus(registry, volumes, volume, status, context);
  }

  async function keepVolume(volume: StoredObject | undefined): Promise<void> {
    if (!volume || isDeleting(volume)) return;
    const claimRef = field(volume, "spec", "claimRef") as JsonObject | undefined;
    if (claimRef?.uid === undefined) {
      await setPhase(volume, "Available");
      return;
    }
    const claim = store.get(claims.bucket, `${textOf(claimRef.namespace)}/${textOf(claimRef.name)}`)?.object;
    if (claim && claim.metadata.uid === claimRef.uid) return;
    await setPhase(volume, "Released");
    if (field(volume, "spec", "persistentVolumeReclaimPolicy") === "Delete") {
      await deleteIfPresent(registry, volumes, volume, context);
    }
  }
}

function referenceTo(claim: StoredObject): JsonObject {
  const { name, uid, resourceVersion } = claim.metadata;
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    name,
    namespace: namespaceOf(claim),
    uid,
    resourceVersion,
  };
}

function isFor(volume: StoredObject, claim: StoredObject): boolean {
  const reference = field(volume, "spec", "claimRef");
  const uid = field(reference, "uid");
  return (
    field(reference, "name") === claim.metadata.name &&
    field(reference, "namespace") === namespaceOf(claim) &&
    (uid === undefined || uid === claim.metadata.uid)
  );
}

function sizeOf(quantity: unknown): bigint {
  return typeof quantity === "string" ? parseQuantity(quantity).nanos : 0n;
}
