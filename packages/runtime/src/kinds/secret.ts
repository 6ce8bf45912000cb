import { isRecord } from "@windlass/kinds/json";

/**
 * A Secret with its `stringData` encoded as `data`, which is what the server stores.
 *
 * Applied as it is, `stringData` is write-only: the server's record of who owns which fields then
 * has nothing of `data`, so a key that is left out later stays, and an edit of `data` goes
 * unnoticed.
 */
export function withEncodedStringData<T extends object>(secret: T): T {
  if (!("stringData" in secret) || !isRecord(secret.stringData)) return secret;
  const { stringData, ...rest } = secret;
  const encoded = Object.entries(stringData).map(
    ([key, text]) => [key, Buffer.from(String(text)).toString("base64")] as const,
  );
  const data = "data" in secret && isRecord(secret.data) ? secret.data : {};
  return { ...rest, data: { ...data, ...Object.fromEntries(encoded) } } as unknown as T;
}
