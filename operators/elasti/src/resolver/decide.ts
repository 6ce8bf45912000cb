import type { PathProof } from "../path-proof.ts";
import type { Decision } from "./decision.ts";
import { pathProbeHeader, type RequestView } from "./request.ts";
import type { ServicePort } from "./service.ts";
import { waitingPage, wantsPage } from "./waiting-page.ts";

/**
 * What happens to a request for a port.
 *
 * One that asks where its connection leads is answered whatever the service does, and wakes
 * nothing: by this the operator learns that the connections of a Service come here.
 */
export function decide(port: ServicePort, request: RequestView, proof: PathProof): Decision {
  const { pathProbe } = request;
  if (pathProbe !== undefined) {
    const fields = { [pathProbeHeader]: proof.answerTo(pathProbe) };
    return { do: "answer", response: { status: 204, body: "", fields } };
  }
  const { service, dispatcher } = port;
  const { holdMs } = service;
  if (!dispatcher.isAsleep) return { do: "forward", port, holdMs };
  const probe = service.probeResponse(request);
  if (probe) {
    service.metrics.probed();
    return { do: "answer", response: probe };
  }
  const page = service.target.waitingPage;
  if (!page || !wantsPage(request)) return { do: "forward", port, holdMs };
  const response = waitingPage(page, service.target.service);
  if (page.afterMs)
    return { do: "forward", port, holdMs: Math.min(holdMs, page.afterMs), afterHold: response };
  service.requested();
  service.demanded();
  return { do: "answer", response };
}
