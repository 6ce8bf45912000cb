import type { Sending } from "../../servers.ts";
import type { Sequence } from "../sequence.ts";
import { at, deployment, get, patch, post, put, widget } from "./requests.ts";

const scaleOf = (fields: object, metadata: object = {}) => ({
  apiVersion: "autoscaling/v1",
  kind: "Scale",
  metadata: { name: "s", namespace: "{ns}", ...metadata },
  ...fields,
});

/** Replicas change hands between those who write the object and those who write its Scale. */
function scaled(path: string, make: (replicas: number) => object): Sending[] {
  const one = `${path}/s`;
  const scale = `${one}/scale`;
  const seen = get(one);
  const applied = (replicas: number) => scaleOf({ spec: { replicas } });
  return [
    post(`${path}?fieldManager=m1`, make(1)),
    get(scale),
    patch("merge", `${scale}?fieldManager=m2`, { spec: { replicas: 3 } }),
    seen,
    patch("merge", `${scale}?fieldManager=m2`, { spec: { replicas: 3 } }),
    patch("merge", `${scale}?fieldManager=m3`, { spec: { replicas: 4 } }),
    seen,
    patch("merge", `${one}?fieldManager=m4`, { spec: { replicas: 5 }, metadata: { labels: { l: "1" } } }),
    patch("apply", `${scale}?fieldManager=m5`, applied(5)),
    seen,
    patch("apply", `${scale}?fieldManager=m6`, applied(6)),
    patch("apply", `${scale}?fieldManager=m6&force=true`, applied(6)),
    seen,
    patch("apply", `${scale}?fieldManager=m6`, scaleOf({ spec: {} })),
    seen,
    patch("apply", `${scale}?fieldManager=m8`, {
      ...applied(6),
      metadata: { name: "s", labels: { l: "1" } },
    }),
    seen,
    patch("apply", `${scale}`, applied(7)),
    patch("apply", `${scale}?fieldManager=m6`, { ...applied(7), apiVersion: "apps/v1" }),
    patch("apply", `${scale}?fieldManager=m6`, scaleOf({ spec: { replicas: "x" } })),
    patch("apply", `${scale}?fieldManager=m6`, scaleOf({ spec: { bogus: 1 } })),
    patch("apply", `${scale}?fieldManager=m6&force=true`, { ...applied(7), metadata: { name: "other" } }),
    put(`${scale}?fieldManager=m7`, applied(8)),
    seen,
    put(`${scale}?fieldManager=m7`, scaleOf({ spec: { replicas: 9 } }, { resourceVersion: "{rv s}" })),
    put(`${scale}?fieldManager=m7`, scaleOf({ spec: { replicas: 9 } }, { resourceVersion: "{oldrv s}" })),
    put(`${scale}?fieldManager=m7`, scaleOf({ spec: { replicas: 9 } }, { uid: "other" })),
    put(`${scale}?fieldManager=m7`, scaleOf({ spec: { replicas: 9 } }, { name: "other" })),
    put(`${scale}?fieldManager=m7`, scaleOf({ spec: { replicas: 9 } }, { namespace: "other" })),
    put(`${scale}?fieldManager=m7`, { spec: { replicas: 10 } }),
    put(`${scale}?fieldManager=m7`, { ...scaleOf({ spec: { replicas: 11 } }), kind: "Other" }),
    put(`${scale}?fieldManager=m7`, { ...scaleOf({ spec: { replicas: 11 } }), apiVersion: "apps/v1" }),
    put(`${scale}?fieldManager=m7`, scaleOf({ spec: { replicas: -1 } })),
    put(`${scale}?fieldManager=m7`, scaleOf({ spec: { replicas: "x" } })),
    put(`${scale}?fieldManager=m7`, scaleOf({ spec: { replicas: 3, bogus: 1 } })),
    put(`${scale}?fieldManager=m7&fieldValidation=Strict`, scaleOf({ spec: { replicas: 3, bogus: 1 } })),
    put(`${scale}?fieldManager=m7`, scaleOf({ spec: {} })),
    put(`${scale}?dryRun=All`, applied(2)),
    put(`${scale}?fieldManager=m7`, "{x"),
    put(`${path}/none/scale`, scaleOf({ spec: { replicas: 1 } }, { name: "none" })),
    patch("merge", `${path}/none/scale`, { spec: { replicas: 1 } }),
    patch(
      "apply",
      `${path}/none/scale?fieldManager=m1`,
      scaleOf({ spec: { replicas: 1 } }, { name: "none" }),
    ),
    patch("merge", scale, { spec: { replicas: "x" } }),
    patch("merge", scale, { spec: "x" }),
    patch("merge", scale, { spec: { bogus: 1 } }),
    patch("merge", `${scale}?fieldValidation=Strict`, { spec: { bogus: 1 } }),
    patch("merge", scale, { metadata: { labels: { l: "2" }, name: "other" } }),
    patch("merge", scale, { metadata: { labels: { l: "2" } } }),
    patch("merge", scale, { metadata: { resourceVersion: "{oldrv s}" }, spec: { replicas: 4 } }),
    patch("merge", scale, { status: { replicas: 4 } }),
    patch("merge", scale, { kind: "Other" }),
    patch("json", scale, [{ op: "remove", path: "/spec/replicas" }]),
    patch("json", scale, [{ op: "test", path: "/spec/replicas", value: 99 }]),
    patch("json", scale, [{ op: "add", path: "/spec/replicas", value: 5 }]),
    patch("strategic", scale, { spec: { replicas: 6 } }),
    post(scale, applied(1)),
    { method: "DELETE", path: scale },
    seen,
  ];
}

export const scales: readonly Sequence[] = [
  {
    name: "scaling a built-in kind",
    steps: scaled(at.deployments, (replicas) => deployment("s", { replicas })),
  },
  { name: "scaling a custom kind", steps: scaled(at.widgets, (replicas) => widget("s", { replicas })) },
];
