/** Bytes that a client sends. */
export interface WireRequest {
  readonly name: string;
  readonly bytes: string;
  /** Why the embedded server answers otherwise, where it does. */
  readonly known?: string;
}

const host = "Host: x\r\n";
const json = "Content-Type: application/json\r\n";

function get(target: string, headers = host, version = "1.1"): string {
  return `GET ${target} HTTP/${version}\r\n${headers}\r\n`;
}

function post(headers: string, body: string): string {
  return `POST /api/v1/namespaces?dryRun=All HTTP/1.1\r\n${host}${json}${headers}\r\n${body}`;
}

const strict = "Node's parser is stricter than Go's, for the sake of those behind proxies";
const methods = "Node's parser knows the methods that are registered, and no others";
const words = "Node's parser does not tell in which way a header is wrong";

function terms(count: number): string {
  return encodeURIComponent(
    `k in (${Array.from({ length: count }, (_, index) => `value-${index}`).join(",")})`,
  );
}

function wide(bytes: number): string {
  return "a".repeat(bytes);
}

const pods = "/api/v1/namespaces/default/pods";

const targets: readonly string[] = [
  "https://elsewhere.example/version?x=1",
  "http://elsewhere.example:99/api/v1/namespaces/kube-system?x=1",
  "ftp://elsewhere.example/version",
  "http:///version",
  "*",
  "//version",
  "//api/v1/namespaces/kube-system",
  "/api//v1/namespaces/kube-system",
  "/api/v1//namespaces/kube-system",
  "/api/v1/namespaces//kube-system",
  "/api/v1/namespaces/kube-system//",
  "/api/v1/namespaces/kube-system//pods",
  "/api/v1/namespaces//pods",
  "/api/v1/namespaces///pods",
  "/api/v1/pods//x",
  `${pods}//`,
  `${pods}//x`,
  `${pods}/x//log`,
  "/api/v1/nodes//x",
  "/api/v1/watch//pods",
  "/api//",
  "/api/v1//",
  "/apis//",
  "/apis//apps/v1",
  "/apis/apps//v1",
  "/apis/apps/v1//",
  "/apis/apps/v1//deployments",
  "/apis/apps/v1/namespaces//deployments",
  "/version//",
  "/healthz/",
  "//healthz",
  "///",
  "/../version",
  "/api/v1/./namespaces/kube-system",
  "/%61pi/v1/namespaces/kube-system",
  "/api%2Fv1/namespaces/kube-system",
  "/api/v1/namespaces/%zz",
  "/version#x",
  "/ver sion",
  "version",
];

export const wireRequests: readonly WireRequest[] = [
  ...targets.map((target) => ({ name: `GET ${target}`, bytes: get(target) })),
  { name: "a selector of 800 terms", bytes: get(`${pods}?labelSelector=${terms(800)}`) },
  { name: "a selector of 50,000 terms", bytes: get(`${pods}?labelSelector=${terms(50_000)}`) },
  { name: "an address of a megabyte", bytes: get(`${pods}?x=${wide(1024 * 1024)}`) },
  { name: "an address of more than that", bytes: get(`${pods}?x=${wide(1_060_000)}`) },
  { name: "a header of 900 kB", bytes: get("/readyz", `${host}X: ${wide(900_000)}\r\n`) },
  { name: "a header of more than a megabyte", bytes: get("/readyz", `${host}X: ${wide(1_060_000)}\r\n`) },
  {
    name: "three thousand headers",
    bytes: get("/readyz", `${host}${Array.from({ length: 3_000 }, (_, i) => `X-${i}: a\r\n`).join("")}`),
  },
  { name: "two hosts", bytes: get("/readyz", `${host}Host: y\r\n`) },
  { name: "the same host twice", bytes: get("/readyz", `${host}${host}`) },
  { name: "no host", bytes: get("/readyz", "") },
  { name: "no host in HTTP/1.0", bytes: get("/readyz", "", "1.0") },
  { name: "an empty host", bytes: get("/readyz", "Host: \r\n") },
  { name: "an invalid host", bytes: get("/readyz", "Host: a b\r\n") },
  { name: "OPTIONS *", bytes: `OPTIONS * HTTP/1.1\r\n${host}\r\n` },
  {
    name: "CONNECT",
    bytes: `CONNECT foo:80 HTTP/1.1\r\n${host}\r\n`,
    known: "a connection that asked for a tunnel is closed with the refusal",
  },
  { name: "an opaque address", bytes: get("foo:bar"), known: strict },
  { name: "a path beyond ASCII", bytes: get("/api/v1/namespaces/\u00e9"), known: strict },
  { name: "a control character in the path", bytes: get("/api/v1/\u0001") },
  { name: "HTTP/2.0 spelled out", bytes: get("/readyz", host, "2.0") },
  { name: "HTTP/1.2", bytes: get("/readyz", host, "1.2"), known: strict },
  { name: "no HTTP", bytes: "hello\r\n\r\n" },
  { name: "another method", bytes: `FOO ${pods} HTTP/1.1\r\n${host}\r\n`, known: methods },
  { name: "an invalid method", bytes: `G(T /readyz HTTP/1.1\r\n${host}\r\n` },
  { name: "an invalid header name", bytes: get("/readyz", `${host}X A: 1\r\n`), known: words },
  { name: "a header without a colon", bytes: get("/readyz", `${host}XA\r\n`) },
  { name: "a folded header", bytes: get("/readyz", `${host}XA: a\r\n b\r\n`), known: strict },
  { name: "lines without CR", bytes: "GET /readyz HTTP/1.1\nHost: x\n\n", known: strict },
  { name: "a GET with a body", bytes: get("/readyz", `${host}Content-Length: 2\r\n`).concat("{}") },
  { name: "a body with its length", bytes: post("Content-Length: 2\r\n", "{}") },
  { name: "a body in chunks", bytes: post("Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n") },
  { name: "a length twice", bytes: post("Content-Length: 2\r\nContent-Length: 2\r\n", "{}"), known: strict },
  { name: "two lengths", bytes: post("Content-Length: 2\r\nContent-Length: 3\r\n", "{}") },
  {
    name: "a length and chunks",
    bytes: post("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"),
    known: strict,
  },
  { name: "an invalid length", bytes: post("Content-Length: x\r\n", "{}") },
  { name: "a negative length", bytes: post("Content-Length: -1\r\n", "{}") },
  { name: "another encoding", bytes: post("Transfer-Encoding: gzip\r\n", "{}") },
  {
    name: "another encoding in chunks",
    bytes: post("Transfer-Encoding: gzip, chunked\r\n", "2\r\n{}\r\n0\r\n\r\n"),
  },
  { name: "Expect: 100-continue", bytes: post("Expect: 100-continue\r\nContent-Length: 2\r\n", "{}") },
  { name: "a body of 4 MB", bytes: post("Content-Length: 4000000\r\n", wide(4_000_000)) },
  {
    name: "a body of 4 MB in a chunk",
    bytes: post("Transfer-Encoding: chunked\r\n", `3d0900\r\n${wide(4_000_000)}\r\n0\r\n\r\n`),
  },
];
