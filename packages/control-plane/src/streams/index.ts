export { podProxies, podStreams } from "./pod-streams.ts";
export { asWebSocket } from "./watch.ts";
