/**
 * `node operators/buildkit/scripts/image.ts [NAME]`: makes the operator's image and loads it where
 * the lab's cluster, which KUBECONFIG names, finds it. NAME is `windlass/buildkit:dev` if not
 * given. `npm run image -- buildkit` writes the same image to a file.
 */
import { lab, loadIntoLab } from "../../../scripts/packaging/operator-image.ts";

export { lab };
/** The name of the image, unless another is given. */
export const imageName = "windlass/buildkit:dev";

/** Makes the image and loads it where the lab's cluster finds it. */
export async function makeImage(name = imageName): Promise<void> {
  await loadIntoLab("buildkit", name);
}

if (import.meta.main) await makeImage(process.argv[2]);
