import { createHash } from "node:crypto";
import { GrpcError } from "../src/grpc/index.ts";
import {
  Action,
  batchReadBlobs,
  batchUpdateBlobs,
  Command,
  type Digest,
  ExecuteResponse,
  execute,
  getActionResult,
} from "../src/probe/messages.ts";
import { GrpcServer } from "./grpc-server.ts";

/** What may be wrong with a set. */
export type FrontendFault =
  | "none"
  | "noWorkers"
  | "actionFails"
  | "wrongOutput"
  | "notCached"
  | "uploadFails"
  | "endsEarly";

/**
 * Answers remote execution as a frontend does: keeps blobs, and pretends to run actions that write
 * their last argument but two.
 */
export class StandInFrontend implements AsyncDisposable {
  readonly #server: GrpcServer;
  readonly #blobs = new Map<string, Buffer>();
  readonly #results = new Set<string>();
  readonly address: string;
  fault: FrontendFault = "none";

  private constructor(server: GrpcServer) {
    this.#server = server;
    this.address = server.address;
    this.#serve();
  }

  static async start(): Promise<StandInFrontend> {
    return new StandInFrontend(await GrpcServer.start());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }

  /** How many actions have run. */
  get ran(): number {
    return this.#results.size;
  }

  #serve(): void {
    this.#server.on(batchUpdateBlobs, ({ requests }) => {
      const status =
        this.fault === "uploadFails" ? { code: 14, message: "Shard 1: connection refused" } : undefined;
      for (const { data } of requests) this.#keep(data);
      return [{ responses: requests.map(({ digest }) => ({ digest, status })) }];
    });
    this.#server.on(execute, ({ actionDigest }) => this.#execute(actionDigest));
    this.#server.on(batchReadBlobs, ({ digests }) => [
      {
        responses: digests.map((digest) => ({
          digest,
          data: this.fault === "wrongOutput" ? Buffer.from("other") : this.#read(digest),
          status: undefined,
        })),
      },
    ]);
    this.#server.on(getActionResult, ({ actionDigest }) => {
      if (this.fault === "notCached" || !this.#results.has(actionDigest?.hash ?? ""))
        throw new GrpcError("NOT_FOUND", "Object not found");
      return [{ exitCode: 0 }];
    });
  }

  *#execute(actionDigest: Digest | undefined) {
    if (this.fault === "noWorkers") throw new GrpcError("UNAVAILABLE", "No workers exist");
    yield { name: "operation", done: false };
    if (this.fault === "endsEarly") return;
    const { commandDigest } = Action.decode(this.#read(actionDigest));
    const command = Command.decode(this.#read(commandDigest));
    const word = / (\S+) > /.exec(command.arguments.at(-1) ?? "")?.[1] ?? "";
    const digest = this.#keep(Buffer.from(`${word}\n`));
    this.#results.add(actionDigest?.hash ?? "");
    const result = {
      outputFiles: [{ path: command.outputPaths[0] ?? "", digest }],
      exitCode: this.fault === "actionFails" ? 127 : 0,
      stderrRaw: Buffer.from(this.fault === "actionFails" ? "sh: not found" : ""),
    };
    const value = ExecuteResponse.encode({ result });
    yield { name: "operation", done: true, response: { typeUrl: "ExecuteResponse", value } };
  }

  #keep(data: Buffer): Digest {
    const hash = createHash("sha256").update(data).digest("hex");
    this.#blobs.set(hash, data);
    return { hash, sizeBytes: data.length };
  }

  #read(digest: Digest | undefined): Buffer {
    const found = this.#blobs.get(digest?.hash ?? "");
    if (!found) throw new GrpcError("NOT_FOUND", "Object not found");
    return found;
  }
}
