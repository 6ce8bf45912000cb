import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from "@windlass/kinds/builtin";
import { parseQuantity } from "@windlass/kinds/quantity";
import { eventRecorder } from "../../controllers/events.ts";
import { type ControllerDependencies, type Running, startLoop } from "../../controllers/loop.ts";
import {
  builtin,
  controllerContext,
  createObject,
  deleteIfPresent,
  edit,
  isDeleting,
  stored,
} from "../../controllers/objects.ts";
import { namespaceOf } from "../../json-fields.ts";
import { selectorMatcher } from "../../registry/label-selector.ts";
import { timestamp } from "../../registry/metadata.ts";
import type { StoredObject } from "../../storage/store.ts";
import { typed } from "../../storage/typed.ts";

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
  const claims = builtin<PersistentVolumeClaim>(registry, "", "v1", "persistentvolumeclaims");
  const volumes = builtin<PersistentVolume>(registry, "", "v1", "persistentvolumes");
  const classes = builtin<StorageClass>(registry, "storage.k8s.io", "v1", "storageclasses");

  let provided = false;

  return startLoop(deps, {
    name: "persistentvolume-binder-controller",
    watches: {
      [claims.bucket]: ({ key, entry }) => {
        const { volumeName } = claimSpec(entry.object);
        return volumeName ? [`claim ${key}`, `volume ${volumeName}`] : [`claim ${key}`];
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
      else if (what === "claim") await keepClaim(stored(registry, claims, key));
      else await keepVolume(stored(registry, volumes, key));
      return undefined;
    },
  });

  function unbound(): string[] {
    return [...store.entries(claims.bucket)]
      .filter(({ object }) => typed<PersistentVolumeClaim>(object).status?.phase !== "Bound")
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
    const { volumeName } = claimSpec(claim);
    if (volumeName) {
      const volume = stored(registry, volumes, volumeName);
      if (volume) await bind(claim, volume);
      else if (typed<PersistentVolumeClaim>(claim).status?.phase === "Bound")
        await setClaimPhase(claim, "Lost");
      return;
    }
    const withClass = await classified(claim);
    const storageClass = classOf(withClass);
    const waits =
      storageClass?.volumeBindingMode === "WaitForFirstConsumer" &&
      withClass.metadata.annotations?.[selectedNode] === undefined;
    if (waits) {
      await setClaimPhase(claim, "Pending");
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
      await setClaimPhase(claim, "Pending");
      await record(claim, {
        type: "Normal",
        reason: "FailedBinding",
        message: "no persistent volumes available for this claim and no storage class is set",
      });
    }
  }

  /** The class that a claim names, if it is there. */
  function classOf(claim: StoredObject): StorageClass | undefined {
    const { storageClassName = "" } = claimSpec(claim);
    const found = storageClassName === "" ? undefined : store.get(classes.bucket, storageClassName);
    return found && typed<StorageClass>(found.object);
  }

  async function setClaimPhase(claim: StoredObject, phase: "Lost" | "Pending"): Promise<void> {
    await edit(
      registry,
      claims,
      claim,
      context,
      (next) => {
        next.status = { ...next.status, phase };
      },
      "status",
    );
  }

  /** The claim with the default class, if it names none and there is one. */
  async function classified(claim: StoredObject): Promise<StoredObject> {
    if (claimSpec(claim).storageClassName !== undefined) return claim;
    const usual = store
      .list(classes.bucket)
      .entries.find(({ object }) => object.metadata.annotations?.[defaultClassKey] === "true");
    if (!usual) return claim;
    return await edit(registry, claims, claim, context, (next) => {
      next.spec.storageClassName = usual.object.metadata.name;
    });
  }

  /** The smallest volume that will do. */
  function findVolume(claim: StoredObject): StoredObject | undefined {
    const wanted = claimSpec(claim);
    const matches = wanted.selector === undefined ? () => true : selectorMatcher(wanted.selector);
    const size = sizeOf(wanted.resources?.requests?.storage);
    return store
      .list(volumes.bucket)
      .entries.map(({ object }) => object)
      .filter((volume) => {
        const { spec: offered, status } = typed<PersistentVolume>(volume);
        if (isDeleting(volume)) return false;
        if (offered.claimRef !== undefined) return isFor(volume, claim) && status?.phase !== "Released";
        return (
          (offered.storageClassName ?? "") === (wanted.storageClassName ?? "") &&
          (offered.volumeAttributesClassName ?? "") === (wanted.volumeAttributesClassName ?? "") &&
          (offered.volumeMode ?? "Filesystem") === (wanted.volumeMode ?? "Filesystem") &&
          (wanted.accessModes ?? []).every((mode) => offered.accessModes?.includes(mode)) &&
          capacityOf(volume) >= size &&
          matches(volume.metadata.labels)
        );
      })
      .sort((a, b) => Number(capacityOf(a) - capacityOf(b)))[0];
  }

  async function provision(
    claim: StoredObject,
    { provisioner, reclaimPolicy = "Delete", metadata: { name: className } }: StorageClass,
  ): Promise<StoredObject | undefined> {
    if (provisioner === noProvisioner) return undefined;
    const name = `pvc-${claim.metadata.uid}`;
    const known = stored(registry, volumes, name);
    if (known) return known;
    await edit(registry, claims, claim, context, (next) => {
      const named = Object.fromEntries(provisionerKeys.map((key) => [key, provisioner]));
      next.metadata.annotations = { ...next.metadata.annotations, ...named };
    });
    const { accessModes = [], resources, volumeMode = "Filesystem" } = claimSpec(claim);
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
          accessModes: [...accessModes],
          capacity: { storage: resources?.requests?.storage ?? "0" },
          claimRef: referenceTo(claim),
          hostPath: { path: `/var/lib/windlass/volumes/${name}`, type: "" },
          persistentVolumeReclaimPolicy: reclaimPolicy,
          storageClassName: className,
          volumeMode,
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
    const { claimRef } = typed<PersistentVolume>(volume).spec;
    if (claimRef !== undefined && !isFor(volume, claim)) return;
    if (claimRef?.uid !== claim.metadata.uid) {
      await edit(registry, volumes, volume, context, (next) => {
        next.spec.claimRef = referenceTo(claim);
        next.metadata.annotations = { ...next.metadata.annotations, [boundByController]: "yes" };
      });
    }
    const grown = await grow(claim, volume);
    await setPhase(grown, "Bound");
    const { volumeName } = claimSpec(claim);
    const isComplete = claim.metadata.annotations?.[bindCompleted] === "yes";
    if (volumeName !== volume.metadata.name || !isComplete) {
      const chosenHere = volumeName === undefined;
      await edit(registry, claims, claim, context, (next) => {
        next.spec.volumeName = volume.metadata.name;
        next.metadata.annotations = {
          ...next.metadata.annotations,
          [bindCompleted]: "yes",
          ...(chosenHere ? { [boundByController]: "yes" } : {}),
        };
      });
    }
    const {
      accessModes = [],
      capacity = {},
      volumeAttributesClassName,
    } = typed<PersistentVolume>(grown).spec;
    await edit(
      registry,
      claims,
      claim,
      context,
      (next) => {
        // Later it is the driver's to say which class the volume has.
        const isNew = next.status?.phase !== "Bound" && volumeAttributesClassName !== undefined;
        next.status = {
          ...next.status,
          ...(isNew ? { currentVolumeAttributesClassName: volumeAttributesClassName } : {}),
          phase: "Bound",
          accessModes: [...accessModes],
          capacity: { ...capacity },
        };
      },
      "status",
    );
  }

  /** A claim that asks for more gets it, where its class lets volumes grow. */
  async function grow(claim: StoredObject, volume: StoredObject): Promise<StoredObject> {
    const wanted = claimSpec(claim).resources?.requests?.storage;
    const grows = classOf(claim)?.allowVolumeExpansion === true;
    if (!grows || wanted === undefined || sizeOf(wanted) <= capacityOf(volume)) {
      return stored(registry, volumes, volume.metadata.name) ?? volume;
    }
    return await edit(registry, volumes, volume, context, (next) => {
      next.spec.capacity = { ...next.spec.capacity, storage: wanted };
    });
  }

  async function setPhase(volume: StoredObject, phase: "Available" | "Bound" | "Released"): Promise<void> {
    if (typed<PersistentVolume>(volume).status?.phase === phase) return;
    await edit(
      registry,
      volumes,
      volume,
      context,
      (next) => {
        next.status = { ...next.status, phase, lastPhaseTransitionTime: timestamp(clock) };
      },
      "status",
    );
  }

  async function keepVolume(volume: StoredObject | undefined): Promise<void> {
    if (!volume || isDeleting(volume)) return;
    const { claimRef, persistentVolumeReclaimPolicy } = typed<PersistentVolume>(volume).spec;
    if (claimRef?.uid === undefined) {
      await setPhase(volume, "Available");
      return;
    }
    const claim = stored(registry, claims, `${claimRef.namespace}/${claimRef.name}`);
    if (claim && claim.metadata.uid === claimRef.uid) return;
    await setPhase(volume, "Released");
    if (persistentVolumeReclaimPolicy === "Delete") {
      await deleteIfPresent(registry, volumes, volume, context);
    }
  }
}

function claimSpec(claim: StoredObject): PersistentVolumeClaim["spec"] {
  return typed<PersistentVolumeClaim>(claim).spec;
}

function referenceTo(claim: StoredObject): { [field: string]: string } {
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
  const { name, namespace, uid } = typed<PersistentVolume>(volume).spec.claimRef ?? {};
  return (
    name === claim.metadata.name &&
    namespace === namespaceOf(claim) &&
    (uid === undefined || uid === claim.metadata.uid)
  );
}

function capacityOf(volume: StoredObject): bigint {
  return sizeOf(typed<PersistentVolume>(volume).spec.capacity?.storage);
}

function sizeOf(quantity: unknown): bigint {
  return typeof quantity === "string" ? parseQuantity(quantity).nanos : 0n;
}
