import { describe, expect, test } from "vitest";
import {
  type Document,
  frontendDocument,
  versions,
} from "../../operators/buildbarn/src/configuration/index.ts";
import { refused, taken, unanswerable } from "../../operators/buildbarn/src/jmespath/expressions.fixture.ts";
import { Programs } from "../../operators/buildbarn/testing/programs.ts";

/** What the real programs of each release make of expressions, as processes of this machine. */
describe.each(versions)("bb_storage of %s", (version) => {
  const field = version === "2025-02" ? (text: string) => text : (expression: string) => ({ expression });

  /** A frontend whose clients must meet expressions. */
  function guardedBy(programs: Programs, expressions: readonly string[]): unknown {
    const document = frontendDocument(
      version,
      [{ instanceNamePrefix: "", address: "127.0.0.1:9" }],
      undefined,
    );
    const json = programs.evaluated("frontend.jsonnet", document, "1") as { grpcServers: Document[] };
    const policies = expressions.map((text) => ({ peerCredentialsJmespathExpression: field(text) }));
    return {
      ...json,
      grpcServers: [{ listenAddresses: [":8980"], authenticationPolicy: { any: { policies } } }],
    };
  }

  test("starts with what the operator takes, and with what it refuses as it has no answer", async () => {
    await using programs = new Programs(version);
    const started = [...taken, ...unanswerable.map(([text]) => text)];
    expect(await programs.refusal("frontend.jsonnet", guardedBy(programs, started))).toBeUndefined();
    expect(programs.check("frontend.jsonnet", guardedBy(programs, taken)).is).toBe("valid");
  });

  test("ends with what the operator refuses", { timeout: 200_000 }, async () => {
    await using programs = new Programs(version);
    let ended = 0;
    for (const [text] of refused) {
      const json = guardedBy(programs, [text]);
      const refusal = await programs.refusal("frontend.jsonnet", json);
      expect(refusal, JSON.stringify(text)).toContain("the program ended");
      expect(programs.check("frontend.jsonnet", json), JSON.stringify(text)).toMatchObject({ is: "invalid" });
      ended += 1;
    }
    process.stdout.write(`${version}: ${taken.length} expressions taken, ${ended} refused by both\n`);
  });
});
