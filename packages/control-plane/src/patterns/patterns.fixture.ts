import { finish, type Steps } from "../steps.ts";
import { Patterns } from "./index.ts";

const loaded = new Patterns();
await loaded.load();

/** A matcher whose engines are loaded, so that no answer has to be waited for but those that take long. */
export const matcher = () => loaded.matcher();

/** The result of work that has no reason to wait. */
export function atOnce<T>(steps: Steps<T>): T {
  const result = finish(steps);
  if (result instanceof Promise) throw new Error("this had to wait");
  return result;
}
