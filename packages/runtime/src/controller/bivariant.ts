/**
 * A function that code working with every kind may hold, although it takes objects of one kind
 * only: the declaration that holds it has the kind next to it, and hands it objects of that kind
 * alone. Methods are compared this way by the compiler, functions are not.
 */
export type Bivariant<Parameters extends readonly unknown[], Result> = {
  call(...parameters: Parameters): Result;
}["call"];
