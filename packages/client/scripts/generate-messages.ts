/**
 * Writes `src/protobuf/generated/messages.json`, which says how the messages of the built-in kinds are read, from what the control plane has recorded of a Kubernetes
 * version.
 *
 *   node scripts/generate-messages.ts [--input DIR]     the folder of packages/control-plane's data
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import type { RecordedMessages } from "../src/protobuf/recorded.ts";

const { values: options } = parseArgs({
  options: { input: { type: "string", default: join(import.meta.dirname, "../../control-plane/data") } },
});

const read = (path: string): unknown =>
  JSON.parse(gunzipSync(readFileSync(join(options.input, path))).toString("utf8"));

const { version, groups } = read("kinds.json.gz") as {
  version: { major: string; minor: string };
  groups: { name: string }[];
};
const packages: Record<string, unknown> = {};
for (const file of readdirSync(join(options.input, "go")).sort())
  packages[file.replace(/\.json\.gz$/, "")] = read(`go/${file}`);
const messages = {
  major: Number(version.major),
  minor: Number(version.minor),
  groups: Object.fromEntries(groups.map(({ name }) => [name, name === "" ? "core" : name.split(".", 1)[0]])),
  packages,
} as RecordedMessages;

const output = join(import.meta.dirname, "../src/protobuf/generated/messages.json");
// One type to a line: a new version shows what it changed.
writeFileSync(output, `${JSON.stringify(messages, null, 1).replaceAll(/\n {5,}/g, " ")}\n`);
console.log(
  `${Object.keys(packages).length} packages of ${version.major}.${version.minor} written to ${output}`,
);
