/**
 * The resolver: takes the requests of services that sleep, holds them while their target wakes, and
 * passes them on.
 */
import { manager } from "@windlass/runtime";
import { resolverProgram } from "./resolver-program.ts";
import { reportingLogger } from "./sentry.ts";
import { ResolverSettings, settingsOfProcess } from "./settings.ts";

const settings = settingsOfProcess(ResolverSettings);
const log = await reportingLogger(settings, "elasti-resolver");
const { runnable, shutdownMs } = resolverProgram(settings);
await manager({
  ...(log && { log }),
  ...(settings.WATCH_NAMESPACES.length > 0 && { namespaces: settings.WATCH_NAMESPACES }),
  gracefulShutdownTimeout: shutdownMs,
})
  .add(runnable)
  .run();
