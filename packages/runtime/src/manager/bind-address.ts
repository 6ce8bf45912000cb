/** Where to listen. */
export interface BindAddress {
  readonly host?: string;
  readonly port: number;
}

/**
 * An address from a variable of the environment, in the form that kubebuilder's
 * `--metrics-bind-address` takes: `:8080`, `127.0.0.1:8080`, `[::1]:8080`, or `0` for none.
 *
 * @returns undefined if the variable is not set.
 * @throws TypeError naming the variable if its value is none of these.
 */
export function bindAddressFrom(
  environment: Readonly<Record<string, string | undefined>>,
  variable: string,
): BindAddress | false | undefined {
  const text = environment[variable];
  if (text === undefined || text === "") return undefined;
  if (text === "0") return false;
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65_535)
    throw new TypeError(
      `${variable} (${JSON.stringify(text)}) must be like ":8080" or "127.0.0.1:8080", or "0" for none`,
    );
  const host = match[1] ?? match[2] ?? "";
  return host === "" ? { port } : { host, port };
}
