import type { JsonObject } from "../json.ts";
import type { Resource } from "./resource.ts";

/** The authenticated user of a request. */
export interface Requester {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** A write on its way in, as admission sees it. */
export interface AdmissionRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE" | "CONNECT";
  readonly resource: Resource;
  readonly subresource: string | undefined;
  readonly namespace: string | undefined;
  /** Empty where the server will generate it, and for deletions of a collection. */
  readonly name: string;
  /** The name in the request's address; undefined for creates and for deletions of a collection. */
  readonly addressed: string | undefined;
  /** What is being written. Mutating admission changes it in place. Absent for deletions. */
  object: JsonObject | undefined;
  readonly oldObject: JsonObject | undefined;
  /**
   * The request's options as an object of kind CreateOptions, UpdateOptions, PatchOptions or
   * DeleteOptions.
   */
  readonly options: JsonObject;
  readonly user: Requester;
  readonly dryRun: boolean;
  readonly warn: (text: string) => void;
}

/**
 * One admission plugin. Both functions refuse by throwing a `StatusError`. A plugin that only
 * sometimes has to wait returns a promise only then: a write without waiting is one synchronous
 * step.
 */
export interface Admission {
  readonly name: string;
  readonly mutate?: (request: AdmissionRequest) => void | Promise<void>;
  readonly validate?: (request: AdmissionRequest) => void | Promise<void>;
}
