/**
 * Node's own `http` and `https`, had without an import statement: importing `node:http` reads all of its exports, and
 * `WebSocket` among them loads a whole second HTTP client, which costs 10 MB and half of this package's start-up time.
 */
export const http = process.getBuiltinModule("node:http");
export const https = process.getBuiltinModule("node:https");
