import { RemoteCache } from "./remote-cache.ts";

/** How many calls of a connection wait for their answer at a time. */
const atATime = 16;

/** Does something for each action, through all frontends alike. */
async function each(
  frontends: readonly string[],
  actions: readonly string[],
  work: (cache: RemoteCache, action: string) => Promise<void>,
): Promise<void> {
  const waiting = actions.values();
  const oneByOne = async (cache: RemoteCache) => {
    for (const action of waiting) await work(cache, action);
  };
  await Promise.all(
    frontends.map(async (address) => {
      using cache = new RemoteCache(address);
      await Promise.all(Array.from({ length: atATime }, () => oneByOne(cache)));
    }),
  );
}

/** Writes an input, an output and a result for each action. */
export async function writeAll(frontends: readonly string[], actions: readonly string[]): Promise<void> {
  await each(frontends, actions, (cache, action) => cache.write(action));
}

/**
 * Those of the actions whose result, output or input is no longer there. Uses each as a build does:
 * it looks for inputs before it has them read.
 *
 * @throws CallError if one is not what was written
 */
export async function lostOf(
  frontends: readonly string[],
  actions: readonly string[],
): Promise<readonly string[]> {
  const lost: string[] = [];
  await each(frontends, actions, async (cache, action) => {
    const input = `input of ${action}`;
    if ((await cache.read(action)) === "hit" && (await cache.looksFor(input))) await cache.readBlob(input);
    else lost.push(action);
  });
  return lost;
}
