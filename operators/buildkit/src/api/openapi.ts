import { z } from "zod";
import type { Route } from "./route.ts";
import { problemResponse } from "./shapes.ts";

type Json = Readonly<Record<string, unknown>>;

/** The OpenAPI document of some routes. Made from what they are served and validated by. */
export function openApiDocument(routes: readonly Route[], version: string): Json {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(route) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "BuildKit allocation API",
      version,
      description: "Workers of BuildKit pools, and the certificates to reach them with.",
    },
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description:
            "A token of a configured OpenID Connect issuer, or of a ServiceAccount with our audience",
        },
        certificate: { type: "mutualTLS", description: "A certificate of POST /api/v1/certs/request" },
      },
      schemas: { Problem: schemaOf(problemResponse) },
    },
  };
}

function operationOf(route: Route): Json {
  const { summary, path, answers } = route;
  const { query, body } = route.access === "anyone" ? {} : route;
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: "path",
      required: true,
      schema: { type: "string" },
    })),
    ...(query ? queryParameters(query) : []),
  ];
  return {
    summary,
    security: route.access === "anyone" ? [] : [{ bearer: [] }, { certificate: [] }],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body
      ? {
          requestBody: {
            required: true,
            content: { "application/json": { schema: schemaOf(body, "input") } },
          },
        }
      : {}),
    responses: Object.fromEntries(
      Object.entries(answers).map(([status, { description, schema }]) => [
        status,
        {
          description,
          content: schema
            ? {
                "application/json": {
                  schema: schema === problemResponse ? problemReference : schemaOf(schema),
                },
              }
            : { "text/plain": { schema: { type: "string" } } },
        },
      ]),
    ),
  };
}

const problemReference = { $ref: "#/components/schemas/Problem" };

function queryParameters(query: z.ZodObject): readonly Json[] {
  const { properties = {}, required = [] } = z.toJSONSchema(query, { io: "input" });
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
}

function schemaOf(schema: z.ZodType, io: "input" | "output" = "output"): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io });
  return rest;
}
