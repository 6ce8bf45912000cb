import { ControlPlane } from "../../../packages/control-plane/src/control-plane.ts";
import { agentName, answer, type Server } from "./server.ts";

/** A control plane in this process, without controllers: what a bare API server is. */
export async function embeddedServer(): Promise<Server> {
  const plane = await ControlPlane.start({ controllers: "none" });
  const door = plane.connect();
  return {
    caches: false,
    send: async (method, path, body, contentType = "application/json") => {
      const response = await door.request({
        method,
        path,
        headers: { "content-type": contentType, "user-agent": agentName },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body) chunks.push(chunk);
      return answer(response.status, Buffer.concat(chunks).toString(), response.headers.warning);
    },
    [Symbol.asyncDispose]: () => plane.close(),
  };
}
