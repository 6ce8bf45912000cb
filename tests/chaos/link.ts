import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** One connection through a link. */
interface Line {
  readonly near: Socket;
  readonly far: Socket;
  /** What was sent while the link was cut, and by whom. */
  readonly held: { readonly to: Socket; readonly bytes: Buffer }[];
  /** How the near end closed the connection while the link was cut, if it did. */
  closed: "gracefully" | "by reset" | undefined;
}

/**
 * A link to a port of this machine that can be cut without either end noticing, as when packets are
 * lost. As kernels have it, what was sent meanwhile arrives when the link is mended; what a reset
 * has taken back does not.
 */
export class Link implements AsyncDisposable {
  /** How many bytes of the near end a reset has taken back. */
  takenBack = 0;
  readonly #server: Server;
  readonly #lines = new Set<Line>();
  #isCut = false;

  private constructor(port: number) {
    this.#server = createServer((near) => this.#accept(near, connect(port, "127.0.0.1")));
  }

  static async open(port: number): Promise<Link> {
    const link = new Link(port);
    link.#server.listen(0, "127.0.0.1");
    await once(link.#server, "listening");
    return link;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    this.#isCut = true;
  }

  mend(): void {
    this.#isCut = false;
    for (const line of this.#lines) {
      const { near, far, held, closed } = line;
      for (const { to, bytes } of held.splice(0)) {
        if (closed !== "by reset") to.write(bytes);
        else if (to === far) this.takenBack += bytes.length;
      }
      if (closed === "gracefully") far.end();
      else if (closed === "by reset") far.destroy();
      else if (far.destroyed) near.destroy();
    }
  }

  async close(): Promise<void> {
    for (const { near, far } of this.#lines) {
      near.destroy();
      far.destroy();
    }
    this.#server.close();
    await once(this.#server, "close");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #accept(near: Socket, far: Socket): void {
    const line: Line = { near, far, held: [], closed: undefined };
    this.#lines.add(line);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.setNoDelay(true);
      from.on("data", (bytes: Buffer) => {
        if (this.#isCut) line.held.push({ to, bytes });
        else to.write(bytes);
      });
    }
    let isReset = false;
    near.on("error", () => {
      isReset = true;
    });
    near.once("close", () => {
      if (!this.#isCut) far.destroy();
      line.closed = isReset ? "by reset" : "gracefully";
    });
    far.on("error", () => far.destroy());
    far.once("close", () => {
      if (!this.#isCut) near.destroy();
    });
  }
}
