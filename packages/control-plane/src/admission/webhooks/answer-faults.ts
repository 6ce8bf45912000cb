import { isObject, type Json, type JsonObject, textOf } from "../../json.ts";
import { goQuote } from "../../schema/go-text.ts";

/** What a failed answer is called when it does not explain itself, by HTTP status. */
const plainWords: { readonly [status: number]: string } = {
  400: "the server rejected our request for an unknown reason",
  401: "the server has asked for the client to provide credentials",
  404: "the server could not find the requested resource",
  405: "the server does not allow this method on the requested resource",
  406: "the server was unable to respond with a content type that the client supports",
  409: "the server reported a conflict",
  422: "the server rejected our request due to an error in our request",
  429: "the server has received too many requests and has asked us to try again later",
  503: "the server is currently unable to handle the request",
  504: "the server was unable to return a response in the time allotted, but may still be processing the request",
};

/**
 * Why an answer is no review, in the words of the real server's client; undefined for one that may
 * be.
 */
export function answerFault(answer: {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
  readonly value: Json | undefined;
}): string | undefined {
  const { status, contentType, body, value } = answer;
  // A Status explains itself, whatever code it comes with.
  if (isObject(value) && value.kind === "Status" && value.apiVersion === "v1" && value.status !== "Success") {
    return textOf(value.message) || "unknown";
  }
  // Go takes one that changes the protocol for a success.
  if (status !== 101 && (status < 200 || status > 206)) {
    const isText = contentType === "" || contentType.startsWith("text/");
    const said = isText ? shortened(body).trim() : "unknown";
    if (status === 403 || status === 415) return said;
    const words = plainWords[status];
    if (words !== undefined) return words;
    if (status >= 500)
      return `an error on the server (${goQuote(said)}) has prevented the request from succeeding`;
    return `the server responded with the status code ${status} but did not return more information`;
  }
  if (body === "")
    return `0-length response with status code: ${status} and content type: ${contentType || "application/json"}`;
  if (!isObject(value)) {
    const kind = Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
    return `couldn't get version/kind; json parse error: json: cannot unmarshal ${kind} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
  }
  return undefined;
}

/** So much of a failed answer the client is told. */
const mostTold = 2_048;

function shortened(body: string): string {
  const start = Buffer.from(body.slice(0, mostTold));
  return start.byteLength > mostTold ? start.subarray(0, mostTold).toString("utf8") : body.slice(0, mostTold);
}

const responseTypes = { allowed: "boolean", uid: "string", patch: "string", patchType: "string" } as const;

/** The first field of an admission response that is of another type than it must be. */
export function responseFault(review: JsonObject): string | undefined {
  const { response } = review;
  if (!isObject(response)) return undefined;
  for (const [name, type] of Object.entries(responseTypes)) {
    const value = response[name];
    if (value === undefined || value === null || typeof value === type) continue;
    const given = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
    const wanted = { allowed: "bool", uid: "types.UID", patch: "[]uint8", patchType: "v1.PatchType" }[name];
    return `json: cannot unmarshal ${given} into Go struct field AdmissionResponse.response.${name} of type ${wanted}`;
  }
  return undefined;
}

/**
 * Why an answer is not the kind of review that was sent. One that does not say what it is passes
 * here.
 */
export function kindFault(answer: JsonObject, sent: JsonObject): string | undefined {
  const kind = textOf(answer.kind) || textOf(sent.kind);
  const apiVersion = textOf(answer.apiVersion) || textOf(sent.apiVersion);
  if (kind === sent.kind && apiVersion === sent.apiVersion) return undefined;
  const [group, wanted] = textOf(sent.apiVersion).split("/") as [string, string];
  if (kind === sent.kind && (apiVersion === `${group}/v1` || apiVersion === `${group}/v1beta1`)) {
    const given = apiVersion.slice(group.length + 1);
    return `converting (${given}.${kind}) to (${wanted}.${kind}): unknown conversion`;
  }
  return `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;
}
