import { z } from "zod";
import { type Keyring, LARGEST_KEY_ID } from "./keyring.ts";

/** The key of the Secret's data that holds the ring. */
export const keyringDataKey = "keys.json";

/** A Secret does not hold a ring. The message never holds any of its contents. */
export class KeyringError extends Error {
  override readonly name = "KeyringError";
}

const base64Secret = z.base64().refine((text) => Buffer.from(text, "base64").length === 32, {
  error: "must be 32 bytes in base64",
});
const storedKeys = z
  .array(
    z.object({
      id: z.int().min(1).max(LARGEST_KEY_ID),
      addedAt: z.iso.datetime(),
      secret: base64Secret,
    }),
  )
  .min(1);

/** A ring as text, for a Secret. */
export function writeKeyring(ring: Keyring): string {
  const keys = ring.map(({ id, addedAt, secret }) => ({
    id,
    addedAt: new Date(addedAt).toISOString(),
    secret: Buffer.from(secret).toString("base64"),
  }));
  return `${JSON.stringify(keys, null, 2)}\n`;
}

/**
 * Reads what `writeKeyring` wrote.
 *
 * @throws KeyringError that says which field is wrong.
 */
export function readKeyring(text: string): Keyring {
  const { data, error } = storedKeys.safeParse(parseJson(text));
  if (error) {
    const [issue] = error.issues;
    throw new KeyringError(`${keyringDataKey}: ${issue?.path.join(".") || "the list"}: ${issue?.message}`);
  }
  const ring = data
    .map(({ id, addedAt, secret }) => ({
      id,
      addedAt: Date.parse(addedAt),
      secret: new Uint8Array(Buffer.from(secret, "base64")),
    }))
    .toSorted((a, b) => a.addedAt - b.addedAt);
  if (new Set(ring.map(({ id }) => id)).size < ring.length)
    throw new KeyringError(`${keyringDataKey}: two keys have the same id`);
  return ring;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which holds the secrets.
    throw new KeyringError(`${keyringDataKey}: not JSON`);
  }
}
