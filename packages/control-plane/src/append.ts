/**
 * Adds items to the end of a list, one by one: spread into the arguments of `push`, some hundred
 * thousand of them are more than the stack takes, and a request can bring that many.
 */
export function append<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}
