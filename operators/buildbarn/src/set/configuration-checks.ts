import { createHash } from "node:crypto";
import { type Checked, type CheckLimits, type Configuration, checkBounded } from "../configuration/index.ts";
import {
  type CheckedConfiguration,
  type ComponentConfiguration,
  checkComponent,
  programConfigurations,
  sumUp,
} from "./component-configuration.ts";

/** How many answers are remembered. */
const REMEMBERED = 100;
/**
 * How many checks go on at a time: each is a process that takes its memory from the operator's
 * limit.
 */
const AT_A_TIME = 1;

/**
 * Checks configurations for controllers. What the operator has written itself is evaluated at once.
 * What users have written a part of is evaluated in a process with limits, and once: a resource is
 * reconciled far more often than it changes.
 */
export class ConfigurationChecks {
  readonly #limits: CheckLimits;
  readonly #answers = new Map<string, Promise<Checked>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limits: CheckLimits = {}) {
    this.#limits = limits;
  }

  /** Evaluates the configuration of every program of a component as the program would. */
  async check(
    configuration: ComponentConfiguration,
    writtenBy: "operator" | "user",
  ): Promise<CheckedConfiguration> {
    if (writtenBy === "operator") return checkComponent(configuration);
    const checking = programConfigurations(configuration).map((one) =>
      "entry" in one ? this.evaluate(one) : Promise.resolve(one),
    );
    return sumUp(configuration, await Promise.all(checking));
  }

  /** Evaluates what users may have written. */
  async evaluate(configuration: Configuration): Promise<Checked> {
    const key = createHash("sha256").update(JSON.stringify(configuration)).digest("hex");
    const answer = this.#answers.get(key) ?? this.#inTurn(configuration);
    // The last that was asked for is the last to be forgotten.
    this.#answers.delete(key);
    this.#answers.set(key, answer);
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= REMEMBERED) break;
      this.#answers.delete(oldest);
    }
    try {
      return await answer;
    } catch (error) {
      // Not an answer: it is tried again.
      this.#answers.delete(key);
      throw error;
    }
  }

  async #inTurn(configuration: Configuration): Promise<Checked> {
    while (this.#running >= AT_A_TIME) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#running += 1;
    try {
      return await checkBounded(configuration, this.#limits);
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }
}
