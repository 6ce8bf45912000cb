/**
 * `node operators/elasti/scripts/image.ts [NAME]`: makes the operator's image and loads it where
 * the lab's cluster, which KUBECONFIG names, finds it. NAME is `windlass/elasti:dev` if not given.
 * `npm run image -- elasti` writes the same image to a file.
 */
import { loadIntoLab } from "../../../scripts/packaging/operator-image.ts";

await loadIntoLab("elasti", process.argv[2]);
