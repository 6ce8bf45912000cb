import { type ClientRequest, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

/** Why a trigger has no answer. Its message has no secret: neither headers nor the body. */
export class TriggerError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "TriggerError";
  }
}

/** Gets a JSON document. */
export type FetchJson = (
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
) => Promise<unknown>;

const longestMs = 5_000;
const longestBody = 1024 * 1024;

/** Gets a JSON document by HTTP, within five seconds and one MiB. */
export const fetchJson: FetchJson = (url, headers, signal) =>
  new Promise((resolve, reject) => {
    const both = AbortSignal.any([signal, AbortSignal.timeout(longestMs)]);
    const asked = begin(url, { accept: "application/json", ...headers }, both);
    const fail = (why: string, cause?: unknown) =>
      reject(new TriggerError(`${asked.host} ${why}`, { cause }));
    asked.on("response", (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > longestBody) asked.destroy(new Error("the answer is larger than 1 MiB"));
      });
      answer.on("error", (error) => fail("broke off", error));
      answer.on("end", () => {
        if (answer.statusCode !== 200) return fail(`answered with status ${answer.statusCode}`);
        try {
          resolve(JSON.parse(text));
        } catch (error) {
          fail("answered with something that is not JSON", error);
        }
      });
    });
    asked.on("error", (error: NodeJS.ErrnoException) =>
      fail(
        both.aborted ? "did not answer in time" : `cannot be asked: ${error.code ?? error.message}`,
        error,
      ),
    );
    asked.end();
  });

/** @throws TriggerError for an address, or headers, that no request can have. */
function begin(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): ClientRequest {
  const request = url.startsWith("https:") ? requestHttps : requestHttp;
  try {
    return request(url, { headers, signal });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new TriggerError(`no request can have its address and headers: ${why}`, { cause: error });
  }
}

/**
 * The number at a place in a document, such as `queue.length`.
 *
 * @throws TriggerError if there is none
 */
export function numberAt(document: unknown, location: string): number {
  let found: unknown = document;
  for (const name of location.split(".")) {
    const isInside = typeof found === "object" && found !== null && Object.hasOwn(found, name);
    found = isInside ? (found as Readonly<Record<string, unknown>>)[name] : undefined;
  }
  const number = typeof found === "string" && found.trim() !== "" ? Number(found) : found;
  if (typeof number === "number" && Number.isFinite(number)) return number;
  throw new TriggerError(`the document has no number at ${location}`);
}

/**
 * Reads a Secret: its values, decoded; undefined if it is missing. It rejects without the right to.
 */
export type ReadSecret = (
  key: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
) => Promise<ReadonlyMap<string, string> | undefined>;

/** Headers of which some have their values in Secrets. */
export interface HeaderSources {
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly headersFrom?:
    | readonly {
        readonly name: string;
        readonly secretKeyRef: { readonly name: string; readonly key: string };
      }[]
    | undefined;
}

/**
 * The headers of a trigger's request, with those that are in Secrets of its namespace.
 *
 * @throws TriggerError for a Secret that cannot be read
 */
export async function headersOf(
  { headers = {}, headersFrom = [] }: HeaderSources,
  namespace: string,
  readSecret: ReadSecret,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const all = { ...headers };
  for (const { name: header, secretKeyRef } of headersFrom) {
    const { name, key } = secretKeyRef;
    const secret = await readSecret({ namespace, name }, signal).catch((error: unknown) => {
      throw new TriggerError(`Secret ${name} cannot be read: may the operator get it?`, { cause: error });
    });
    const value = secret?.get(key);
    if (value === undefined) throw new TriggerError(`there is no Secret ${name} with the key ${key}`);
    all[header] = value;
  }
  return all;
}
