import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import type { Clock } from "@windlass/clock";
import type { Container, Lifecycle, Probe } from "@windlass/kinds/builtin";
import type { EventText } from "../controllers/events.ts";
import { ContainerLog } from "./container-log.ts";
import { type ContainerPlace, commandFault, exitCodeOf, launch, withTerminal } from "./launch.ts";
import { type Observed, retryMs } from "./observed.ts";
import { variables } from "./options.ts";
import { type ProbeTarget, probeOnce, startProbe } from "./probe.ts";
import { endProcess, type Reaper, sweep } from "./reaper.ts";

/** What a run of a container needs of its pod and its node. */
export interface RunOptions {
  readonly clock: Clock;
  readonly reaper: Reaper;
  /** As in the pod's spec. */
  readonly container: Container;
  readonly part: "initContainers" | "containers";
  readonly podAddress: string;
  readonly graceMs: number;
  /** What to run, and where. @throws what keeps it from being started */
  readonly place: () => Promise<{ readonly place: ContainerPlace; readonly command: readonly string[] }>;
  readonly terminationMessage: () => Promise<string>;
  /** Called when its state changed. */
  readonly changed: () => void;
  readonly tell: (text: EventText) => void;
}

/** One run of a container: from before its process is started until it has ended. */
export class ContainerRun {
  readonly log: ContainerLog;
  readonly #options: RunOptions;
  readonly #probes = new AbortController();
  #observed: Observed = { at: "starting" };
  #child: ChildProcess | undefined;
  #place: ContainerPlace | undefined;
  #startedAt = 0;
  /** When it will be killed, by the clock; undefined unless it is being stopped. */
  #killAt: number | undefined;
  #cancelKill: () => void = () => undefined;
  readonly #ended = Promise.withResolvers<void>();

  constructor(options: RunOptions) {
    this.#options = options;
    this.log = new ContainerLog(() => options.clock.now());
  }

  get observed(): Observed {
    return this.#observed;
  }

  /** Whether there is, or will be, a process. */
  get isAlive(): boolean {
    return this.#observed.at === "starting" || this.#observed.at === "running";
  }

  /** Whether it was held back, long enough ago to try it again. */
  get mayTryAgain(): boolean {
    return this.#observed.at === "held" && this.#options.clock.now() - this.#startedAt >= retryMs;
  }

  /** Where its process has its input, if it has one that others may write to. */
  get stdin(): NodeJS.WritableStream | undefined {
    return this.#child?.stdin ?? undefined;
  }

  /** Resolves once there is no process any more. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  async start(): Promise<void> {
    const { clock, reaper } = this.#options;
    this.#startedAt = clock.now();
    let command: readonly string[];
    try {
      const made = await this.#options.place();
      this.#place = made.place;
      command = made.command;
    } catch (error) {
      const reason = error instanceof StartPostponed ? error.reason : "CreateContainerError";
      this.#settle({ at: "held", reason, message: error instanceof Error ? error.message : String(error) });
      return;
    }
    const fault = await commandFault(this.#place, command);
    if (fault !== undefined) {
      await this.#exit({
        exitCode: 128,
        reason: "StartError",
        message: `failed to start the process: ${fault}`,
      });
      return;
    }
    if (this.#killAt !== undefined) {
      await this.#exit({ exitCode: 137, reason: "Error" });
      return;
    }
    const child = await this.#launch(this.#place, command);
    if (!child) return;
    this.#child = child;
    if (child.pid !== undefined) reaper.add(child.pid);
    child.stdout?.on("data", (chunk: Buffer) => this.log.write("stdout", chunk));
    child.stderr?.on("data", (chunk: Buffer) => this.log.write("stderr", chunk));
    child.stdin?.on("error", () => undefined);
    child.once("error", (error) => {
      if (child.pid === undefined) {
        void this.#exit({
          exitCode: 128,
          reason: "StartError",
          message: `failed to start the process: ${error.message}`,
        });
      }
    });
    child.once("exit", (code, signal) => {
      const exitCode = exitCodeOf(code, signal);
      void this.#exit({ exitCode, reason: exitCode === 0 ? "Completed" : "Error" });
    });
    if (child.pid === undefined) return;
    await this.#afterStart();
  }

  /**
   * What no process can be started with (a variable's name with a zero in it, say) is a failure of
   * the container.
   */
  async #launch(place: ContainerPlace, command: readonly string[]): Promise<ChildProcess | undefined> {
    const { stdin, tty } = this.#options.container;
    try {
      const whole = tty === true ? withTerminal(command, "") : command;
      return launch(place, whole, stdin === true ? "pipe" : "ignore");
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      await this.#exit({
        exitCode: 128,
        reason: "StartError",
        message: `failed to start the process: ${why}`,
      });
      return undefined;
    }
  }

  async #afterStart(): Promise<void> {
    const { container, tell } = this.#options;
    const hook = container.lifecycle?.postStart;
    if (hook) {
      const { outcome, output } = await this.#hook(hook);
      if (outcome === "failure") {
        tell(this.#event("Warning", "FailedPostStartHook", `PostStartHook failed: ${output}`));
        this.stop(this.#options.graceMs);
      }
    }
    if (this.#observed.at !== "starting" || this.#killAt !== undefined) return;
    const { startupProbe } = container;
    this.#observed = { at: "running", startedAt: this.#startedAt, started: !startupProbe, ready: false };
    if (startupProbe) this.#probe("startup", startupProbe);
    else this.#startWatching();
    this.#options.changed();
  }

  /** From here on it is asked whether it lives, and whether it is ready. */
  #startWatching(): void {
    const { container } = this.#options;
    const { livenessProbe, readinessProbe } = container;
    if (this.#observed.at !== "running") return;
    this.#observed = { ...this.#observed, started: true, ready: !readinessProbe };
    if (livenessProbe) this.#probe("liveness", livenessProbe);
    if (readinessProbe) this.#probe("readiness", readinessProbe);
  }

  #probe(kind: "liveness" | "readiness" | "startup", spec: Probe): void {
    const { clock, tell, container, changed } = this.#options;
    // One that has done its work stops without the others.
    const own = new AbortController();
    const word = `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
    startProbe({
      kind,
      spec,
      clock,
      target: this.#target(),
      signal: AbortSignal.any([own.signal, this.#probes.signal]),
      onOutcome: (verdict, { outcome, output }) => {
        if (this.#observed.at !== "running") return;
        if (outcome === "failure")
          tell(this.#event("Warning", "Unhealthy", `${word} probe failed: ${output}`));
        if (kind === "readiness") {
          const ready = verdict === "success";
          if (ready !== this.#observed.ready) this.#observed = { ...this.#observed, ready };
        } else if (kind === "startup" && verdict === "success") {
          own.abort();
          this.#startWatching();
        } else if (outcome === "failure" && verdict === "failure" && this.#killAt === undefined) {
          tell(
            this.#event(
              "Normal",
              "Killing",
              `Container ${container.name} failed ${kind} probe, will be restarted`,
            ),
          );
          const seconds = spec.terminationGracePeriodSeconds;
          this.stop(seconds === undefined ? this.#options.graceMs : Number(seconds) * 1_000);
        }
        changed();
      },
    });
  }

  /**
   * Asks the process to end, and makes it after a while. A second call can only make the while
   * shorter.
   *
   * @param graceMs by the control plane's clock
   * @returns whether it had not been asked before
   */
  stop(graceMs: number): boolean {
    if (!this.isAlive) return false;
    const { clock } = this.#options;
    const at = clock.now() + graceMs;
    const isFirst = this.#killAt === undefined;
    if (this.#killAt !== undefined && this.#killAt <= at) return false;
    this.#killAt = at;
    this.#probes.abort();
    this.#cancelKill();
    this.#cancelKill = clock.schedule(graceMs, () => this.kill());
    if (isFirst && this.#child) void this.#askToEnd();
    return isFirst;
  }

  async #askToEnd(): Promise<void> {
    const { container, tell } = this.#options;
    const { preStop: hook, stopSignal: wanted = "SIGTERM" } = container.lifecycle ?? {};
    if (hook) {
      const { outcome, output } = await this.#hook(hook);
      if (outcome === "failure")
        tell(this.#event("Warning", "FailedPreStopHook", `PreStopHook failed: ${output}`));
    }
    // Go knows some that Node does not.
    this.#signal(wanted in constants.signals ? (wanted as NodeJS.Signals) : "SIGTERM");
  }

  /** Ends the process and all it has started, at once. */
  kill(): void {
    this.#killAt ??= this.#options.clock.now();
    this.#probes.abort();
    const pid = this.#child?.pid;
    if (pid !== undefined && this.isAlive) endProcess(-pid, "SIGKILL");
  }

  #signal(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid;
    if (pid !== undefined && this.isAlive) endProcess(pid, signal);
  }

  async #hook(
    hook: NonNullable<Lifecycle["postStart"]>,
  ): Promise<{ readonly outcome: "success" | "failure"; readonly output: string }> {
    const { sleep } = hook;
    if (sleep) {
      await new Promise<void>((resolve) => {
        this.#options.clock.schedule(Number(sleep.seconds) * 1_000, resolve);
      });
      return { outcome: "success", output: "" };
    }
    return await probeOnce(hook, this.#target(), this.#options.graceMs);
  }

  #target(): ProbeTarget {
    const { podAddress, container } = this.#options;
    return {
      address: podAddress,
      container,
      exec: (command, timeoutMs) => this.#runToEnd(command, timeoutMs),
    };
  }

  /**
   * Starts another program where this container's runs.
   *
   * @throws Error if the container has none running
   */
  async exec(command: readonly string[], stdin: "pipe" | "ignore"): Promise<ChildProcess> {
    if (!this.#place || this.#observed.at === "exited") throw new Error("container not running");
    const fault = await commandFault(this.#place, command);
    if (fault !== undefined) throw new CommandNotFound(fault);
    const child = launch(this.#place, command, stdin);
    const { pid } = child;
    if (pid !== undefined) {
      this.#options.reaper.add(pid);
      child.once("exit", () => {
        this.#options.reaper.remove(pid);
        endProcess(-pid, "SIGKILL");
      });
    }
    return child;
  }

  async #runToEnd(
    command: readonly string[],
    timeoutMs: number,
  ): Promise<{ readonly code: number; readonly output: string }> {
    const child = await this.exec(command, "ignore");
    const chunks: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream?.on("data", (chunk: Buffer) => chunks.push(chunk));
    const text = () => Buffer.concat(chunks).subarray(0, 10_240).toString();
    return await new Promise((resolve) => {
      const timer = setTimeout(() => {
        if (child.pid !== undefined) endProcess(-child.pid, "SIGKILL");
        resolve({
          code: 137,
          output: `command timed out: ${command.join(" ")} timed out after ${timeoutMs / 1_000}s`,
        });
      }, timeoutMs);
      child.once("error", (error) => {
        clearTimeout(timer);
        resolve({ code: 128, output: error.message });
      });
      child.once("close", (code, signal) => {
        clearTimeout(timer);
        resolve({ code: exitCodeOf(code, signal), output: text() });
      });
    });
  }

  #event(type: "Normal" | "Warning", reason: string, message: string): EventText {
    const { part, container } = this.#options;
    return { type, reason, message, fieldPath: `spec.${part}{${container.name}}` };
  }

  async #exit(exit: {
    readonly exitCode: number;
    readonly reason: string;
    readonly message?: string;
  }): Promise<void> {
    const { container, clock, reaper, terminationMessage } = this.#options;
    const finishedAt = clock.now();
    this.#probes.abort();
    this.#cancelKill();
    const pid = this.#child?.pid;
    if (pid !== undefined) {
      // As when the first process of a container ends: what it has started ends with it.
      endProcess(-pid, "SIGKILL");
      reaper.remove(pid);
      const mark = this.#place?.env.get(variables.container);
      if (mark !== undefined) await sweep(variables.container, mark);
      await this.#drain();
    }
    this.log.end();
    let message = exit.message ?? ((await terminationMessage()) || undefined);
    if (
      message === undefined &&
      exit.exitCode !== 0 &&
      container.terminationMessagePolicy === "FallbackToLogsOnError"
    ) {
      message = this.log.tail(80, 2_048) || undefined;
    }
    this.#settle({ at: "exited", startedAt: this.#startedAt, finishedAt, ...exit, message });
  }

  /** Waits for the rest of the output, now that no process is left that could write more. */
  async #drain(): Promise<void> {
    const child = this.#child;
    await Promise.all(
      [child?.stdout, child?.stderr].map(
        (stream) =>
          new Promise<void>((resolve) => {
            if (!stream || stream.closed) resolve();
            else stream.once("close", () => resolve());
          }),
      ),
    );
  }

  #settle(observed: Observed): void {
    this.#observed = observed;
    this.log.end();
    this.#ended.resolve();
    this.#options.changed();
  }
}

/** Why a container is not started for now. */
export class StartPostponed extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A command that is to be run in a container is not there. */
export class CommandNotFound extends Error {
  override readonly name = "CommandNotFound";
}
