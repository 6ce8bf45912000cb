import type { Client } from "@windlass/client";
import { Pod } from "@windlass/runtime/kinds";

/**
 * The image that a pod of the operator runs: gateways run it too, so that a change of
 * the operator's image, by whatever means, changes theirs.
 *
 * @throws Error that says what to set where it cannot be found out.
 */
export async function ownImage(
  client: Pick<Client, "get">,
  { namespace, name }: { readonly namespace: string; readonly name: string | undefined },
): Promise<string> {
  if (name === undefined)
    throw new Error(
      "POD_NAME is not set, so the operator cannot look up its own image: set GATEWAY_IMAGE to the image of the gateways",
    );
  const { spec } = await client.get(Pod, { namespace, name });
  const [container] = spec?.containers ?? [];
  if (container?.image === undefined)
    throw new Error(`pod ${namespace}/${name} has no image: set GATEWAY_IMAGE to the image of the gateways`);
  return container.image;
}
