import { Patterns } from "./index.ts";

const loaded = new Patterns();
await loaded.load();

/**
 * A matcher whose engines are loaded, so that no answer has to be waited for but those that take
 * long.
 */
export const matcher = () => loaded.matcher();
