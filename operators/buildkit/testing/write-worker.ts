import { type Client, isConflict } from "@windlass/client";
import { BuildKitWorker, type Worker } from "../src/index.ts";

/** Writes a worker as clients do: once more where the operator was faster. */
export async function writeWorker(client: Client, make: () => Promise<Worker>): Promise<Worker> {
  for (;;)
    try {
      return await client.update(BuildKitWorker, await make());
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
}
