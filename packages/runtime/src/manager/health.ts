import type { HttpResponse } from "./http-server.ts";

/** Says whether something is well: nothing if it is, otherwise one line that says what is wrong. */
export type HealthCheck = () => string | undefined | void | Promise<string | undefined> | Promise<void>;

/** A check that is always well: answering at all is the point. */
export const ping: HealthCheck = () => undefined;

/**
 * Named checks behind one probe path, in the way of Kubernetes' own servers: 200 if all pass, 500
 * otherwise; `?verbose` lists them, `?exclude=name` leaves one out, `/readyz/name` asks one alone.
 * `?peek` is for those who send no clients here: what they see has no clients to drain.
 */
export class HealthChecks {
  readonly #path: string;
  readonly #checks = new Map<string, HealthCheck>();
  #hasPassed = false;

  /** @param path e.g. `/readyz` */
  constructor(path: string) {
    this.#path = path;
  }

  /** Adds a check. The returned function takes it out again. */
  add(name: string, check: HealthCheck): () => void {
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name))
      throw new TypeError(`health check name "${name}" must be letters, digits, ".", "_" and "-"`);
    this.#checks.set(name, check);
    return () => void this.#checks.delete(name);
  }

  /**
   * Whether a probe was ever answered with 200 for all checks: for readiness, whether clients may
   * have been sent here.
   */
  get hasPassed(): boolean {
    return this.#hasPassed;
  }

  readonly answer = async (url: URL): Promise<HttpResponse> => {
    const alone = url.pathname.slice(this.#path.length + 1);
    if (alone !== "" && !this.#checks.has(alone))
      return { status: 404, body: `there is no check "${alone}"\n` };
    const excluded = new Set(url.searchParams.getAll("exclude"));
    const lines: string[] = [];
    let isWell = true;
    for (const [name, check] of this.#checks) {
      if (alone !== "" && name !== alone) continue;
      if (excluded.has(name)) {
        lines.push(`[+]${name} excluded: ok`);
        continue;
      }
      const fault = await faultOf(check);
      if (fault !== undefined) isWell = false;
      lines.push(fault === undefined ? `[+]${name} ok` : `[-]${name} failed: ${fault}`);
    }
    const name = this.#path.slice(1);
    if (isWell && alone === "" && !url.searchParams.has("peek")) this.#hasPassed = true;
    if (isWell && !url.searchParams.has("verbose")) return { status: 200, body: "ok" };
    lines.push(isWell ? `${name} check passed` : `${name} check failed`);
    return { status: isWell ? 200 : 500, body: `${lines.join("\n")}\n` };
  };
}

async function faultOf(check: HealthCheck): Promise<string | undefined> {
  try {
    return (await check()) ?? undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
