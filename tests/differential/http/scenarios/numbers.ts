import type { Sending } from "../../servers.ts";
import type { Sequence } from "../sequence.ts";
import { at, get, patch, post, remove } from "./requests.ts";

/** Numbers that not every reader of JSON holds exactly, or takes for what they are. */
const numbers = [
  "9007199254740993",
  "-9007199254740993",
  "9223372036854775807",
  "-9223372036854775808",
  "9223372036854775808",
  "-9223372036854775809",
  "18446744073709551616",
  "123456789012345678901234567890",
  "0.1234567890123456789",
  "1e308",
  "1e400",
  "-1e400",
];

/**
 * Floats that are whole. Where nothing says what a number is for, Go remembers that they are floats
 * until they have been stored; the embedded server takes them for the integers that they are stored
 * as.
 */
const wholeFloats = ["1.0", "1E5", "1e17", "1e-400"];

const pods = "/api/v1/namespaces/{ns}/pods";

function pod(name: string, grace: string): string {
  return `{"metadata":{"name":"${name}"},"spec":{"nodeName":"n","automountServiceAccountToken":false,"terminationGracePeriodSeconds":${grace},"containers":[{"name":"c","image":"i"}]}}`;
}

function widget(name: string, spec: string): string {
  return `{"apiVersion":"{group}/v1","kind":"Widget","metadata":{"name":"${name}"},"spec":${spec}}`;
}

function each(
  make: (number: string, index: number) => readonly Sending[],
  of: readonly string[] = numbers,
): Sending[] {
  return of.flatMap((number, index) => make(number, index));
}

export const numberScenarios: readonly Sequence[] = [
  {
    name: "numbers of a custom kind",
    steps: each((number, index) => [
      post(at.widgets, widget(`replicas-${index}`, `{"replicas":${number}}`)),
      post(at.widgets, widget(`extra-${index}`, `{"extra":{"deep":[${number}]}}`)),
      get(`${at.widgets}/extra-${index}`),
    ]),
  },
  {
    name: "numbers of a custom kind in YAML",
    steps: each(
      (number, index) => [
        post(
          at.widgets,
          `apiVersion: "{group}/v1"\nkind: Widget\nmetadata: {name: y-${index}}\nspec: {extra: {deep: ${number}}}\n`,
          "application/yaml",
        ),
      ],
      [...numbers, ...wholeFloats, "0x20000000000001", "0o17", "017", "1_000", "+5", ".5"],
    ),
  },
  {
    name: "numbers of a built-in kind",
    steps: each(
      (number, index) => [
        post(pods, pod(`grace-${index}`, number)),
        get(`${pods}/grace-${index}`),
        remove(`${pods}/grace-${index}`),
        post(
          `${pods}?dryRun=All`,
          pod(`cpu-${index}`, "30").replace(
            '"image":"i"',
            `"image":"i","resources":{"limits":{"cpu":${number}}}`,
          ),
        ),
        post(
          "/api/v1/namespaces/{ns}/serviceaccounts/default/token?dryRun=All",
          `{"spec":{"expirationSeconds":${number}}}`,
        ),
      ],
      [...numbers, ...wholeFloats],
    ),
  },
  {
    name: "numbers in patches",
    steps: [
      post(at.widgets, widget("patched", '{"extra":{"keep":9007199254740993}}')),
      ...each((number) => [
        patch("merge", `${at.widgets}/patched`, `{"spec":{"extra":{"v":${number}}}}`),
        patch("json", `${at.widgets}/patched`, `[{"op":"add","path":"/spec/extra/v","value":${number}}]`),
        patch(
          "apply",
          `${at.widgets}/patched?fieldManager=a&force=true`,
          widget("patched", `{"extra":{"v":${number}}}`),
        ),
      ]),
      patch(
        "json",
        `${at.widgets}/patched`,
        '[{"op":"test","path":"/spec/extra/keep","value":9007199254740992}]',
      ),
      patch(
        "json",
        `${at.widgets}/patched`,
        '[{"op":"test","path":"/spec/extra/keep","value":9007199254740993}]',
      ),
    ],
  },
  {
    name: "numbers that a patch leaves alone",
    steps: [
      post(pods, pod("kept", "9007199254740993")),
      patch("merge", `${pods}/kept`, { metadata: { labels: { a: "1" } } }),
      patch("strategic", `${pods}/kept`, { metadata: { labels: { a: "2" } } }),
      patch("json", `${pods}/kept`, [{ op: "replace", path: "/metadata/labels/a", value: "3" }]),
      patch("apply", `${pods}/kept?fieldManager=x`, {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name: "kept", labels: { b: "1" } },
      }),
      get(`${pods}/kept`, "application/vnd.kubernetes.protobuf"),
    ],
  },
];
