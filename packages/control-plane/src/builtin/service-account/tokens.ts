import { type ControllerDependencies, type Loop, type Running, startLoop } from "../../controllers/loop.ts";
import {
  builtin,
  controllerContext,
  deleteIfPresent,
  edit,
  isDeleting,
  unlessGone,
} from "../../controllers/objects.ts";
import { within } from "../../controllers/ownership.ts";
import { textOf } from "../../json.ts";
import { namespaceOf, objectAt, valueAt } from "../../json-fields.ts";
import { timestamp } from "../../registry/metadata.ts";
import { StatusError } from "../../status.ts";
import type { LogRecord, StoredObject } from "../../storage/store.ts";

const type = "kubernetes.io/service-account-token";
const accountKey = "kubernetes.io/service-account.name";
const uidKey = "kubernetes.io/service-account.uid";
const lastUsedLabel = "kubernetes.io/legacy-token-last-used";

const base64 = (text: string) => Buffer.from(text).toString("base64");

/**
 * Fills the Secrets that ask for a service account's token, and deletes them with their account.
 * Says on each when its token was last used.
 */
export function startServiceAccountTokens(deps: ControllerDependencies): Running {
  const { registry, tokens } = deps;
  const { store } = registry;
  const secrets = builtin(registry, "", "v1", "secrets");
  const context = controllerContext("tokens-controller");

  const loop: Loop = startLoop(deps, {
    name: "serviceaccount-token-controller",
    watches: {
      [secrets.bucket]: ({ entry, key }) => (entry.object.type === type ? [key] : []),
      serviceaccounts: secretsOf,
    },
    reconcile: async (key) => {
      const secret = store.get(secrets.bucket, key)?.object;
      if (!secret || secret.type !== type || isDeleting(secret) || !tokens) return undefined;
      const account = accountOf(secret);
      if (!account) {
        await deleteIfPresent(registry, secrets, secret, context);
        return undefined;
      }
      await fill(secret, account);
      return undefined;
    },
  });
  const forget = tokens?.onSecretUse(({ namespace, name }) => {
    void noteUse(`${namespace}/${name}`);
  });
  return {
    stop: () => {
      forget?.();
      loop.stop();
    },
    get idle() {
      return loop.idle;
    },
  };

  function secretsOf({ entry }: LogRecord): string[] {
    const { name } = entry.object.metadata;
    const namespace = namespaceOf(entry.object);
    return [...within(registry, secrets, namespace)]
      .filter((secret) => secret.type === type && annotation(secret, accountKey) === name)
      .map(({ metadata }) => `${namespace}/${metadata.name}`);
  }

  /**
   * The account that a Secret is for: of its name, and with the same uid if the Secret has been
   * filled before.
   */
  function accountOf(secret: StoredObject): StoredObject | undefined {
    const account = store.get(
      "serviceaccounts",
      `${namespaceOf(secret)}/${annotation(secret, accountKey)}`,
    )?.object;
    const uid = annotation(secret, uidKey);
    return uid === "" || account?.metadata.uid === uid ? account : undefined;
  }

  async function fill(secret: StoredObject, account: StoredObject): Promise<void> {
    const authority = base64(deps.authority?.() ?? "");
    const data = objectAt(secret, "data");
    const filled =
      textOf(data.token) !== "" &&
      textOf(data.namespace) !== "" &&
      data["ca.crt"] === authority &&
      annotation(secret, uidKey) === account.metadata.uid;
    if (filled || !tokens) return;
    const token = textOf(data.token) || base64(await tokens.issueForSecret(account, secret));
    await unlessGone(
      edit(registry, secrets, secret, context, (next) => {
        const metadata = next.metadata as StoredObject["metadata"];
        metadata.annotations = { ...objectAt(metadata, "annotations"), [uidKey]: account.metadata.uid };
        next.data = {
          ...objectAt(next, "data"),
          "ca.crt": authority,
          namespace: base64(namespaceOf(secret)),
          token,
        };
      }),
    );
  }

  async function noteUse(key: string): Promise<void> {
    const today = timestamp(registry.clock).slice(0, 10);
    const secret = store.get(secrets.bucket, key)?.object;
    if (!secret || valueAt(secret, "metadata", "labels", lastUsedLabel) === today) return;
    try {
      await edit(registry, secrets, secret, context, (next) => {
        const metadata = next.metadata as StoredObject["metadata"];
        metadata.labels = { ...objectAt(metadata, "labels"), [lastUsedLabel]: today };
      });
    } catch (error) {
      // The token was still good: the next use tries again.
      if (!(error instanceof StatusError)) deps.onPanic(error, `use of ${key}`);
    }
  }
}

function annotation(object: StoredObject, key: string): string {
  return textOf(valueAt(object, "metadata", "annotations", key));
}
