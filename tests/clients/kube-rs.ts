/**
 * Uses an API server with kube-rs: about 5 s, and minutes more where the program is to be built
 * first.
 *
 *     node tests/clients/kube-rs.ts
 *
 * Builds with cargo into a folder that stays for the next time. With KUBECONFIG, that cluster must
 * show the client the same.
 */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findProgram, mustRun, run, skip } from "./program.ts";
import { onServers } from "./servers.ts";

const cargo = (await findProgram("cargo", "CARGO")) ?? skip("there is no cargo");
const target = process.env.CARGO_TARGET_DIR ?? join(tmpdir(), "windlass-kube-rs");
const manifest = join(import.meta.dirname, "kube-rs", "Cargo.toml");
const arguments_ = ["build", "--quiet", "--locked", "--manifest-path", manifest, "--target-dir", target];
const built = await run(cargo, arguments_);
if (built.code !== 0) skip(`kube-rs cannot be built: ${built.output.trim().split("\n").at(-1)}`);

await onServers("kube-rs", ({ kubeconfig }) =>
  mustRun(join(target, "debug", "kube-rs-check"), [], { KUBECONFIG: kubeconfig, RUST_BACKTRACE: "0" }),
);
