import type { ControlPlane } from "@windlass/control-plane";
import type { AttachWebhooks, WebhookServerOptions } from "@windlass/runtime";

/** Options that tie a `webhookServer` to a test's API server: spread them into its own. */
export type WebhookTie = Pick<
  WebhookServerOptions,
  "attach" | "certificates" | "host" | "install" | "port" | "service" | "url"
>;

type Handle = Parameters<AttachWebhooks>[1];

interface Service {
  readonly handles: Handle[];
  calls: number;
  readonly unbind: () => void;
}

/**
 * The Services of an embedded control plane that webhook servers stand behind: of several behind
 * one, each is called in turn.
 */
export class WebhookServices {
  readonly #plane: ControlPlane;
  readonly #services = new Map<string, Service>();

  constructor(plane: ControlPlane) {
    this.#plane = plane;
  }

  readonly attach: AttachWebhooks = ({ namespace, name, port }, handle) => {
    const id = `${namespace}/${name}:${port}`;
    const service: Service = this.#services.get(id) ?? {
      handles: [],
      calls: 0,
      unbind: this.#plane.bindService(namespace, name, port, (call) => this.#call(id, call)),
    };
    this.#services.set(id, service);
    service.handles.push(handle);
    return () => {
      const index = service.handles.indexOf(handle);
      if (index < 0) return;
      service.handles.splice(index, 1);
      if (service.handles.length > 0) return;
      service.unbind();
      this.#services.delete(id);
    };
  };

  #call(id: string, call: Parameters<Handle>[0]): ReturnType<Handle> {
    const service = this.#services.get(id);
    const handle = service?.handles[service.calls++ % service.handles.length];
    if (!handle) return Promise.reject(new Error(`no backend is left for Service ${id}`));
    return handle(call);
  }
}
