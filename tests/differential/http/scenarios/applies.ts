import type { Sequence } from "../sequence.ts";
import { at, configMap, get, patch, post, widget } from "./requests.ts";

const applied = (path: string, of: (name: string, content?: object, metadata?: object) => object) => {
  const mine = `${path}/m`;
  const one = path === at.configMaps ? { k: "1" } : { size: 1 };
  const two = path === at.configMaps ? { k: "2" } : { size: 2 };
  const other = path === at.configMaps ? { z: "1" } : { color: "red" };
  return [
    patch("apply", mine, of("m", one)),
    patch("apply", `${mine}?fieldManager=`, of("m", one)),
    patch("apply", `${mine}?fieldManager=m1`, of("m", one)),
    patch("apply", `${mine}?fieldManager=m1`, of("m", one)),
    patch("apply", `${mine}?fieldManager=m2`, of("m", two)),
    patch("apply", `${mine}?fieldManager=m3`, of("m", one)),
    patch("apply", `${mine}?fieldManager=m2&force=true`, of("m", two)),
    patch("apply", `${mine}?fieldManager=m2&force=x`, of("m", two)),
    patch("apply", `${mine}?fieldManager=m3`, of("m", other)),
    patch("apply", `${mine}?fieldManager=m3`, of("m", {}, { managedFields: [{ manager: "x" }] })),
    patch("apply", `${mine}?fieldManager=m3`, { metadata: { name: "m" } }),
    patch("apply", `${mine}?fieldManager=m3`, { ...of("m"), kind: "Other" }),
    patch("apply", `${mine}?fieldManager=m3`, { ...of("m"), apiVersion: "v9" }),
    patch("apply", `${mine}?fieldManager=m3`, of("other")),
    patch("apply", `${mine}?fieldManager=m3`, { ...of("m"), bogus: 1 }),
    patch("apply", `${mine}?fieldManager=m3&fieldValidation=Strict`, { ...of("m"), bogus: 1 }),
    patch("apply", `${mine}?fieldManager=m3`, of("m", {}, { resourceVersion: "1" })),
    patch("apply", `${mine}?fieldManager=m3`, of("m", {}, { resourceVersion: "{rv m}" })),
    patch("apply", `${mine}?fieldManager=m3`, of("m", {}, { uid: "x" })),
    patch("apply", `${mine}?fieldManager=m3`, of("m", {}, { labels: { "bad key": "x" } })),
    patch("apply", `${mine}?fieldManager=m3`, of("m", {}, { namespace: "other" })),
    patch("apply", `${path}/n?fieldManager=m3`, of("n", one, { uid: "x" })),
    patch("apply", `${path}/n?fieldManager=m3`, of("n", one, { resourceVersion: "5" })),
    patch("apply", `${path}/n?fieldManager=m3&dryRun=All`, of("n", one)),
    patch("apply", `${path}/n?fieldManager=m3`, { ...of("n", one), metadata: {} }),
    patch("apply", `${mine}?fieldManager=m3`, "{x"),
    patch("apply", `${mine}?fieldManager=m3`, "[]"),
    patch("apply", `${mine}?fieldManager=m3`, "null"),
    patch("apply", `${mine}?fieldManager=m3`, ""),
    patch("apply", `${mine}?fieldManager=m3`, "a: b: c"),
    patch("apply", `${mine}?fieldManager=${"x".repeat(129)}`, of("m")),
    get(mine),
  ];
};

export const applies: readonly Sequence[] = [
  { name: "applying a built-in kind", steps: applied(at.configMaps, configMap) },
  { name: "applying a custom kind", steps: applied(at.widgets, widget) },
  {
    name: "applying what others wrote",
    steps: [
      post(`${at.configMaps}?fieldManager=creator`, configMap("a", { x: "1", y: "1" })),
      patch("apply", `${at.configMaps}/a?fieldManager=applier`, configMap("a", { x: "2" })),
      patch("apply", `${at.configMaps}/a?fieldManager=applier&force=true`, configMap("a", { x: "2" })),
      patch("merge", `${at.configMaps}/a?fieldManager=patcher`, { data: { x: "3" } }),
      patch("apply", `${at.configMaps}/a?fieldManager=applier`, configMap("a", { x: "2", z: "1" })),
      patch("json", `${at.configMaps}/a`, [
        { op: "test", path: "/metadata/name", value: "a" },
        { op: "replace", path: "/metadata/managedFields", value: [{}] },
      ]),
      patch("apply", `${at.configMaps}/a?fieldManager=applier`, configMap("a", { x: "2", z: "1" })),
    ],
  },
];
