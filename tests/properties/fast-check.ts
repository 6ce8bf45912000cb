/**
 * fast-check for `npm run test:lab -- properties`, where vitest.properties.config.ts gives it to
 * the tests in place of the original. A property is tried again, each time with another seed, until
 * PROPERTY_SECONDS are over: the tests say how many runs are enough for `npm test`, and here time
 * does not matter.
 *
 * The rounds are whole ones. fast-check's own time limit would leave an asynchronous run in the
 * middle, with its servers still open.
 */
import * as original from "fast-check";

const budgetMs = Number(process.env.PROPERTY_SECONDS ?? 4) * 1_000;
if (!Number.isFinite(budgetMs) || budgetMs < 0) {
  throw new Error(`PROPERTY_SECONDS must be a number of seconds, and is ${process.env.PROPERTY_SECONDS}`);
}

export * from "fast-check";

/** As fast-check's, in as many rounds as there is time for, and in one at least. */
export function assert<Ts>(
  property: original.IRawProperty<Ts>,
  parameters: original.Parameters<Ts> = {},
): Promise<void> | void {
  // A seed or a path is there to repeat one counterexample.
  const isReplay = parameters.seed !== undefined || parameters.path !== undefined;
  const end = performance.now() + (isReplay ? 0 : budgetMs);
  if (property.isAsync()) return repeatAsync(property as original.IAsyncProperty<Ts>, parameters, end);
  do original.assert(property as original.IProperty<Ts>, parameters);
  while (performance.now() < end);
}

async function repeatAsync<Ts>(
  property: original.IAsyncProperty<Ts>,
  parameters: original.Parameters<Ts>,
  end: number,
): Promise<void> {
  do await original.assert(property, parameters);
  while (performance.now() < end);
}

// biome-ignore lint/style/noDefaultExport: fast-check has one, and tests import it
export default { ...original, assert };
