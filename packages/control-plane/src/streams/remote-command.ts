import type { ChildProcess } from "node:child_process";
import type { ApiRequest, ApiResponse } from "../http/request.ts";
import type { JsonObject } from "../json.ts";
import type { ContainerRun } from "../processes/index.ts";
import { exitCodeOf, withTerminal } from "../processes/launch.ts";
import { badRequest, StatusError } from "../status.ts";
import {
  acceptChannels,
  type ChannelListener,
  type Channels,
  channels,
  exitStatus,
  failureStatus,
} from "./channels.ts";

/** What a client wants of a remote command. */
interface CommandOptions {
  readonly command: readonly string[];
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** @throws StatusError 400 */
function readOptions(query: URLSearchParams): CommandOptions {
  const flag = (name: string) => query.get(name) === "true" || query.get(name) === "1";
  const wishes = {
    command: query.getAll("command"),
    stdin: flag("stdin"),
    stdout: flag("stdout"),
    stderr: flag("stderr"),
    tty: flag("tty"),
  };
  if (!wishes.stdin && !wishes.stdout && !wishes.stderr) {
    throw badRequest("you must specify at least 1 of stdin, stdout, stderr");
  }
  return wishes;
}

/** The channels that a client opens for its wishes. A terminal has no errors apart, but a size. */
function channelsOf({ stdin, stdout, stderr, tty }: CommandOptions): (keyof typeof channels)[] {
  return [
    "error",
    ...(stdin ? (["stdin"] as const) : []),
    ...(stdout ? (["stdout"] as const) : []),
    ...(stderr && !tty ? (["stderr"] as const) : []),
    ...(tty ? (["resize"] as const) : []),
  ];
}

/** So much may wait to be taken by a client before the program that writes it has to wait too. */
const mostWaiting = 1024 * 1024;
/**
 * A terminal's size comes right after the connection; a client that sends none is not waited for.
 */
const sizePatienceMs = 200;

/** `kubectl exec`: runs a command in a container, with its streams at the client. */
export function exec(request: ApiRequest, query: URLSearchParams, run: ContainerRun): ApiResponse {
  const wishes = readOptions(query);
  if (wishes.command.length === 0)
    throw badRequest("you must specify at least one command for the container");
  return acceptChannels(request, channelsOf(wishes), (client) => {
    const early: Buffer[] = [];
    let child: ChildProcess | undefined;
    let ended = false;
    let isGone = false;
    const size = Promise.withResolvers<string>();
    if (!wishes.tty) size.resolve("");
    const patience = setTimeout(() => size.resolve(""), sizePatienceMs);
    const start = async () => {
      const first = await size.promise;
      clearTimeout(patience);
      try {
        const command = wishes.tty ? withTerminal(wishes.command, first) : wishes.command;
        child = await run.exec(command, wishes.stdin ? "pipe" : "ignore");
      } catch (error) {
        finish(client, failureStatus(error instanceof Error ? error.message : String(error)));
        return;
      }
      if (isGone) hangUp(child);
      child.stdin?.on("error", () => undefined);
      for (const data of early.splice(0)) child.stdin?.write(data);
      if (ended) child.stdin?.end();
      passOn(child, client, wishes);
    };
    void start();
    return {
      onData: (channel, data) => {
        if (channel === channels.resize) size.resolve(data.toString());
        if (channel !== channels.stdin) return;
        if (!child) early.push(data);
        else if (child.stdin && !child.stdin.write(data) && child.stdin.listenerCount("drain") === 0) {
          client.pause();
          child.stdin.once("drain", () => client.resume());
        }
      },
      onEnd: (channel) => {
        if (channel !== channels.stdin) return;
        ended = true;
        child?.stdin?.end();
      },
      onClose: () => {
        isGone = true;
        clearTimeout(patience);
        size.resolve("");
        if (child) hangUp(child);
      },
    };
  });
}

/** As a terminal does that is closed. */
function hangUp({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, "SIGHUP");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function passOn(child: ChildProcess, client: Channels, { stdout, stderr }: CommandOptions): void {
  const send = (channel: number, stream: NodeJS.ReadableStream) => (chunk: Buffer) => {
    if (client.send(channel, chunk) > mostWaiting) {
      stream.pause();
      setTimeout(() => stream.resume(), 10);
    }
  };
  if (child.stdout && stdout) child.stdout.on("data", send(channels.stdout, child.stdout));
  else child.stdout?.resume();
  if (child.stderr && stderr) child.stderr.on("data", send(channels.stderr, child.stderr));
  else child.stderr?.resume();
  child.once("error", (error) => finish(client, failureStatus(error.message)));
  child.once("close", (code, signal) => finish(client, exitStatus(exitCodeOf(code, signal))));
}

function finish(client: Channels, status: JsonObject): void {
  client.send(channels.error, Buffer.from(JSON.stringify(status)));
  client.close();
}

/** `kubectl attach`: what a container writes from now on, and its input if it has one. */
export function attach(request: ApiRequest, query: URLSearchParams, run: ContainerRun): ApiResponse {
  const wishes = readOptions(query);
  if (run.observed.at !== "running") throw notRunning();
  return acceptChannels(request, channelsOf(wishes), (client): ChannelListener => {
    const stop = run.log.tap((stream, chunk) => {
      if (chunk !== undefined) {
        if (wishes[stream]) client.send(channels[stream], chunk);
        return;
      }
      // Attaching has succeeded, however the container ended.
      finish(client, exitStatus(0));
    });
    return {
      onData: (channel, data) => {
        if (channel === channels.stdin && wishes.stdin) run.stdin?.write(data);
      },
      onEnd: (channel) => {
        if (channel === channels.stdin && wishes.stdin) run.stdin?.end();
      },
      onClose: stop,
    };
  });
}

function notRunning(): StatusError {
  return new StatusError({
    code: 500,
    reason: "InternalError",
    message: "unable to upgrade connection: the container is not running",
  });
}
