import { createHash } from "node:crypto";
import { mkdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join, normalize } from "node:path";
import type { Container, Pod, VolumeMount } from "@windlass/kinds/builtin";
import type { Stored } from "../storage/typed.ts";
import { expand } from "./environment.ts";
import type { Mount } from "./file-view.ts";
import {
  filesOf,
  isProjected,
  sourceOf,
  UnsupportedVolume,
  type VolumeSources,
  writeFiles,
} from "./volumes.ts";

const accountPath = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * The files of one pod: its volumes, its `/etc/hosts`, and the termination messages of its
 * containers.
 */
export class PodFiles {
  readonly directory: string;
  readonly #claims: string;
  readonly #sources: (pod: Stored<Pod>) => VolumeSources;
  /** What was written to each volume, to know whether it has changed. */
  readonly #digests = new Map<string, string>();
  #hosts = "";
  #isGone = false;
  #work: Promise<void> = Promise.resolve();

  /** @param claims where the claims of the pod's namespace are kept */
  constructor(directory: string, claims: string, sources: (pod: Stored<Pod>) => VolumeSources) {
    this.directory = directory;
    this.#claims = claims;
    this.#sources = sources;
  }

  /**
   * Writes what is made from objects, as they are now. One at a time: two would get into each
   * other's way.
   */
  refresh(pod: Stored<Pod>): Promise<void> {
    this.#work = this.#work.catch(() => undefined).then(() => this.#write(pod));
    return this.#work;
  }

  async #write(pod: Stored<Pod>): Promise<void> {
    if (this.#isGone) return;
    await mkdir(join(this.directory, "home"), { recursive: true });
    for (const volume of pod.spec.volumes ?? []) {
      if (!isProjected(volume)) continue;
      const files = await filesOf(volume, this.#sources(pod));
      const hash = createHash("sha256");
      for (const [path, { content, mode }] of files)
        hash.update(`${path}\0${mode}\0${content.byteLength}\0`).update(content);
      const digest = hash.digest("hex");
      const { name } = volume;
      if (this.#digests.get(name) === digest) continue;
      await writeFiles(join(this.directory, "volumes", name), files);
      this.#digests.set(name, digest);
    }
  }

  /** Written in place, so that containers that run see it too. */
  async setHosts(text: string): Promise<void> {
    if (text === this.#hosts || this.#isGone) return;
    this.#hosts = text;
    await mkdir(this.directory, { recursive: true });
    await writeFile(join(this.directory, "hosts"), text);
  }

  /**
   * What a container finds where.
   *
   * @throws UnsupportedVolume, or an error that names the volume
   */
  async mountsFor(
    pod: Stored<Pod>,
    container: Container,
    run: string,
    env: ReadonlyMap<string, string>,
  ): Promise<{ readonly required: Mount[]; readonly optional: Mount[] }> {
    const required: Mount[] = [];
    const optional: Mount[] = [
      { source: join(this.directory, "hosts"), path: "/etc/hosts", readOnly: false },
    ];
    for (const wanted of container.volumeMounts ?? []) {
      const mount = await this.#mount(pod, wanted, env);
      (mount.path === accountPath ? optional : required).push(mount);
    }
    const words = this.#terminationMessageFile(run);
    await mkdir(dirname(words), { recursive: true });
    await writeFile(words, "", { mode: 0o666 });
    const path = container.terminationMessagePath || "/dev/termination-log";
    optional.push({ source: words, path, readOnly: false });
    return { required, optional };
  }

  async #mount(pod: Stored<Pod>, wanted: VolumeMount, env: ReadonlyMap<string, string>): Promise<Mount> {
    const { name, subPath, subPathExpr = "", mountPath, readOnly = false } = wanted;
    const volume = pod.spec.volumes?.find((one) => one.name === name);
    if (!volume) throw new UnsupportedVolume(`volume "${name}" is not among the pod's volumes`);
    const places = { own: this.directory, claims: this.#claims };
    const base = sourceOf(volume, places, pod.metadata.name);
    const { hostPath: host } = volume;
    if (host === undefined || host.type === "DirectoryOrCreate") {
      await mkdir(base, { recursive: true });
    }
    const part = subPath || expand(subPathExpr, (variable) => env.get(variable));
    const within = normalize(part);
    if (part !== "" && (within.startsWith("..") || within.startsWith("/"))) {
      throw new UnsupportedVolume(
        `volume "${name}": subPath ${JSON.stringify(part)} leads out of the volume`,
      );
    }
    const source = part === "" ? base : join(base, within);
    if (!(await exists(source))) {
      if (isProjected(volume) || host !== undefined) {
        throw new UnsupportedVolume(`volume "${name}": there is no ${part === "" ? source : part} in it`);
      }
      await mkdir(source, { recursive: true });
    }
    const path = normalize(`/${mountPath}`).replace(/(.)\/$/, "$1");
    return { source, path, readOnly };
  }

  /** What a container wrote to say why it ended; the end of it, where it is long. */
  async terminationMessage(run: string): Promise<string> {
    const text = await readFile(this.#terminationMessageFile(run)).catch(() => Buffer.alloc(0));
    return text.subarray(Math.max(0, text.byteLength - 4_096)).toString();
  }

  #terminationMessageFile(run: string): string {
    return join(this.directory, "termination-messages", run);
  }

  /** Links to all mounts below one directory, for containers that have no view of their own. */
  async linked(run: string, mounts: readonly Mount[]): Promise<string> {
    const root = join(this.directory, "linked", run);
    await mkdir(root, { recursive: true });
    for (const { source, path } of mounts.toSorted((a, b) => a.path.length - b.path.length)) {
      const at = join(root, path);
      if (await exists(at)) continue;
      await mkdir(dirname(at), { recursive: true });
      await symlink(source, at);
    }
    return root;
  }

  async remove(): Promise<void> {
    this.#isGone = true;
    await this.#work.catch(() => undefined);
    await rm(this.directory, { recursive: true, force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
