/**
 * Where the code of the thread that matches patterns is: a file beside this one. In what is built
 * this module is replaced by one that contains the code: a bundler would leave the file behind.
 */
export function patternWorkerUrl(): URL {
  return new URL("./worker.ts", import.meta.url);
}
