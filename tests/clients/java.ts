/**
 * Has kube-api-test, the envtest of Java, start the programs of `windlass-control-plane assets`,
 * and uses them with fabric8's client: about 15 s, and longer where Maven is to fetch these first.
 *
 *     node tests/clients/java.ts
 *
 * Where PATH has a real kube-apiserver and etcd too, they must show the client the same.
 */
import { mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { makeAssets } from "../../packages/control-plane/src/envtest/assets.ts";
import { findProgram, mustRun, run, skip } from "./program.ts";
import { keepResult } from "./result.ts";
import { compareLines } from "./servers.ts";

const maven = (await findProgram("mvn", "MVN")) ?? skip("there is no mvn");
const java = (await findProgram("java", "JAVA")) ?? skip("there is no java");
if ((await findProgram("kubectl", "KUBECTL")) === undefined) skip("there is no kubectl");
const folder = await mkdtemp(join(tmpdir(), "clients-java-"));
try {
  const classes = join(folder, "classpath");
  const built = await run(maven, [
    "--batch-mode",
    "--quiet",
    `--file=${join(import.meta.dirname, "java", "pom.xml")}`,
    `-Dbuilt=${join(folder, "target")}`,
    `-Dmdep.outputFile=${classes}`,
    "compile",
    "dependency:build-classpath",
  ]);
  if (built.code !== 0) skip(`the Java client cannot be built: ${built.output.trim().split("\n")[0]}`);
  const path = [join(folder, "target", "classes"), await readFile(classes, "utf8")].join(delimiter);
  const command = join(import.meta.dirname, "../../packages/control-plane/bin/windlass-control-plane.js");
  const check = async (name: string, programs: string) => {
    const versions = join(folder, name, "k8s");
    await mkdir(versions, { recursive: true });
    const arch = process.arch === "x64" ? "amd64" : process.arch;
    await symlink(programs, join(versions, `1.35.4-${process.platform}-${arch}`));
    return await mustRun(java, ["-cp", path, "Check"], { KUBE_API_TEST_DIR: join(folder, name) });
  };
  const started = Date.now();
  const embedded = await check("embedded", makeAssets(command, join(folder, "assets")));
  const took = `${embedded.trimEnd().split("\n").length} lines in ${Date.now() - started} ms`;
  const real = await findProgram("kube-apiserver", "KUBE_APISERVER");
  if (real === undefined) process.stdout.write(`${embedded}java: ${took}\n`);
  else {
    const differences = compareLines(embedded, await check("real", dirname(real)));
    const same = differences === "" ? "the same" : "not the same";
    process.stdout.write(`${differences}java: ${took}, ${same} on the real server\n`);
    const lines = embedded.trimEnd().split("\n").length;
    await keepResult("java", { lines, sameOnReal: differences === "" });
    if (differences !== "") process.exitCode = 1;
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
