/** One reason why a definition cannot become a CustomResourceDefinition. */
export interface Problem {
  /** Where: `spec.env[].name`, `printerColumns[0].jsonPath`. */
  readonly path: string;
  /** What is wrong, and what to write instead. */
  readonly message: string;
}

/**
 * A definition that an API server would refuse, or would accept and not enforce. All problems are
 * listed, each with its path, so that one run shows everything there is to mend.
 */
export class ResourceDefinitionError extends Error {
  override readonly name = "ResourceDefinitionError";
  readonly code = "RESOURCE_DEFINITION";
  readonly problems: readonly Problem[];

  constructor(subject: string, problems: readonly Problem[]) {
    const lines = problems.map((problem) => `${subject}: ${problem.path}: ${problem.message}`);
    super(lines.join("\n"));
    this.problems = problems;
  }
}

/** Collects problems while a definition is walked, so that the first does not hide the rest. */
export class Problems {
  readonly #found: Problem[] = [];

  add(path: string, message: string): void {
    if (!this.#found.some((known) => known.path === path && known.message === message)) {
      this.#found.push({ path, message });
    }
  }

  get list(): readonly Problem[] {
    return this.#found;
  }

  /** Throws what was found, if anything was. */
  settle(subject: string): void {
    if (this.#found.length > 0) throw new ResourceDefinitionError(subject, this.#found);
  }
}
