import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename } from "node:path";
import type { PublishedManifest } from "../../scripts/packaging/published-manifest.ts";
import type { Tarball } from "../../scripts/packaging/tarballs.ts";

/** An npm registry on loopback. */
export interface Registry extends AsyncDisposable {
  readonly url: string;
}

/**
 * Serves packages as npm's registry would if they had been published. Whatever else is asked for,
 * it says where to find: at `upstream`.
 */
export async function startRegistry(tarballs: readonly Tarball[], upstream: string): Promise<Registry> {
  const files = new Map(tarballs.map(({ file }) => [`/-/${basename(file)}`, file]));
  const documents = new Map<string, (url: string) => object>();
  for (const { manifest, file } of tarballs) {
    const integrity = `sha512-${createHash("sha512")
      .update(await readFile(file))
      .digest("base64")}`;
    documents.set(manifest.name, (url) => packageDocument(manifest, `${url}/-/${basename(file)}`, integrity));
  }
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "/");
    const document = documents.get(path.slice(1));
    const file = files.get(path);
    if (document !== undefined) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(document(url)));
    } else if (file !== undefined) {
      response.writeHead(200, { "content-type": "application/octet-stream" });
      createReadStream(file).pipe(response);
    } else {
      response.writeHead(302, { location: new URL(request.url?.slice(1) ?? "", upstream).href });
      response.end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** What a registry says of a package that has one version. */
function packageDocument(manifest: PublishedManifest, tarball: string, integrity: string): object {
  const { name, version } = manifest;
  return {
    name,
    "dist-tags": { latest: version },
    versions: { [version]: { ...manifest, _id: `${name}@${version}`, dist: { tarball, integrity } } },
  };
}
